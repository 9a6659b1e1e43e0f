"""Prints what a watch costs a PyTorch step, on and off in turns, of one process:
cost_of_watch.py [PAIRS [TEXTS [LENGTH [BLOCK [LEVEL...]]]]], by the Python of
`tests/frameworks/environment torch`. A step is of so many texts of so many
characters (8 of 64: some 60 ms on one core). Levels: default, layers, ops, and
default with a daemon that hung, died meanwhile, or never was. Nothing is
asserted: another machine, or a busy one, has other figures.

A turn is a block of so many steps. In blocks of one, a step on, a step off, what
changes slowly falls out of neighbours: a machine that others share changes its
speed within a second. But the sender's thread works by the clock, in steps on and
off alike, so what it costs falls out, too; its CPU time is told apart, for a step
that is watched. In longer blocks it counts as well: those steps do not that begin
while the sender may still be at the block before.

Of each two blocks the logarithm of their ratio counts: the mean of the ratios
themselves is above 1 where nothing is slower, by the square of their scatter
(10 % of scatter are 1 % of a cost that is none).

Wall is what a training feels, on a quiet machine; CPU can be told on a busy one,
too, and in longer blocks has that of all threads."""

import inspect
import math
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE / "torch")]

import torch  # noqa: E402
from daemons import Daemon  # noqa: E402
from models import CharTransformer, Texts, Training  # noqa: E402

import nanwatch  # noqa: E402

WARM = 16  # pairs of steps: connected, all names are known
SETTLED = 0.3  # s, after which the sender is through with what was before
GOALS = {"default": 0.5, "layers": 1.5, "ops": 4.0}  # %


def one(training, watch):
    """Seconds of a step: wall, CPU, and of watch.step."""
    wall, cpu = time.perf_counter(), time.process_time()
    loss = training.step()
    host = time.perf_counter()
    if watch is not None:
        watch.step(loss)
    end = time.perf_counter()
    return end - wall, time.process_time() - cpu, end - host


def turn(training, watch, steps):
    """Means of those of a block that count."""
    begun, counted = time.perf_counter(), []
    while len(counted) < steps:
        counts = steps == 1 or time.perf_counter() - begun >= SETTLED
        took = one(training, watch)
        if counts:
            counted.append(took)
    return [statistics.fmean(column) for column in zip(*counted)]


def memory():
    """MiB of the process."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def interval(logs):
    """Of logarithms of ratios: what it costs in the middle, and the upper end
    of its 95 % interval, by bootstrap; in percent."""
    draw = random.Random(1)
    means = sorted(
        statistics.fmean(draw.choices(logs, k=len(logs)))
        for _ in range(2000))
    return (100 * math.expm1(statistics.fmean(logs)),
            100 * math.expm1(means[1950]))


def training_of(texts, length):
    training = Training("text", dtype=torch.float32, scaler=None)
    training.model = CharTransformer(width=128, blocks=4, length=length)
    training.batches = Texts(1, texts, length)
    training.optimizer = torch.optim.AdamW(training.model.parameters())
    return training


def budget(block):
    """The usual one, of a step. From one watched step to the next, of which
    it is a share, there are two where each other one is not watched."""
    usual = inspect.signature(nanwatch.torch.watch).parameters["budget"].default
    return usual / 2 if block == 1 else usual


def measure(name, level, pairs, texts, length, block, address,
            midway=lambda: None):
    watched, alone = training_of(texts, length), training_of(texts, length)
    watch = nanwatch.torch.watch(
        watched.model, watched.optimizer, None, run=f"{level}{time.time()}",
        level=level, address=address, budget=budget(block))
    plain, logs, host = [], ([], []), []
    others = time.process_time() - time.thread_time()
    warm = math.ceil(WARM / block)
    for pair in range(pairs + warm):
        if pair == warm + pairs // 2:
            before = memory()
            midway()
        times = {}
        for on in ((True, False) if pair % 2 else (False, True)):
            times[on] = turn(watched if on else alone, watch if on else None,
                             block)
        if pair < warm:
            continue
        plain.append(times[False][0])
        host.append(times[True][2])
        for of, on, off in zip(logs, times[True], times[False]):
            of.append(math.log(on / off))
    others = time.process_time() - time.thread_time() - others
    grown = memory() - before
    watch.close(1)
    told = []
    for kind, of in zip(("wall", "CPU"), logs):
        mean, upper = interval(of)
        told.append(f"{kind} {mean:5.2f} % (95 %: below {upper:5.2f} %)")
    print(f"{name:24} step {1e3 * statistics.median(plain):6.1f} ms   slower by "
          f"{', '.join(told)}; goal {GOALS[level]} %   watch.step median "
          f"{1e6 * statistics.median(host):4.0f} us, mean "
          f"{1e6 * statistics.fmean(host):4.0f} us (goal 50)   other threads "
          f"{1e6 * others / watched.number:4.0f} us of CPU   memory "
          f"{grown:+.1f} MiB in the second half", flush=True)


def main():
    given = [int(a) for a in sys.argv[1:5]]
    pairs, texts, length, block = given + [4000, 8, 64, 1][len(given):]
    levels = sys.argv[5:] or [*nanwatch.torch.LEVELS, "hung", "died", "none"]
    print(f"torch {torch.__version__}, {pairs} pairs of blocks of "
          f"{block} steps of {texts} texts of {length}, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        size = (pairs, texts, length, block)
        try:
            for level in nanwatch.torch.LEVELS:
                if level in levels:
                    measure(level, level, *size, daemon.address)
            if "hung" in levels:
                measure("default, daemon hangs", "default", *size,
                        daemon.address,
                        lambda: daemon.process.send_signal(signal.SIGSTOP))
                daemon.process.send_signal(signal.SIGCONT)
            if "died" in levels:
                measure("default, daemon is killed", "default", *size,
                        daemon.address, daemon.kill)
            if "none" in levels:
                measure("default, no daemon", "default", *size,
                        f"unix:{folder}/nobody.sock")
        finally:
            daemon.kill()


if __name__ == "__main__":
    main()
