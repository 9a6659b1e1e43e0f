"""Models have hundreds of parameters, whose gradients all overflow while a
scaler finds its scale. What comes later is one trouble, and has a name."""

import math

import pytest
import torch
from models import CharTransformer, Training
from verdicts import Verdict

import nanwatch

FINDS_ITS_SCALE = 2.0**22  # from here, in some steps
FAULT = "blocks.5.fc1.weight"


def deep():
    training = Training("text", init_scale=FINDS_ITS_SCALE)
    torch.manual_seed(1)
    training.model = CharTransformer(blocks=12)
    training.optimizer = torch.optim.AdamW(training.model.parameters())
    assert len(list(training.model.parameters())) > 2 * 64
    return training


def told(training, daemon, name, strike, begin=60, steps=100):
    """What is said of it, and the worst incidents but the first cause's."""
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        address=daemon.address)
    for i in range(steps):
        strike(i - begin)
        watch.step(training.step())
    assert watch.close(20), watch.run.stats
    it = Verdict(daemon, name)
    others = [
        (found["cause"], found["summary"]) for found in it.incidents
        if found["cause"] != it.cause and
        found["severity"] in ("SEVERITY_WARNING", "SEVERITY_CRITICAL")
    ]
    return it, others


def test_a_burst_is_one_trouble(daemon, name):
    training, times = deep(), [1.0]
    forward = training.forward

    def outgrown(*batch):
        loss = forward(*batch)
        loss.register_hook(lambda gradient: gradient * times[0])
        return loss

    def strike(since):
        times[0] = 3e4 if 0 <= since < 6 else 1.0

    training.forward = outgrown
    it, others = told(training, daemon, name, strike)
    assert it.cause == "range_overflow" and not others, it


@pytest.mark.parametrize("where", ["weight", "gradient"])
def test_a_nan_is_named(daemon, name, where):
    training = deep()
    weight = training.model.get_parameter(FAULT)

    def strike(since):
        if since != 0:
            return
        if where == "gradient":
            weight.register_hook(lambda gradient: gradient * math.nan)
        else:
            with torch.no_grad():
                weight[0, 0] = math.nan

    it, others = told(training, daemon, name, strike)
    cause = {"weight": "nan_from_forward", "gradient": "nan_from_backward"}
    assert it.cause == cause[where] and not others, it
    assert it.origin["op"] == FAULT and it.step == 60, it
