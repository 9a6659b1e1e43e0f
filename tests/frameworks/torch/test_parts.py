"""Gradients of several losses in one step: the program tells one of them, and
another one was not finite."""

import math

import pytest
import torch
from models import Training
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT = 40
PARTS = 4


class Accumulating(Training):
    """A step of `PARTS` batches. The loss that it returns is the last one's."""

    bad = None  # the part that is NaN, at the step FAULT

    def step(self):
        self.optimizer.zero_grad()
        scale = (lambda x: x) if self.scaler is None else self.scaler.scale
        for part in range(PARTS):
            x, y = self.batches()
            if self.number == FAULT and part == self.bad:
                x = x * math.nan
            loss = self.forward(x, y)
            scale(loss / PARTS).backward()
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.number += 1
        return loss


PRECISIONS = {
    "fp16": {},
    "bf16": {"dtype": torch.bfloat16, "scaler": None},
}


@pytest.fixture(params=PRECISIONS)
def training(request):
    return Accumulating("pictures", **PRECISIONS[request.param])


def train(training, watch, steps=FAULT + 10):
    for _ in range(steps):
        watch.step(training.step())


def watched(training, daemon, name, level="default"):
    return nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        level=level, address=daemon.address)


def test_parts_that_are_well(daemon, name, training):
    watch = watched(training, daemon, name)
    train(training, watch)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == FAULT + 10, it


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("bad", [0, 2])
def test_one_that_is_not(daemon, name, training, bad, level):
    training.bad = bad
    watch = watched(training, daemon, name, level)
    train(training, watch)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    shown = daemon.nanwatch("diagnose", name).stdout
    assert "The loss was not finite 1 time" in " ".join(shown.split()) or (
        training.scaler is None), shown
    part = f"loss, part {bad + 1} of {PARTS}"
    assert it.origin["op"] in (
        ({part} if level == "default" else {part, "features.0"})), it


def test_losses_of_another_model_are_none_of_it(daemon, name):
    """Without a scaler each backward pass is seen."""
    training = Training("pictures", dtype=torch.bfloat16, scaler=None)
    other = nn.Linear(4, 1)
    watch = watched(training, daemon, name)
    for i in range(20):
        loss = training.step()
        (other(torch.full((2, 4), math.nan)).sum()).backward()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "", it


def test_backward_with_arguments(daemon, name):
    """All that torch takes, and what it gives back."""
    training = Training("pictures", dtype=torch.bfloat16, scaler=None)
    watch = watched(training, daemon, name)
    x = torch.randn(3, requires_grad=True)
    (2 * x).backward(torch.ones(3), retain_graph=True)
    y = (x * x).sum()
    torch.autograd.backward(tensors=y, grad_tensors=torch.tensor(2.0))
    torch.autograd.backward([(3 * x).sum(), x.sum()], inputs=[x])
    assert torch.equal(x.grad, 2 + 4 * x.detach() + 4)
    with pytest.raises(RuntimeError):
        torch.autograd.backward(torch.ones(2))
    watch.close(5)
