"""Two healthy runs of 10,000 steps, of which 400 ops are recorded as level
"compare" does it: what the comparison of both costs beside reading them.

    $(tests/frameworks/environment torch) tests/bench/compared_runs.py

Closes with `N passed, N failed`. To read a run is to compare it with one that
has no step of it."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import daemons  # noqa: E402

import nanwatch  # noqa: E402
from nanwatch import _ops  # noqa: E402

STEPS, OPS = 10_000, 400
TIMES, MEGABYTES = 3, 200  # at most
FIRST, EVERY = 3, 64  # the steps that are recorded: _compared_steps.py
ROUNDING = 1e-7  # so that a comparison walks through all tensors
PASSES = [("Linear", ("input", "output")),
          ("LinearBackward", ("grad_output", "grad_input"))]


def record(address, name, seed, steps):
    """Each op is given a tensor and makes one, forward and backward."""
    common, own = random.Random(1), random.Random(2 + seed)
    run = nanwatch.init(run=name, address=address)
    ops, slots = [], []
    for kind, of in PASSES:
        forward = kind == "Linear"
        for op in range(OPS) if forward else reversed(range(OPS)):
            number = run.register_op(
                f"layers.{op}.up", type=kind, dtype="fp32", shape=(64, 1024),
                order=op if forward else 2 * OPS - op)
            ops += [number] * len(of)
            slots += [_ops.SLOTS[slot] for slot in of]
    rows = len(ops)
    for step in steps:
        if step < FIRST or step % EVERY == 0:
            run.take_table(_ops.Table(rows, {
                "step": [step] * rows, "time": [time.time()] * rows,
                "op": ops, "slot": slots, "elements": [65536] * rows,
                "digest": [own.getrandbits(63) for _ in ops],
                "sketch": [tuple(common.uniform(-1, 1) +
                                 ROUNDING * own.uniform(-1, 1)
                                 for _ in range(_ops.SKETCH_SUMS))
                           for _ in ops],
                "sketch_nan": [0] * rows, "sketch_inf": [0] * rows,
                "request": [0] * rows}))
            while run.stats.acked < run.stats.pushed:
                time.sleep(0.001)  # a training is slower
        run.step(step, loss=2 + 0.1 * common.random(), lr=1e-3)
    if not run.close(timeout=120) or run.stats.dropped:
        raise RuntimeError(f"{name}: {run.stats}")


def histories(program, address, folder):
    """Those of two runs, and one that has no step of theirs."""
    paths = []
    for seed, name in enumerate(("a", "b", "other")):
        steps = range(STEPS) if name != "other" else [10 * STEPS]
        record(address, name, seed, steps)
        paths.append(f"{folder}/{name}.db")
        subprocess.run([program, "--address", address, "export", name, "-o",
                        paths[-1]], check=True, stdout=subprocess.DEVNULL)
    return paths


def cost(program, a, b, status):
    """(CPU-seconds, MB) of comparing two, the least of three."""
    seconds, memory = float("inf"), 0
    for _ in range(3):
        process = subprocess.Popen([program, "compare", a, b],
                                   stdout=subprocess.DEVNULL)
        _, ended, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        if process.returncode != status:
            raise RuntimeError(f"compare {a} {b}: {process.returncode}")
        seconds = min(seconds, used.ru_utime + used.ru_stime)
        memory = max(memory, used.ru_maxrss / 1024)
    return seconds, memory


def main():
    program = str(daemons.BIN / "nanwatch")
    with tempfile.TemporaryDirectory(prefix="nwb-") as folder:
        daemon = daemons.Daemon(folder).start()
        try:
            a, b, other = histories(program, daemon.address, folder)
        finally:
            daemon.kill()
        read = sum(cost(program, one, other, 3)[0] for one in (a, b))
        compared, memory = cost(program, a, b, 0)
    fine = [compared <= TIMES * read, memory <= MEGABYTES]
    print(f"compared in {compared:.2f} s of a core, both read in {read:.2f} s: "
          f"{compared / read:.1f} times, wanted {TIMES} at most")
    print(f"memory {memory:.0f} MB, wanted {MEGABYTES} at most")
    print(f"{fine.count(True)} passed, {fine.count(False)} failed")
    return 1 if False in fine else 0


if __name__ == "__main__":
    sys.exit(main())
