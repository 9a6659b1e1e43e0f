"""What is to be done about a NaN goes by who made it: the data, an op or an
update; and autocast is named where it is used."""

import torch
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT, STEPS = 20, 40


class Root(nn.Module):
    def forward(self, x):
        return torch.sqrt(x)


def train(daemon, name, model, batch, optimizer=None, **how):
    """`batch` gives that of a step; the loss is the mean of its square."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address, budget=1e9,
                              **how) as watch:
        for i in range(STEPS):
            loss = model(batch(i)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward", it
    return it, str(it.causes[0]["actions"])


def net(last=None):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 8), last or nn.ReLU())


def test_data_that_bring_it_in(daemon, name):
    def batch(i):
        return torch.randn(16, 8) * (float("nan") if i == FAULT else 1.0)

    it, cures = train(daemon, name, net(), batch, level="ops")
    assert "The data bring in NaN" in it.headline, it
    assert "Look at the data of that step" in cures, cures
    assert "Clamp" not in cures and "autocast" not in cures, cures


def test_an_op_in_fp32(daemon, name):
    class OfOne(nn.Module):
        """Below 0 at one step."""

        def forward(self, x):
            return x.abs() + 1 - 1e3 * (x.abs().max() > 50)

    model = nn.Sequential(OfOne(), nn.Linear(8, 8), Root())
    with torch.no_grad():
        model[1].weight.copy_(torch.eye(8))
        model[1].bias.fill_(1.0)
    it, cures = train(
        daemon, name, model,
        lambda i: torch.randn(16, 8).clamp(-3, 3)
        + (100.0 if i == FAULT else 0.0), level="ops")
    assert "is born in Root" in it.headline, it
    assert "Clamp the op's input" in cures, cures
    assert "autocast" not in cures, cures


def test_an_update_that_writes_it(daemon, name):
    """A step of 0 / 0 where no gradient ever came."""
    model = net()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, eps=0.0)

    def batch(i):
        x = torch.randn(16, 8)
        x[:, 0] = 0.0
        return x

    it, cures = train(daemon, name, model, batch, optimizer, level="ops")
    assert "the last update wrote it" in it.headline, it
    assert "optimizer state" in cures, cures
    assert "Clamp" not in cures and "log or sqrt" not in cures, cures
