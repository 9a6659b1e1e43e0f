"""A training that goes on from a checkpoint, and its data begin anew."""

import time

import pytest
import torch
from comparisons import library  # noqa: F401
from daemons import wait_for
from torch import nn

import nanwatch
import nanwatch.torch

STEPS = 12


def attempt(daemon, run, begins, data_at):
    """Twelve steps from `begins` on; the first batch is number `data_at`."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = nanwatch.torch.watch(model, optimizer, run=run, level="compare",
                                 address=daemon.address)
    data = torch.randn(100, 6, 8, generator=torch.Generator().manual_seed(2))
    for i in range(STEPS):
        optimizer.zero_grad()
        loss = model(data[data_at + i]).square().mean()
        loss.backward()
        optimizer.step()
        watch.step(loss, step=begins + i)
    assert watch.run.flush(timeout=10.0)
    return watch


@pytest.mark.parametrize("data_at", [0, 8])
def test_it_is_a_warning(daemon, name, data_at):
    attempt(daemon, name, 0, 0).close(timeout=10.0)
    watch = attempt(daemon, name, 8, data_at)

    def rules():
        return [one["rule"] for one in daemon.show(name)["incidents"]]

    if data_at == 0:
        wait_for("a finding", rules)
    else:
        time.sleep(2)  # a second of the daemon judges it
    assert rules() == (["data_from_start"] if data_at == 0 else [])
    watch.close(timeout=10.0)
