"""TRL's trainers are Trainers: supervised fine-tuning and DPO, each with a GPT-2
of a few thousand weights."""

import warnings

import datasets
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer
from verdicts import Verdict

import nanwatch

WORDS = ["<pad>", "<eos>", *"zero one two three four five six seven".split()]


def tokenizer():
    made = Tokenizer(WordLevel({w: i for i, w in enumerate(WORDS)}, "<pad>"))
    made.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>",
        unk_token="<pad>")


def gpt2():
    torch.manual_seed(1)
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=1, eos_token_id=1, pad_token_id=0))


def counted(begin, steps=6):
    return " ".join(WORDS[2 + (begin + i) % 8] for i in range(steps))


def arguments(kind, folder, **more):
    return kind(
        output_dir=str(folder), max_steps=20, report_to=[], use_cpu=True,
        per_device_train_batch_size=4, learning_rate=1e-3, bf16=False,
        save_strategy="no", logging_strategy="no", disable_tqdm=True,
        dataloader_pin_memory=False, max_length=16, **more)


def train(daemon, name, make):
    callback = nanwatch.transformers.Callback(run=name, address=daemon.address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(callback).train()
    assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 20, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["grad_norm"] > 0 and 0 < values["learning_rate"] <= 1e-3, it
    return values


def test_supervised_fine_tuning(daemon, name, tmp_path):
    data = datasets.Dataset.from_dict(
        {"text": [counted(i) for i in range(200)]})
    values = train(daemon, name, lambda callback: SFTTrainer(
        model=gpt2(), args=arguments(SFTConfig, tmp_path), train_dataset=data,
        processing_class=tokenizer(), callbacks=[callback]))
    assert 0 < values["loss"] < 4.0


def test_preferences(daemon, name, tmp_path):
    """Its loss is none of the model's own: it is the one that the Trainer's
    compute_loss gives."""
    data = datasets.Dataset.from_dict({
        "prompt": [counted(i, 2) + " " for i in range(200)],
        "chosen": [counted(i + 2, 3) for i in range(200)],
        "rejected": [counted(i + 5, 3) for i in range(200)]})
    values = train(daemon, name, lambda callback: DPOTrainer(
        model=gpt2(), ref_model=gpt2(), args=arguments(DPOConfig, tmp_path),
        train_dataset=data, processing_class=tokenizer(),
        callbacks=[callback]))
    # Between two answers of which it prefers neither: log 2.
    assert 0.5 < values["loss"] < 0.8
