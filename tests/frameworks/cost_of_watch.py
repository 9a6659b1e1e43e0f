"""Prints what a watch costs a PyTorch step, on and off in turns, of one process:
cost_of_watch.py [PAIRS [TEXTS [LENGTH [BLOCK [LEVEL...]]]]], by the Python of
`tests/frameworks/environment torch`. A step is of so many texts of so many
characters (12 of 64: some 65 ms on one core). Levels: default, layers, ops, and
default with a daemon that hangs or died since the first steps, or never was;
"nothing" watches neither, and shows what a machine makes of that. Nothing is
asserted: another machine, or a busy one, has other figures.

A turn is a block of so many steps. In blocks of one, a step on, a step off, what
changes slowly falls out of neighbours: a machine that others share changes its
speed within a second. But the sender's thread works by the clock, in steps on and
off alike, so what it costs falls out, too; its CPU time is told apart, for a step
that is watched. In longer blocks it counts as well: those steps do not that begin
while the sender may still be at the block before.

Of two trainings, one is watched. Two that are alike are not equally fast, for
where their memory came to lie: by 1 % and more, for as long as they live. So the
halves of a round change roles, each round has two of its own, and what is said is
the mean of the halves.

Of each two blocks the logarithm of their ratio counts: the mean of the ratios
themselves is above 1 where nothing is slower, by the square of their scatter
(10 % of scatter are 1 % of a cost that is none).

Wall is what a training feels, on a quiet machine; CPU can be told on a busy one,
too, and in longer blocks has that of all threads."""

import contextlib
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
from nanwatch._torch import clipping, parts  # noqa: E402

WARM = 16  # pairs of steps: connected, all names are known
SETTLED = 0.3  # s, after which the sender is through with what was before
ROUNDS = 4  # of two halves
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


@contextlib.contextmanager
def deaf(watch):
    """To what it hears of each model in the process, as it is where no model
    of it is watched."""
    if watch is None:
        yield
        return
    clipping.forget(watch._before_clipping)
    parts.forget(watch._parts)
    try:
        yield
    finally:
        clipping.listen(watch._before_clipping)
        parts.listen(watch._parts)


def memory():
    """MiB of the process."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def interval(halves):
    """Of logarithms of ratios, a list for each half: what it costs in the middle,
    and the upper end of its 95 % interval, by bootstrap within each half; in
    percent."""
    draw = random.Random(1)

    def mean(of):
        return statistics.fmean(map(statistics.fmean, of))

    means = sorted(
        mean([draw.choices(half, k=len(half)) for half in halves])
        for _ in range(2000))
    return (100 * math.expm1(mean(halves)), 100 * math.expm1(means[1950]))


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


class Half:
    """What was measured of one training that is watched, and one that is not."""

    def __init__(self, watched, alone, watch, pairs, block, trouble):
        self.plain, self.host = [], []  # s: a step alone, watch.step
        self.wall, self.cpu = [], []  # logarithms of ratios
        warm = math.ceil(WARM / block)
        begun = time.process_time() - time.thread_time()
        for pair in range(pairs + warm):
            if pair == warm:
                trouble()
            if pair == warm + pairs // 2:
                before = memory()
            times = {}
            for on in ((True, False) if pair % 2 else (False, True)):
                if on:
                    times[on] = turn(watched, watch, block)
                else:
                    with deaf(watch):
                        times[on] = turn(alone, None, block)
            if pair >= warm:
                self._count(times[True], times[False])
        self.grown = memory() - before  # MiB, in its second half
        # CPU-seconds of other threads, for a step that is watched.
        self.others = (time.process_time() - time.thread_time()
                       - begun) / ((pairs + warm) * block)

    def _count(self, on, off):
        self.plain.append(off[0])
        self.host.append(on[2])
        self.wall.append(math.log(on[0] / off[0]))
        self.cpu.append(math.log(on[1] / off[1]))


def watch_of(training, level, block, address):
    if level is None:
        return None
    return nanwatch.torch.watch(
        training.model, training.optimizer, None, run=f"{level}{time.time()}",
        level=level, address=address, budget=budget(block))


def measure(name, level, pairs, texts, length, block, situation):
    """`situation` gives the address to watch with, and what troubles it."""
    halves = []
    for _ in range(ROUNDS):
        pair = [training_of(texts, length) for _ in range(2)]
        for watched, alone in (pair, pair[::-1]):
            with situation() as (address, trouble):
                watch = watch_of(watched, level, block, address)
                halves.append(Half(watched, alone, watch,
                                   math.ceil(pairs / 2 / ROUNDS), block,
                                   trouble))
                if watch is not None:
                    watch.close(1)
    print_row(name, GOALS.get(level, 0), halves)


def print_row(name, goal, halves):
    told = []
    for kind in ("wall", "cpu"):
        mean, upper = interval([getattr(half, kind) for half in halves])
        told.append(f"{kind} {mean:5.2f} % (95 %: below {upper:5.2f} %)")
    plain = statistics.median(t for half in halves for t in half.plain)
    host = [t for half in halves for t in half.host]
    each = " ".join(f"{100 * statistics.fmean(half.wall):.2f}"
                    for half in halves)
    print(f"{name:24} step {1e3 * plain:6.1f} ms   slower by "
          f"{', '.join(told)}; goal {goal} %; wall of the halves {each}   "
          f"watch.step median {1e6 * statistics.median(host):4.0f} us, mean "
          f"{1e6 * statistics.fmean(host):4.0f} us (goal 50)   other threads "
          f"{1e6 * statistics.fmean(h.others for h in halves):4.0f} us of CPU   "
          f"memory {max(h.grown for h in halves):+.1f} MiB in the second part "
          "of a half", flush=True)


@contextlib.contextmanager
def a_daemon(trouble=lambda daemon: None):
    """One of its own, and what happens to it after the first steps."""
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            yield daemon.address, lambda: trouble(daemon)
        finally:
            daemon.kill()


def a_daemon_that_hangs():
    return a_daemon(lambda daemon: daemon.process.send_signal(signal.SIGSTOP))


def a_daemon_that_dies():
    return a_daemon(lambda daemon: daemon.kill())


@contextlib.contextmanager
def nobody():
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        yield f"unix:{folder}/nobody.sock", lambda: None


# name -> what is said, the level, the daemon.
MEASURED = {
    **{level: (level, level, a_daemon) for level in nanwatch.torch.LEVELS},
    "hung": ("default, daemon hangs", "default", a_daemon_that_hangs),
    "died": ("default, daemon is killed", "default", a_daemon_that_dies),
    "none": ("default, no daemon", "default", nobody),
    "nothing": ("nothing is watched", None, nobody),
}


def main():
    given = [int(a) for a in sys.argv[1:5]]
    size = given + [2000, 12, 64, 1][len(given):]
    pairs, texts, length, block = size
    print(f"torch {torch.__version__}, {pairs} pairs of blocks of {block} "
          f"steps of {texts} texts of {length}, load average "
          f"{os.getloadavg()[0]:.1f}", flush=True)
    for word in sys.argv[5:] or MEASURED:
        name, level, situation = MEASURED[word]
        measure(name, level, *size, situation)


if __name__ == "__main__":
    main()
