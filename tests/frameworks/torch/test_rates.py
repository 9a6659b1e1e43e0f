"""Schedules that run out: an update whose rate moves no weight is none, and is
said from the first such step on. Schedules that end near 0 are healthy."""

import pytest
import torch
from made_wrong import batches, net, right
from torch.optim import lr_scheduler
from verdicts import Verdict

import nanwatch

STEPS = 200


def train(daemon, name, kind, schedule):
    model = net()
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-2)
    scheduler = schedule(optimizer)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(STEPS)):
            loss = (model(x) - y).square().mean()
            right(model, optimizer, loss, i)
            watch.step(loss)
            scheduler.step()
        assert watch.flush(20)
    return Verdict(daemon, name)


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("factor,step", [(0.1, 8), (0.5, 24), (0.8, 75)])
def test_a_schedule_of_epochs_that_each_batch_steps(
        daemon, name, kind, factor, step):
    it = train(daemon, name, kind,
               lambda o: lr_scheduler.StepLR(o, 1, gamma=factor))
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "moves no weight" in it.headline, it
    assert it.step == step, it


HEALTHY = {
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS, 1e-8),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, 1e-2, STEPS + 1),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.95),
    "plateaus": lambda o: lr_scheduler.MultiStepLR(o, [60, 100, 140], 0.1),
    "last steps": lambda o: lr_scheduler.LambdaLR(
        o, lambda i: 1.0 if i < 170 else 1e-12),
}


@pytest.mark.parametrize("schedule", HEALTHY.values(), ids=HEALTHY)
@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_schedules_that_end_near_0(daemon, name, kind, schedule):
    assert train(daemon, name, kind, schedule).worst == ""
