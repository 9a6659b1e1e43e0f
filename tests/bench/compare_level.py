"""What level "compare" adds to a step of level "default" on a CPU: to one that it
leaves alone, to one whose batch gets a digest, and to one that is looked at; and
the share of the training's time, with these as often as the level chose.

    compare_level.py          # with the C library: NANWATCH_LIBRARY names it

Both trainings run in turns in the same process, so that what else the machine
does meets both. Closes with `N passed, N failed`: a net fails whose share is over
the goal by more than its error."""

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
SECONDS = 25.0  # of each net


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


def error_of(values):
    """Twice that of their median, as of normal numbers."""
    middle = statistics.median(values)
    spread = 1.4826 * statistics.median(abs(v - middle) for v in values)
    return 2 * 1.2533 * spread / len(values) ** 0.5


def measure(name, width, blocks, batch, length):
    plain, _ = training(width, blocks, batch, length, "default")
    looked, watch = training(width, blocks, batch, length, "compare")
    comparing = watch._comparing
    steps = comparing.steps
    usual, bare, digests, looks = [], [], [], []

    def both(into):
        usual.append(plain(0))
        into.append(looked(0) - usual[-1])

    for _ in range(80):
        both([])
    usual.clear()
    begun = time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        comparing._enable()  # oftener than the level does it
        steps.has_batch = True
        both(looks)
        for has_batch in (False, True) * 4:
            comparing._disable()
            steps.has_batch = has_batch
            both(digests if has_batch else bare)
    # As after the next step that is a multiple of it.
    steps.has_next((1 << 20) - 2)
    steps.has_next((1 << 20) - 1)
    base = statistics.median(usual)
    between = statistics.median(bare)
    digest = statistics.median(digests) - between
    look = statistics.median(looks) - between
    every = steps._batches.steps, steps.every
    share = between + digest / every[0] + look / every[1]
    error = error_of(bare) + error_of(digests) / every[0]
    print(
        f"{name:20} {1e3 * base:8.2f} {1e3 * between:8.3f} "
        f"{1e3 * digest:8.3f} {every[0]:6} "
        f"{1e3 * look:8.2f} {every[1]:6} {100 * share / base:8.2f} "
        f"{100 * error / base:6.2f}"
    )
    return (share - error) / base


def main():
    print(
        f"{'net':20} {'default':>8} {'between':>8} {'digest':>8} {'every':>6} "
        f"{'look':>8} {'every':>6} {'all %':>8} {'+/-':>6}   "
        "(milliseconds, medians; from the third on what is added)"
    )
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
