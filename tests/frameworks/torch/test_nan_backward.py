"""A gradient of NaN behind a finite loss: what lies between two modules has an
infinite slope where it is 0."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT, STEPS = 60, 80


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(16, 32)
        self.two = nn.Linear(32, 32)
        self.three = nn.Linear(32, 4)
        self.vanishes = False

    def forward(self, x):
        x = torch.tanh(self.two(torch.tanh(self.one(x))))
        return self.three(torch.sqrt(x * 0) if self.vanishes else x)


def test_the_parameter_that_the_backward_pass_reaches_first(daemon, name):
    """Whatever the order of the optimizer's groups is."""
    torch.manual_seed(1)
    model, truth = Net(), torch.randn(16, 4)
    named = dict(model.named_parameters())
    optimizer = torch.optim.AdamW([
        {"params": [p for n, p in named.items() if n.endswith("bias")],
         "weight_decay": 0.0},
        {"params": [p for n, p in named.items() if n.endswith("weight")]}],
        lr=3e-3)
    with nanwatch.torch.watch(
            model, optimizer, run=name, address=daemon.address) as watch:
        for i in range(STEPS):
            model.vanishes = i == FAULT
            x = torch.randn(64, 16)
            loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "nan_from_backward", it
    assert it.step == FAULT and it.origin["op"] == "two.bias", it
    assert "two.bias comes last in the model" in it.causes[0][
        "sentence"], it
    said = daemon.nanwatch("diagnose", name).stdout
    assert "NaN from backward" in said, said


class Critic:
    """Updates twice in each step, then its generator once. The penalty on its
    slope has a root, whose own slope is infinite where that is 0."""

    def __init__(self):
        torch.manual_seed(2)
        self.model = nn.ModuleDict({
            "g": nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)),
            "d": nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 1))})
        self.optimizers = {
            name: torch.optim.RMSprop(part.parameters(), lr=1e-3)
            for name, part in self.model.items()}

    def update(self, name, loss):
        self.optimizers[name].zero_grad()
        loss.backward()
        self.optimizers[name].step()
        return loss.detach()

    def of_critic(self, vanishes, lost):
        d = self.model["d"]
        fake = self.model["g"](torch.randn(48, 4)).detach()
        real = torch.randn(48, 2) + 1
        x = ((real + fake) / 2).requires_grad_(True)
        slope, = torch.autograd.grad(d(x).sum(), x, create_graph=True)
        if vanishes:
            slope = slope * torch.cat([torch.zeros(1, 1), torch.ones(47, 1)])
        norm = slope.square().sum(1).sqrt()
        loss = d(fake).mean() - d(real).mean() + 10 * (norm - 1).square().mean()
        return self.update("d", loss * float("nan") if lost else loss)

    def of_generator(self):
        fake = self.model["g"](torch.randn(48, 4))
        return self.update("g", -self.model["d"](fake).mean())

    def train(self, daemon, name, level, vanishes=-1, lost=-1):
        """`vanishes` in the first update of that step, or its loss is
        `lost`."""
        with nanwatch.torch.watch(self.model, self.optimizers, run=name,
                                  level=level,
                                  address=daemon.address) as watch:
            for i in range(STEPS):
                self.of_critic(i == vanishes, i == lost)
                loss = self.of_critic(False, False)
                watch.step(loss + self.of_generator())
            assert watch.flush(20) and watch.run.stats.bad_input == 0
        return Verdict(daemon, name)


@pytest.mark.parametrize("level", ["default", "ops"])
def test_the_first_of_several_updates_in_a_step(daemon, name, level, device):
    """What the later ones of that step show is its doing."""
    it = Critic().train(daemon, name, level, vanishes=FAULT)
    assert it.worst == "critical" and it.cause == "nan_from_backward", it
    assert it.step == FAULT and it.origin["op"].startswith("d."), it
    assert "The loss of that update is finite" in it.headline, it
    assert "resume from" in str(it.causes[0]["actions"]), it
    assert "autocast" not in str(it.causes[0]["actions"]), it
    assert [c["cause"] for c in it.causes] == ["nan_from_backward"], it


def test_the_loss_of_the_first_of_several_updates(daemon, name, device):
    it = Critic().train(daemon, name, "default", lost=FAULT)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.step == FAULT, it


def test_several_updates_that_are_right(daemon, name, device):
    it = Critic().train(daemon, name, "ops")
    assert it.worst in ("", "info"), it
