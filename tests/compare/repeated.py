"""A program that `nanwatch repeat` runs: repeated.py KIND. `add` is the same
each time; the others are not."""

import os
import random
import sys

import torch
from torch import nn

import nanwatch
import nanwatch.torch

ROWS, WIDTH, PLACES = 1_000_000, 1, 1000


class Scatter(nn.Module):
    """Adds rows up by their places."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.register_buffer("places", torch.randint(0, PLACES, (ROWS,)))

    def forward(self, x):
        sums = x.new_zeros(PLACES, WIDTH)
        if self.kind == "put":
            return sums.index_put((self.places,), x, accumulate=True)
        return sums.index_add(0, self.places, x)


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.fc = nn.Linear(WIDTH, WIDTH)
        self.scatter = Scatter(kind)
        self.drop = nn.Dropout(0.1 if kind == "dropout" else 0.0)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.head(self.drop(self.scatter(self.fc(x))))


def main(kind):
    torch.set_num_threads(2)
    torch.manual_seed(1)
    model = Net(kind)
    if kind == "compiled":
        model.scatter = torch.compile(model.scatter)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    watch = nanwatch.torch.watch(model, optimizer)
    batches = [torch.randn(ROWS, WIDTH) for _ in range(4)]
    if kind == "dropout":
        torch.seed()
    if kind == "loader":  # as where workers race
        random.Random(os.urandom(8)).shuffle(batches)
    for batch in batches[:3]:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    assert watch.close(timeout=20.0)


main(*sys.argv[1:])
