"""A bit of a weight flips in fp32, without a scaler: it is finite still, and all
that is made with it is too, or is not, a step later."""

import pytest
import torch
from models import Training
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout

FAULT = 40
LOOK = 32  # steps, from one look at all weights to the next


@pytest.fixture(params=["default", "layers", "ops"])
def level(request):
    return request.param


def flip(training, weight, at=5):
    bits = training.model.get_parameter(weight).detach().view(-1)
    bits.view(torch.int32)[at] ^= 1 << 30


@pytest.mark.parametrize("kind, weight", [
    ("pictures", "features.2.weight"),
    ("pictures", "classifier.weight"),
    ("text", "blocks.0.fc1.weight"),
])
@pytest.mark.parametrize("clip", [None, 1.0], ids=["plain", "clipped"])
@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
def test_it_is_named_alone(
        daemon, name, level, kind, weight, clip, optimizer):
    it = verdict_on(daemon, name, level, kind, weight, clip, optimizer)
    assert FAULT <= it.step <= FAULT + LOOK, it


class Event:
    def query(self):
        return True

    def synchronize(self):
        pass


@pytest.mark.parametrize("kind, weight", [
    ("pictures", "features.2.weight"), ("text", "blocks.0.fc1.weight")])
def test_on_a_device(daemon, name, level, kind, weight, monkeypatch):
    """Where the first update that it spoils is over before anybody knows. (The
    CPU's tensors are treated like a device's.)"""
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(
        readout, "_copy", lambda flat: (flat.clone(), Event()))
    it = verdict_on(daemon, name, level, kind, weight, None, "AdamW")
    assert it.step == FAULT, it


def verdict_on(daemon, name, level, kind, weight, clip, optimizer):
    training = Training(kind, dtype=torch.float32, scaler=None, clip=clip)
    if optimizer == "SGD":
        training.optimizer = torch.optim.SGD(
            training.model.parameters(), lr=0.01, momentum=0.9)
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, None, run=name, level=level,
        address=daemon.address)
    for number in range(FAULT + LOOK + 8):
        if number == FAULT:
            flip(training, weight)
        watch.step(training.step())
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "silent_corruption", it
    assert it.origin["op"] == weight, it
    return it
