"""A classifier that only guesses: nothing in its batches says its labels."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from verdicts import Verdict

import nanwatch

CLASSES = 10
STEPS = 260


def train(daemon, name, learns, loss=F.cross_entropy):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    rule = torch.randn(20, CLASSES)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(STEPS):
            batch = torch.randn(64, 20)
            labels = (batch @ rule).argmax(1)
            if not learns:
                labels = torch.randint(0, CLASSES, (64,))
            optimizer.zero_grad()
            step = loss(model(batch), labels)
            step.backward()
            optimizer.step()
            watch.step(step)
    assert watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def squares(outputs, labels):
    """Another loss, of the same outputs."""
    return F.mse_loss(outputs, F.one_hot(labels, CLASSES).float())


def test_what_guesses_is_told(daemon, name):
    it = train(daemon, name, learns=False)
    assert it.info["settings"]["last_layer"] == str(CLASSES)
    assert it.worst == "warning", it
    assert it.incidents[0]["rule"] == "loss_not_decreasing", it


@pytest.mark.parametrize("loss, learns", [
    (F.cross_entropy, True), (squares, True), (squares, False)])
def test_what_learns_or_has_another_loss_is_not(daemon, name, loss, learns):
    it = train(daemon, name, learns, loss)
    assert it.worst in ("", "info"), it
