"""A gradient of NaN behind a finite loss: what lies between two modules has an
infinite slope where it is 0."""

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
