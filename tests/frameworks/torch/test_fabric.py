"""Lightning's Fabric leaves the loop to its user: the two lines of PyTorch."""

import math

import lightning
import pytest
import torch
from lightning.fabric.plugins import MixedPrecision
from torch import nn
from verdicts import Verdict

import nanwatch


def train(daemon, name, steps, strike=None, precision="bf16-mixed", **watched):
    torch.manual_seed(1)
    scaler = None
    if precision == "16-mixed":  # on a CPU it is to be given its scaler
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
        fabric = lightning.Fabric(accelerator="cpu", plugins=[
            MixedPrecision("16-mixed", "cpu", scaler)])
    else:
        fabric = lightning.Fabric(accelerator="cpu", precision=precision)
    fabric.launch()
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    model, optimizer = fabric.setup(
        net, torch.optim.AdamW(net.parameters(), lr=1e-2))
    with nanwatch.torch.watch(model, optimizer, scaler, run=name, budget=1e9,
                              address=daemon.address, **watched) as watch:
        for i in range(steps):
            x = torch.randn(4, 8)
            if strike is not None and i >= strike:
                x[0, 0] = math.nan
            optimizer.zero_grad()
            loss = model(x).float().square().mean()
            fabric.backward(loss)
            if scaler is not None:
                fabric.clip_gradients(model, optimizer, max_norm=1.0,
                                      error_if_nonfinite=False)
            optimizer.step()
            watch.step(loss)
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


@pytest.mark.parametrize("precision", ["bf16-mixed", "16-mixed"])
def test_fabric(daemon, name, precision):
    it = train(daemon, name, 40, precision=precision)
    assert it.worst == "" and it.steps == 40, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["grad_norm"] > 0, it
    assert ("loss_scale" in values) == (precision == "16-mixed"), it


@pytest.mark.parametrize("precision", ["bf16-mixed", "16-mixed"])
def test_where_a_nan_is_born(daemon, name, precision):
    it = train(daemon, name, 40, 20, precision, level="ops")
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "0" and it.step == 20, it
