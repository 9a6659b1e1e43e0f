"""Prints what a watch costs a PyTorch step, on and off in alternating blocks of
one process: cost_of_watch.py [PAIRS [TEXTS [LENGTH [LEVEL...]]]], by the Python
of `tests/frameworks/environment torch`. A step is of so many texts of so many
characters (32 of 64: some 60 ms on one core). Levels: default, layers, ops, and
default with a daemon that hung, died meanwhile, or never was. Nothing is
asserted: another machine, or a busy one, has other figures.

Wall is what the issue asks for, on a quiet machine; CPU, of the process with its
sender, can be told on a busy one, too."""

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

BLOCK = 2  # steps
WARM = 8  # pairs: connected, all names are known
GOALS = {"default": 0.5, "layers": 1.5, "ops": 4.0}  # %


def block(training, watch):
    """Seconds a step: wall, CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(BLOCK):
        loss = training.step()
        if watch is not None:
            watch.step(loss)
    return ((time.perf_counter() - wall) / BLOCK,
            (time.process_time() - cpu) / BLOCK)


def memory():
    """MiB of the process."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def interval(shares):
    """Mean and the upper end of its 95 % interval, by bootstrap, in percent."""
    draw = random.Random(1)
    means = sorted(
        statistics.fmean(draw.choices(shares, k=len(shares)))
        for _ in range(2000))
    return 100 * statistics.fmean(shares), 100 * means[1950]


def training_of(texts, length):
    training = Training("text", dtype=torch.float32, scaler=None)
    training.model = CharTransformer(width=128, blocks=4, length=length)
    training.batches = Texts(1, texts, length)
    training.optimizer = torch.optim.AdamW(training.model.parameters())
    return training


def measure(name, level, pairs, texts, length, address, midway=lambda: None):
    watched, alone = training_of(texts, length), training_of(texts, length)
    watch = nanwatch.torch.watch(
        watched.model, watched.optimizer, None, run=f"{level}{time.time()}",
        level=level, address=address)
    plain, shares, host = [], ([], []), []
    for pair in range(pairs + WARM):
        if pair == WARM + pairs // 2:
            before = memory()
            midway()
        times = {}
        for on in ((True, False) if pair % 2 else (False, True)):
            times[on] = block(watched if on else alone, watch if on else None)
        if pair >= WARM:
            plain.append(times[False][0])
            for of, on, off in zip(shares, times[True], times[False]):
                of.append(on / off - 1)
            loss = watched.step()
            begun = time.perf_counter()
            watch.step(loss)
            host.append(time.perf_counter() - begun)
    grown = memory() - before
    watch.close(1)
    told = []
    for kind, of in zip(("wall", "CPU"), shares):
        mean, upper = interval(of)
        told.append(f"{kind} {mean:5.2f} % (95 %: below {upper:5.2f} %)")
    print(f"{name:24} step {1e3 * statistics.median(plain):6.1f} ms   slower by "
          f"{', '.join(told)}; goal {GOALS[level]} %   watch.step median "
          f"{1e6 * statistics.median(host):4.0f} us, mean "
          f"{1e6 * statistics.fmean(host):4.0f} us (goal 50)   memory "
          f"{grown:+.1f} MiB in the second half", flush=True)


def main():
    given = [int(a) for a in sys.argv[1:4]]
    pairs, texts, length = given + [400, 32, 64][len(given):]
    levels = sys.argv[4:] or [*nanwatch.torch.LEVELS, "hung", "died", "none"]
    print(f"torch {torch.__version__}, {pairs} pairs of {BLOCK} steps of "
          f"{texts} texts of {length}, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        size = (pairs, texts, length)
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
