"""A program that `nanwatch fusion` runs: fused.py KIND WHAT. KIND `healthy`;
`epsilon`: of what is compiled each layer norm takes another epsilon; `unseeded`:
its dropout draws other numbers each time. WHAT is compiled: `block`, `whole` or
`nothing`; or a net of nets.py as a whole."""

import sys

import nets
import torch
from torch import nn

import nanwatch
import nanwatch.torch


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.act = nn.GELU()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.act(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.inp = nn.Linear(8, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(3)])
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(self.blocks(self.inp(x)))


def take_another_epsilon():
    """As a kernel that somebody wrote for the compiler. What it compiles is kept
    by the code before that: not of these."""
    from torch._inductor import config, decomposition

    config.force_disable_caches = True
    layer_norm = torch.ops.aten.native_layer_norm.default
    right = decomposition.decompositions[layer_norm]

    def wrong(x, shape, weight, bias, eps):
        return right(x, shape, weight, bias, 1e-3)

    decomposition.decompositions[layer_norm] = wrong


def parts(what):
    """A model, what makes a batch for it, and its loss."""
    if what in nets.NETS:
        net = nets.NETS[what]
        generator = torch.Generator().manual_seed(1)
        return net(), lambda: net.data(generator), net.loss
    return (Net(), lambda: (torch.randn(64, 8), None),
            lambda made, _: made.square().mean())


def main(kind, what):
    if kind == "epsilon":
        take_another_epsilon()
    torch.manual_seed(1)
    model, data, loss_of = parts(what)
    if what == "block":
        model.blocks[1] = torch.compile(model.blocks[1])
    elif what != "nothing":
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    watch = nanwatch.torch.watch(model, optimizer)
    for _ in range(3):
        x, y = data()
        if kind == "unseeded":
            torch.seed()
        with torch.autocast("cpu", torch.bfloat16):  # fusion switches it off
            loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    raise SystemExit("it was to end before")


if __name__ == "__main__":
    main(*sys.argv[1:])
