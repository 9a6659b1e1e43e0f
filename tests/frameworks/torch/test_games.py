"""Rewards: a loss that rises with what is won is no trouble, and what breaks
such a training is told."""

import games
import pytest
import torch
from verdicts import Verdict

import nanwatch

UPDATES = {games.Dqn: 1000, games.Ppo: 480, games.ActorCritic: 120}
KINDS = pytest.mark.parametrize(
    "kind", UPDATES, ids=lambda kind: kind.__name__)


def train(daemon, name, kind, seed=0, factor=1.0, from_update=0):
    """`factor`: of the learning rate, from an update on."""
    torch.manual_seed(seed)
    training = kind()
    with nanwatch.torch.watch(training.model, training.optimizer, run=name,
                              address=daemon.address,
                              settings={"trains_on": "rewards"}) as watch:
        for i in range(UPDATES[kind]):
            if i == from_update:
                training.optimizer.param_groups[0]["lr"] *= factor
            watch.step(training.step())
    assert watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


@KINDS
def test_what_is_healthy(daemon, name, kind):
    it = train(daemon, name, kind)
    assert it.worst in ("", "info"), it


@KINDS
def test_a_rate_that_becomes_far_too_high(daemon, name, kind):
    at = UPDATES[kind] // 2
    it = train(daemon, name, kind, factor=1000.0, from_update=at)
    assert it.worst in ("warning", "critical"), it
    assert at <= it.step <= at + 20, it
