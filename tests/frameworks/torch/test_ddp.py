"""Two ranks over gloo, as torchrun starts them."""

import os
import pathlib
import subprocess
import sys

import pytest
from daemons import SOURCE
from verdicts import Verdict

HERE = pathlib.Path(__file__).resolve().parent


def train(daemon, name, *more):
    """The verdict on a training that torchrun started, or its like."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE),
                   "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node=2", HERE / "ddp.py", daemon.address, name, *more],
        env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return Verdict(daemon, name)


def test_two_healthy_ranks(daemon, name):
    it = train(daemon, name, "none", "layers")
    assert it.worst == "" and it.steps == 200, it
    assert it.summary["world_size"] == 2


def test_one_rank_makes_a_nan(daemon, name):
    """The gradients of both are NaN; the loss and the modules of one."""
    it = train(daemon, name, "nan", "ops")
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "features.2" and it.origin["rank"] == 1, it
    assert it.step == 50, it


@pytest.mark.parametrize("fault", ["drift", "own scaler"])
def test_one_rank_is_not_as_the_other(daemon, name, fault):
    it = train(daemon, name, fault)
    assert it.worst == "critical" and it.cause == "rank_disagreement", it
