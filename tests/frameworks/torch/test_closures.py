"""An optimizer that gets a closure computes its gradients within its step."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch

STEPS = 20


def told_norms(daemon, name, optimizer_of, clip=None, by_name=False):
    """What the daemon has of each step, and the truth."""
    torch.manual_seed(1)
    model = nn.Linear(4, 1)
    optimizer = optimizer_of(model.parameters())
    true, told = [], []
    watch = nanwatch.torch.watch(model, optimizer, run=name, level="layers",
                                 address=daemon.address)
    tell = watch._teller._tell_step
    watch._teller._tell_step = lambda step, loss, numbers: (
        told.append(numbers["grad_norm"]), tell(step, loss, numbers))
    for i in range(STEPS):
        norms = []

        def closure(i=i, norms=norms):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4) * (100.0 if i == 10 else 1.0)).sum()
            loss.square().backward()
            norms.append(torch.cat(
                [p.grad.flatten() for p in model.parameters()]).norm().item())
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            return loss.square()

        if by_name:
            loss = optimizer.step(closure=closure)
        else:
            loss = optimizer.step(closure)
        true.append(norms[0])
        watch.step(loss)
    assert watch.close(10) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).steps == STEPS
    return told, true


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("clip", [None, 0.5])
def test_gradients_are_those_of_the_step(daemon, name, clip, by_name):
    told, true = told_norms(
        daemon, name, lambda p: torch.optim.SGD(p, lr=1e-7), clip, by_name)
    assert told == pytest.approx(true, rel=1e-5)


def test_one_that_calls_it_often(daemon, name):
    """Those of its first call."""
    told, true = told_norms(
        daemon, name, lambda p: torch.optim.LBFGS(p, lr=1e-3, max_iter=4))
    assert told == pytest.approx(true, rel=1e-5)


def test_what_a_closure_raises_arrives(daemon, name):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def closure():
        raise KeyError("of the program")

    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address):
        with pytest.raises(KeyError, match="of the program"):
            optimizer.step(closure)
