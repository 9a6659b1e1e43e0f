"""Tasks that take turns: each has a loss and gradients of its own level. Called
by their names, each is judged by itself."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch


@pytest.mark.parametrize("phase", [7, 100])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_tasks_that_are_named(daemon, name, phase, scaled, factor):
    """`factor`: of the learning rate at the end, a trouble that is told."""
    torch.manual_seed(1)
    body = nn.Sequential(nn.Linear(16, 64), nn.ReLU())
    classes, value = nn.Linear(64, 4), nn.Linear(64, 1)
    model = nn.ModuleList([body, classes, value])
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler(
        "cpu", init_scale=2.0**10, growth_interval=50, enabled=scaled)
    truth, weights = torch.randn(16, 4), torch.randn(16, 1)
    watch = nanwatch.torch.watch(model, optimizer, scaler if scaled else None,
                                 run=name, address=daemon.address)
    for i in range(600):
        if i == 500:
            optimizer.param_groups[0]["lr"] *= factor
        x = torch.randn(32, 16)
        first = i // phase % 2 == 0
        if first:
            loss = nn.functional.cross_entropy(
                classes(body(x)), (x @ truth).argmax(1))
        else:
            loss = 10 * nn.functional.mse_loss(
                value(body(x)), x @ weights + torch.randn(32, 1))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss, optimizer="classes" if first else "value")
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == ("" if factor == 1 else "critical"), it
