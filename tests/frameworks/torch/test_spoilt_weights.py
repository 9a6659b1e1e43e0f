"""Without a loss scaler an update that is made of NaN is applied, and makes all
weights NaN: none of them is where it began."""

import copy
import math

import pytest
import torch
from models import Training
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT = 40
WEIGHT = "features.2.weight"


@pytest.fixture(params=["default", "layers", "ops"])
def level(request):
    return request.param


@pytest.fixture(params=[None, 1.0], ids=["plain", "clipped"])
def training(request):
    return Training("pictures", dtype=torch.bfloat16, scaler=None,
                    clip=request.param)


def watched(training, daemon, name, level):
    return nanwatch.torch.watch(
        training.model, training.optimizer, None, run=name, level=level,
        address=daemon.address)


def train(training, watch, steps):
    for _ in range(steps):
        watch.step(training.step())


def verdict(daemon, watch, name):
    assert watch.close(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def break_weight(training):
    with torch.no_grad():
        training.model.get_parameter(WEIGHT).view(-1)[5] = math.nan


def test_no_weight_is_accused_of_a_batch(daemon, name, level, training):
    training.before_forward = (
        lambda x: x * math.nan if training.number == FAULT else x)
    watch = watched(training, daemon, name, level)
    train(training, watch, FAULT + 40)
    it = verdict(daemon, watch, name)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.step == FAULT, it
    batch = {"features.0"} if level == "ops" else set()
    assert {op for op, _ in it.bad_ops()} == batch, it
    assert it.origin.get("op") in (batch or {None, ""}), it


def test_a_weight_is_known_before_it_spoils_the_others(
        daemon, name, level, training):
    watch = watched(training, daemon, name, level)
    train(training, watch, FAULT)
    break_weight(training)
    train(training, watch, 40)
    it = verdict(daemon, watch, name)
    assert it.worst == "critical" and it.step == FAULT, it
    assert it.bad_ops()[(WEIGHT, "parameter")] == FAULT, it
    weights = [op for op, slot in it.bad_ops() if slot == "parameter"]
    assert weights == [WEIGHT], it
    assert it.origin["op"] in (WEIGHT, "features.2"), it


def test_weights_that_come_back_are_looked_at_again(daemon, name, training):
    watch = watched(training, daemon, name, "default")
    train(training, watch, FAULT)
    kept = copy.deepcopy(
        [training.model.state_dict(), training.optimizer.state_dict()])
    training.before_forward = lambda x: x * math.nan
    train(training, watch, 5)
    training.before_forward = lambda x: x
    training.model.load_state_dict(kept[0])
    training.optimizer.load_state_dict(kept[1])
    train(training, watch, 20)
    break_weight(training)
    train(training, watch, 10)
    it = verdict(daemon, watch, name)
    assert it.bad_ops() == {(WEIGHT, "parameter"): FAULT + 25}, it


def test_gradients_that_name_it_are_told_with_what_they_spoil(
        daemon, name, training):
    """The loss is finite: whose gradient was the first is known."""

    def spoil(_):
        if training.number == FAULT:
            training.model.get_parameter(WEIGHT).grad.view(-1)[7] = math.nan

    training.before_update = spoil
    watch = watched(training, daemon, name, "default")
    train(training, watch, FAULT + 20)
    it = verdict(daemon, watch, name)
    assert it.bad_ops()[(WEIGHT, "grad_input")] == FAULT, it
    assert it.bad_ops()[(WEIGHT, "parameter")] == FAULT + 1, it
    assert it.origin["op"] == WEIGHT, it


def test_no_weight_is_accused_where_all_gradients_are_bad(
        daemon, name, training):
    """As on a rank that gets the mean with another one's NaN."""

    def spoil(_):
        if training.number == FAULT:
            for parameter in training.model.parameters():
                parameter.grad.mul_(math.nan)

    training.before_update = spoil
    watch = watched(training, daemon, name, "default")
    train(training, watch, FAULT + 10)
    it = verdict(daemon, watch, name)
    assert {slot for _, slot in it.bad_ops()} == {"grad_input"}, it
    assert set(it.bad_ops().values()) == {FAULT}, it


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 16)
        self.one, self.two = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.trunk(x))
        return self.one(x), self.two(x)


@pytest.mark.parametrize("parts, bad", [
    (["two"], {"two.weight", "two.bias", "trunk.weight", "trunk.bias"}),
    (["one", "two"], set()),  # all of them: that says nothing
])
def test_gradients_lead_to_a_part_of_the_loss(daemon, name, parts, bad):
    """Which are not finite, where some are; and none of them is accused."""
    torch.manual_seed(1)
    model = TwoHeads()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(model, optimizer, run=name,
                                 address=daemon.address)
    for i in range(FAULT + 10):
        losses = dict(zip(("one", "two"), model(torch.randn(16, 8))))
        for part in parts if i == FAULT else ():
            losses[part] = torch.sqrt(losses[part] - 100.0)
        loss = sum(part.square().mean() for part in losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    it = verdict(daemon, watch, name)
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert not it.origin.get("op"), it
    assert it.bad_ops() == {(op, "grad_input"): FAULT for op in bad}, it
