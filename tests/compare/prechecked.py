"""A program that `nanwatch precheck` starts: prechecked.py KIND."""

import sys

import torch
from torch import nn

import nanwatch.torch


def main(kind):
    if kind != "no_seed":
        torch.manual_seed(3)
    model = nn.Linear(4, 4)
    torch.use_deterministic_algorithms(kind not in ("no_seed", "fp16"))
    if kind == "fp16":
        model.half()
    optimizer = torch.optim.AdamW(model.parameters(),
                                  2e-3 if kind == "rate" else 1e-3)
    mode = {"overflow_mode": "saturation"} if kind == "saturates" else {}
    nanwatch.torch.watch(model, optimizer, **mode)
    raise SystemExit("it was to end before")


main(*sys.argv[1:])
