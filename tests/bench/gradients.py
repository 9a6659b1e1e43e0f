"""What 150 gradients add to a rank's memory: ranks of a run that report them
every fourth step, beside as many that report none."""

import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "client_lib" / "python" / "src"))

import nanwatch  # noqa: E402

RANKS = 400
STEPS = 40
GRADIENTS = 150


def train(address, gradients):
    """Returns the runs, all of whose records are acknowledged."""
    random = numpy.random.default_rng(0)
    runs = [nanwatch.init(address=address, run="gradients", rank=rank,
                          world_size=RANKS) for rank in range(RANKS)]
    ops = [[run.register_op(f"transformer.h.{i // 12}.{i % 12}.weight",
                            dtype="bf16", shape=[768, 768])
            for i in range(gradients)] for run in runs]
    for step in range(STEPS):
        for run, its in zip(runs, ops):
            if its and step % 4 == 0:
                run.ops({"op": its, "step": [step] * gradients,
                         "slot": ["grad_output"] * gradients,
                         "nan": [0] * gradients,
                         "abs_max": random.random(gradients),
                         "rms": 0.1 * random.random(gradients)})
            run.step(step, 2 + random.random(), 1024.0,
                     grad_norm=1 + random.random())
    for run in runs:
        if not run.flush(60) or run.stats.bad_input:
            raise RuntimeError(f"rank {run.rank}: {run.stats}")
    return runs
