"""The training of docs/ACCURACY_TUNING.md, which is healthy; or with the one
fault that FAULT names."""

import os

import fused
import torch
from torch import nn

import nanwatch
import nanwatch.torch

FAULT = os.environ.get("FAULT", "")
STEPS = 40


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(8, 32)
        self.block = fused.Block(32)
        self.log = Log()
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.log(self.block(self.inp(x))))


class Log(nn.Module):
    def forward(self, x):
        if FAULT == "nan":
            return torch.log(-x.abs())
        return torch.log(x.abs() + (0.1 if FAULT == "log" else 1e-3))


def main():
    if FAULT == "epsilon":
        fused.take_another_epsilon()
    torch.manual_seed(1)
    model = Net()
    if FAULT == "epsilon":
        model.block = torch.compile(model.block)
    optimizer = torch.optim.AdamW(model.parameters(),
                                  1e-2 if FAULT == "rate" else 1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, level="ops" if FAULT == "nan" else "compare")
    for _ in range(STEPS):
        x = torch.randn(64, 8)
        if FAULT == "dropout":
            torch.seed()
        loss = (model(x) - x[:, :4]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    watch.close()


main()
