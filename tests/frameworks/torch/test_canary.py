"""One rank's batch, computed anew by both, over gloo."""

import sys

from daemons import ROOT
from verdicts import Verdict

EVERY = 5  # as canary_rank.py has it

sys.path.insert(0, str(ROOT / "tests" / "accuracy"))

from trials import play_ranks  # noqa: E402


def train(daemon, name, fault):
    play_ranks(daemon, name, fault, program="canary_rank.py")
    return Verdict(daemon, name), Verdict(daemon, name + "-canary")


def test_equal_devices_get_equal_bits(daemon, name):
    it, canary = train(daemon, name, "none")
    assert it.worst == "" and it.steps == 200, it
    assert canary.worst == "" and canary.steps == 2 * 100 / EVERY, canary


def test_a_device_that_computes_otherwise(daemon, name):
    """Its gradients go into both replicas, which stay equal."""
    it, canary = train(daemon, name, "device")
    assert it.cause != "rank_disagreement", it
    assert canary.worst == "critical", canary
    assert canary.cause == "rank_disagreement", canary
    assert 50 - EVERY < canary.step <= 50 + EVERY, canary


def test_what_does_not_repeat_is_not_compared(daemon, name):
    it, canary = train(daemon, name, "not repeated")
    assert it.worst == "", it
    assert canary.worst == "" and canary.steps == 0, canary
