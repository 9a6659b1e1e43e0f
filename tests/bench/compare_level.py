"""What level "compare" costs a training on a CPU: seconds of a step that is not
looked at, of one that is, and the share at the interval that the level chose.

    compare_level.py          # with the C library: NANWATCH_LIBRARY names it

Both trainings run in turns in the same process, so that what else the machine
does meets both. Closes with `N passed, N failed`: the share is the median of
the seconds that looks took over those of all steps."""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).resolve().parents[2] / "client_lib/python/src"))

import torch  # noqa: E402

import nanwatch  # noqa: E402
import nanwatch.torch  # noqa: E402,F401

GOAL = 0.01  # of the time of a training
TURNS = 12


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(
            width, 4, batch_first=True)
        self.norm2 = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.act = torch.nn.GELU()
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(torch.nn.Module):
    def __init__(self, width, blocks, words=512):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.blocks = torch.nn.Sequential(
            *[Block(width) for _ in range(blocks)])
        self.head = torch.nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.words(x)))


def training(width, blocks, batch, length, level):
    torch.manual_seed(0)
    model = Transformer(width, blocks)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, level=level, run="bench",
        address="unix:/nowhere/at/all")
    data = torch.randint(0, 512, (64, batch, length + 1))

    def step(i):
        begun = time.perf_counter()
        words = data[i % 64]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        watch.step(loss)
        return time.perf_counter() - begun

    return step, watch


def measure(name, width, blocks, batch, length):
    plain, _ = training(width, blocks, batch, length, "default")
    looked, watch = training(width, blocks, batch, length, "compare")
    comparing = watch._comparing
    without, quiet, looks = [], [], []
    for i in range(40):
        without.append(plain(i))
        (looks if comparing.on else quiet).append(looked(i))
    for i in range(TURNS):  # a look each other step, beside one that is none
        comparing._enable()
        looks.append(looked(0))
        comparing._disable()
        without.append(plain(0))
        quiet.append(looked(1))
    # As after the next step that is a multiple of it.
    while not comparing.steps.has(comparing.steps.every):
        pass
    every = comparing.steps.every
    base = statistics.median(without)
    usual = statistics.median(quiet)
    look = statistics.median(looks[3:])
    share = ((look - usual) / every + usual - base) / base
    own = (look - usual) / every / base  # the rest is a step's own digest
    print(f"{name:28} {1e3 * base:9.2f} {1e3 * usual:9.2f} {1e3 * look:9.2f} "
          f"{every:6} {100 * own:8.2f} {100 * share:8.2f}")
    return own


def main():
    print(f"{'net':28} {'default':>9} {'between':>9} {'look':>9} {'every':>6} "
          f"{'looks %':>8} {'all %':>8}   (milliseconds, medians)")
    shares = [
        measure("width 32, 2 blocks", 32, 2, 4, 16),
        measure("width 128, 4 blocks", 128, 4, 8, 64),
        measure("width 256, 6 blocks", 256, 6, 8, 128),
    ]
    failed = sum(share > GOAL for share in shares)
    print(f"{len(shares) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
