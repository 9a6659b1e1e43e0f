"""Two ranks over gloo."""

import os
import pathlib
import subprocess
import sys

import pytest
from daemons import ALL, ROOT, SOURCE
from verdicts import Verdict

sys.path.insert(0, str(ROOT / "tests" / "accuracy"))

from trials import play_ranks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}


def train(daemon, name, *more):
    play_ranks(daemon, name, *more)
    return Verdict(daemon, name)


def test_two_healthy_ranks(daemon, name):
    it = train(daemon, name, "none", "layers")
    assert it.worst == "" and it.steps == 200, it
    assert it.summary["world_size"] == 2


@pytest.mark.parametrize("what,level", [
    ("unfreezing", "ops"), ("freezing", "default")])
def test_parameters_that_come_and_go(daemon, name, what, level):
    """Ranks tell of them in an order of their own, and later."""
    it = train(daemon, name, what, level, "ddp", "text")
    assert it.worst == "" and it.steps == 200, it


@pytest.mark.skipif(not ALL, reason="long; under NANWATCH_TEST_ALL=1")
def test_two_ranks_of_torchrun(daemon, name):
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node=2", HERE / "ddp.py", daemon.address, name, "none",
         "layers"],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 200, it


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
    assert 50 <= it.step <= 55, it
    # Another scale spoils all weights alike.
    wanted = {"drift": "classifier.weight", "own scaler": ""}
    assert it.origin.get("op", "") == wanted[fault], it


def test_one_rank_has_a_rate_of_its_own(daemon, name):
    it = train(daemon, name, "own rate")
    assert it.worst == "critical" and it.cause == "rank_disagreement", it
    assert "The learning rates of ranks part" in it.headline, it
    assert 50 <= it.step <= 55, it


def test_biases_that_a_reduction_by_hand_forgets(daemon, name):
    """Nobody says that the ranks exchange nothing."""
    it = train(daemon, name, "biases forgotten", "default", "declared")
    assert it.worst == "critical" and it.cause == "rank_disagreement", it
    assert "or not all of them" in it.headline, it


@pytest.mark.parametrize("fault,wrapping", [
    ("no sync", "ddp"), ("none", "declared")])
def test_replicas_that_never_exchange_gradients(daemon, name, fault, wrapping):
    it = train(daemon, name, fault, "default", wrapping)
    assert it.worst == "critical" and it.cause == "rank_disagreement", it
    assert "do not exchange gradients" in it.headline, it
    # Nothing holds the ranks together: one may train alone for some steps.
    assert it.step <= 40, it
    assert any("no_sync" in a["sentence"] for a in it.causes[0]["actions"]), it


def test_parts_that_exchange_no_gradients(daemon, name):
    it = train(daemon, name, "accumulates")
    assert it.worst == "" and it.steps == 200, it


def test_ranks_that_nobody_declared_to_be_replicas(daemon, name):
    it = train(daemon, name, "none", "default", "none")
    assert it.worst == "info" and it.cause == "rank_disagreement", it
    assert "do not exchange gradients" in it.headline, it


@pytest.mark.parametrize("wrapping", ["none", "declared"])
def test_gradients_that_are_averaged_by_hand(daemon, name, wrapping):
    it = train(daemon, name, "by hand", "default", wrapping)
    assert it.worst == "" and it.steps == 200, it


@pytest.mark.parametrize("size", ["0.002", "0.05"])
def test_a_layer_norm_that_drifts_has_its_name(daemon, name, size):
    """Of a model whose weights have their turn each fourth step."""
    it = train(daemon, name, "drift", "default", "ddp", "text", size, "2")
    assert it.worst == "critical" and it.cause == "rank_disagreement", it
    assert it.origin["op"] == "norm.weight" and 50 <= it.step <= 53, it


@pytest.mark.skipif(not ALL, reason="long; under NANWATCH_TEST_ALL=1")
@pytest.mark.parametrize("wrapping", ["fsdp", "fully_shard"])
def test_sharded_models(daemon, name, wrapping):
    it = train(daemon, name, "none", "ops", wrapping)
    assert it.worst == "" and it.steps == 200, it
    it = train(daemon, name + "-nan", "nan", "ops", wrapping)
    assert it.cause == "nan_from_forward" and it.step == 50, it
    assert it.origin["op"] == "features.2" and it.origin["rank"] == 1, it
