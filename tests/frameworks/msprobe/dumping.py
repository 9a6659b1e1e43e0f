"""Dumps that msprobe makes of a small training: dumping.py FOLDER. A folder for
each task, level and fault, in a process of its own: msprobe makes one dump in a
process."""

import os
import pathlib
import sys
import traceback

import numpy
import torch
from msprobe.pytorch import PrecisionDebugger
from torch import nn

STEPS = 2
FAULTS = ("none", "again", "epsilon", "weights", "data", "rate", "backward",
          "nan")
DUMPS = [("statistics", "mix", fault) for fault in FAULTS] + [
    ("statistics", level, fault) for level in ("L0", "L1")
    for fault in ("none", "epsilon")
] + [("tensor", "L0", fault) for fault in ("none", "epsilon")]


class Unseen(torch.autograd.Function):
    """Multiplies, forward and back, by numpy: msprobe does not see it."""

    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.backward = backward
        return torch.from_numpy(x.detach().numpy() * numpy.float32(forward))

    @staticmethod
    def backward(ctx, gradient):
        factor = numpy.float32(ctx.backward)
        return torch.from_numpy(gradient.numpy() * factor), None, None


class Net(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(50, 16)
        self.up = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32, eps=1e-3 if fault == "epsilon" else 1e-5)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        x = nn.functional.gelu(self.up(self.embed(tokens)))
        x = self.norm(x)
        x = Unseen.apply(x, float("nan") if self.fault == "nan" else 1,
                         2 if self.fault == "backward" else 1)
        return self.head(x)


def dump(folder, task, level, fault):
    torch.set_num_threads(1)
    torch.manual_seed(2 if fault == "weights" else 1)
    model = Net(fault)
    optimizer = torch.optim.SGD(model.parameters(),
                                2e-3 if fault == "rate" else 1e-3)
    debugger = PrecisionDebugger(dump_path=str(folder), task=task, level=level,
                                 step=list(range(STEPS)))
    for step in range(STEPS):
        order = torch.Generator().manual_seed(step + 7 * (fault == "data"))
        tokens = torch.randint(0, 50, (4, 8), generator=order)
        debugger.start(model=model)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1),
                                           tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        debugger.stop()
        debugger.step()


def main(root):
    for task, level, fault in DUMPS:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                dump(root / f"{task}-{level}-{fault}", task, level, fault)
                code = 0
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(f"{task} {level} {fault}: no dump")


main(pathlib.Path(sys.argv[1]))
