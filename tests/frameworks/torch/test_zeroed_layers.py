"""A layer that gets no gradient any more: all that leads to the loss by way of
it alone gets none either, and what it gave to the next layer is 0."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT, STEPS = 60, 90
LAYER = {"enc.3.weight", "enc.3.bias"}


class Lost(torch.autograd.Function):
    """Its gradient leaves the range of fp16."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return (gradient.float() * 2.0**-40).half()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(),
            nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.enc(x))


def changed(layer, change):
    forward = layer.forward
    layer.forward = lambda x: change(forward(x))


def dead(layer):
    with torch.no_grad():
        layer.bias.fill_(-1e3)


FAULTS = {
    "dead": dead,
    "times 0": lambda layer: changed(layer, lambda x: x * 0),
    "underflow": lambda layer: changed(layer, Lost.apply),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("level", ["default", "layers"])
def test_the_layer_where_it_begins_is_named(
        daemon, name, caplog, fault, level):
    torch.manual_seed(1)
    model = Net()
    truth = torch.randn(16, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu")
    watch = nanwatch.torch.watch(
        model, optimizer, scaler, run=name, level=level,
        address=daemon.address)
    for i in range(STEPS):
        if i == FAULT:
            FAULTS[fault](model.enc[3])
        x = torch.randn(64, 16)
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x)
        loss = nn.functional.cross_entropy(out.float(), (x @ truth).argmax(1))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    said = [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
    assert len(said) == 1, said
    assert "gradient of enc.3.bias, enc.3.weight, enc.1.bias" in said[0], said
    it = Verdict(daemon, name)
    assert it.cause == "underflow" and it.step == FAULT, it
    assert it.origin["op"] in LAYER, it
    assert "A layer gets no gradient any more" in " ".join(
        daemon.nanwatch("diagnose", name).stdout.split()), it
