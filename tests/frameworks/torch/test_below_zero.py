"""A cross-entropy below 0, and losses that may be."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from verdicts import Verdict

import nanwatch

CLASSES = 10
STEPS = 300


def smoothed(outputs, labels):
    return F.cross_entropy(outputs, labels, label_smoothing=0.1)


def without_log(outputs, labels):
    """nll_loss wants log_softmax."""
    return F.nll_loss(F.softmax(outputs, 1), labels)


def bare(outputs, labels):
    return F.nll_loss(outputs, labels)


def shares_below_0(outputs, labels):
    targets = F.one_hot(labels, CLASSES) * 2.0 - 0.2
    return F.binary_cross_entropy_with_logits(outputs, targets)


def density(outputs, labels):
    """Of what is known but for a little."""
    spread = F.softplus(outputs[:, 1]) + 1e-3
    return F.gaussian_nll_loss(outputs[:, 0], labels * 0.0, spread)


def negated(outputs, labels):
    return -F.cross_entropy(outputs, labels) / 2


def bounded(outputs, labels):
    """Never far below 0: its course says nothing."""
    return -F.cross_entropy(F.normalize(outputs, dim=1), labels)


def train(daemon, name, loss, says):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    rule = torch.randn(20, CLASSES)
    settings = {"loss": "cross_entropy"} if says else {}
    with nanwatch.torch.watch(model, optimizer, run=name, settings=settings,
                              address=daemon.address) as watch:
        for _ in range(STEPS):
            batch = torch.randn(64, 20)
            labels = (batch @ rule).argmax(1)
            optimizer.zero_grad()
            step = loss(model(batch), labels)
            step.backward()
            optimizer.step()
            watch.step(step)
    assert watch.run.stats.bad_input == 0
    return Verdict(daemon, name), step.item()


@pytest.mark.parametrize("loss", [without_log, bare, shares_below_0])
def test_a_cross_entropy_below_0_is_told(daemon, name, loss):
    it, last = train(daemon, name, loss, says=True)
    assert last < 0
    assert it.worst == "warning" and it.cause == "loss_made_wrong", it


@pytest.mark.parametrize("loss", [negated, bounded])
def test_the_negative_of_a_cross_entropy_is_told(daemon, name, loss):
    it, last = train(daemon, name, loss, says=False)
    assert last < 0
    assert it.cause == "update_made_wrong", it
    assert "negative of a cross-entropy" in it.headline, it


@pytest.mark.parametrize("loss, says", [
    (F.cross_entropy, True), (smoothed, True), (density, False),
    (without_log, False)])
def test_another_loss_is_not(daemon, name, loss, says):
    it, last = train(daemon, name, loss, says)
    assert (last < 0) == (not says)
    rules = [each["rule"] for each in it.incidents]
    assert "loss_impossible" not in rules, it
