"""A generator of pictures against its critic: each is judged by its own loss."""

import pytest
import torch
from pictures import Dcgan
from verdicts import Verdict

import nanwatch

STEPS = 300


def train(daemon, name, seed=0, spoilt=-1, factor=1.0):
    """`factor`: of both learning rates, from the middle on."""
    torch.manual_seed(seed)
    gan = Dcgan()
    with nanwatch.torch.watch(gan.model, gan.optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            if i == STEPS // 2:
                for optimizer in gan.optimizer.values():
                    optimizer.param_groups[0]["lr"] *= factor
            watch.step(sum(gan.step(spoilt=i == spoilt)))
    assert watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_healthy(daemon, name, seed):
    it = train(daemon, name, seed)
    assert it.worst in ("", "info"), it


def test_a_batch_of_nan(daemon, name):
    it = train(daemon, name, spoilt=120)
    assert it.worst == "critical" and it.step == 120, it


def test_rates_that_are_far_too_high(daemon, name):
    it = train(daemon, name, factor=3000.0)
    assert it.worst in ("warning", "critical"), it
    assert STEPS // 2 <= it.step <= STEPS // 2 + 20, it
