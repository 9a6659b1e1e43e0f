"""A program that `nanwatch repeat` runs: repeated.py KIND. `add` is the same
each time; the others are not."""

import concurrent.futures
import os
import sys
import time

import torch
from torch import nn

import nanwatch
import nanwatch.torch

ROWS, WIDTH, PLACES, BATCHES = 1_000_000, 1, 1000, 6


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


def load(index):
    """A worker's part: whoever is ready first comes first."""
    time.sleep(int.from_bytes(os.urandom(1), "big") / 2560)
    return torch.randn(ROWS, WIDTH,
                       generator=torch.Generator().manual_seed(index))


def batches(kind):
    if kind != "loader":
        yield from map(load, range(BATCHES))
        return
    with concurrent.futures.ThreadPoolExecutor(BATCHES) as pool:
        loading = [pool.submit(load, index) for index in range(BATCHES)]
        for done in concurrent.futures.as_completed(loading):
            yield done.result()


def main(kind):
    torch.set_num_threads(2)
    if kind != "weights":
        torch.manual_seed(1)
    model = Net(kind)
    if kind == "compiled":
        model.scatter = torch.compile(model.scatter)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    watch = nanwatch.torch.watch(model, optimizer)
    if kind == "dropout":
        torch.seed()
    for batch in batches(kind):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    raise SystemExit("it was to end before")


main(*sys.argv[1:])
