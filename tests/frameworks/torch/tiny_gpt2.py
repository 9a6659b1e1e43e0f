"""A small GPT-2 that is made from a config, and a Trainer of it."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


def gpt2():
    torch.manual_seed(1)
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=32, n_positions=16, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0))


class Counting(torch.utils.data.Dataset):
    """Numbers that follow one another."""

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        tokens = (torch.arange(12) + i) % 32
        return {"input_ids": tokens, "labels": tokens}


def trainer(folder, callback, steps, model=None, **more):
    return Trainer(
        model=model or gpt2(), train_dataset=Counting(), callbacks=[callback],
        args=TrainingArguments(
            output_dir=folder, max_steps=steps, report_to=[],
            per_device_train_batch_size=4, save_strategy="no",
            logging_strategy="no", disable_tqdm=True,
            dataloader_pin_memory=False,
            **{"learning_rate": 1e-3, "use_cpu": True, **more}))
