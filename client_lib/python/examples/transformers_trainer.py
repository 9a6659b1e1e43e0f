"""A Hugging Face Trainer with nanwatch: one line is its own."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import nanwatch


class Counting(torch.utils.data.Dataset):
    """Numbers that follow one another."""

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        tokens = (torch.arange(16) + i) % 32
        return {"input_ids": tokens, "labels": tokens}


config = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2
)
Trainer(
    model=GPT2LMHeadModel(config),
    train_dataset=Counting(),
    args=TrainingArguments(max_steps=50, report_to=[], save_strategy="no"),
    callbacks=[
        nanwatch.transformers.Callback(run="trainer-example", stop=True)
    ],
).train()
