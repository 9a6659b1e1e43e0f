"""Prints what a watch costs a PyTorch step, on and off in alternating blocks of
one process: cost_of_watch.py [pairs [width]], by the Python of
`tests/frameworks/environment torch`. Nothing is asserted: another machine, or a
busy one, has other figures."""

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
from models import CharTransformer, Training  # noqa: E402

import nanwatch  # noqa: E402

BLOCK = 4  # steps


def block(training, watch):
    begun = time.process_time()
    for _ in range(BLOCK):
        loss = training.step()
        if watch is not None:
            watch.step(loss)
    return (time.process_time() - begun) / BLOCK


def interval(shares):
    """Mean and the upper end of its 95 % interval, by bootstrap, in percent."""
    draw = random.Random(1)
    means = sorted(
        statistics.fmean(draw.choices(shares, k=len(shares)))
        for _ in range(2000))
    return 100 * statistics.fmean(shares), 100 * means[1950]


def training_of(width):
    training = Training("text", dtype=torch.float32, scaler=None)
    training.model = CharTransformer(width=width, blocks=4)
    training.optimizer = torch.optim.AdamW(training.model.parameters())
    return training


def measure(level, pairs, width, address):
    watched, alone = training_of(width), training_of(width)
    watch = nanwatch.torch.watch(
        watched.model, watched.optimizer, None, run=f"{level}{time.time()}",
        level=level, address=address)
    plain, shares, host = [], [], []
    for pair in range(pairs + 8):
        times = {}
        for on in ((True, False) if pair % 2 else (False, True)):
            times[on] = block(watched if on else alone, watch if on else None)
        if pair >= 8:  # connected, all names are known
            plain.append(times[False])
            shares.append(times[True] / times[False] - 1)
            loss = watched.step()
            begun = time.perf_counter()
            watch.step(loss)
            host.append(time.perf_counter() - begun)
    watch.close(5)
    mean, upper = interval(shares)
    print(f"{level:8} step {1e3 * statistics.median(plain):6.1f} ms   "
          f"slower by {mean:5.2f} % (95 %: below {upper:5.2f} %), "
          f"median {100 * statistics.median(shares):5.2f} %   "
          f"watch.step {1e6 * statistics.median(host):6.0f} us", flush=True)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    width = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    print(f"torch {torch.__version__}, {pairs} pairs of {BLOCK} steps, CPU "
          "time of the process with its sender")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            for level in nanwatch.torch.LEVELS:
                measure(level, pairs, width, daemon.address)
            os.kill(daemon.process.pid, signal.SIGSTOP)
            measure("default", pairs, width, daemon.address)
            os.kill(daemon.process.pid, signal.SIGCONT)
        finally:
            daemon.kill()


main()
