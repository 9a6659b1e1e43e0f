"""TRL's SFTTrainer with nanwatch: one line is its own. The model and its words
are made here; take `AutoModelForCausalLM.from_pretrained` and its tokenizer."""

import datasets
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

import nanwatch

words = ["<pad>", "<eos>", "zero", "one", "two", "three", "four", "five"]
tokenizer = Tokenizer(
    models.WordLevel({w: i for i, w in enumerate(words)}, "<pad>")
)
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
texts = [" ".join(words[2 + (i + j) % 6] for j in range(6)) for i in range(200)]

SFTTrainer(
    model=GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(words),
            n_positions=32,
            n_embd=16,
            n_layer=2,
            n_head=2,
        )
    ),
    args=SFTConfig(
        output_dir="out",
        max_steps=50,
        max_length=16,
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
    ),
    train_dataset=datasets.Dataset.from_dict({"text": texts}),
    processing_class=PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>"
    ),
    callbacks=[nanwatch.transformers.Callback(run="trl-example")],
).train()
