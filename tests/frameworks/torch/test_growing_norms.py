"""Norms of gradients that grow little by little: gradients that nobody clears
do so, and those of many healthy trainings; where it is seen that they are made
anew nobody guesses."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch

STEPS = 700


class Tables(nn.Module):
    """Word vectors: the second table begins at 0, and so do the gradients."""

    def __init__(self, sparse):
        super().__init__()
        torch.manual_seed(1)
        self.one = nn.Embedding(400, 16, sparse=sparse)
        self.two = nn.Embedding(400, 16, sparse=sparse)
        nn.init.uniform_(self.one.weight, -0.03, 0.03)
        nn.init.zeros_(self.two.weight)

    def forward(self, a, b, other):
        v = self.one(a)
        near = nn.functional.logsigmoid((v * self.two(b)).sum(-1))
        far = nn.functional.logsigmoid(-(v * self.two(other)).sum(-1))
        return -(near + far).mean()


def train(daemon, name, kind, clear, scaler=None):
    sparse = kind == "SparseAdam"
    model = Tables(sparse)
    rate = 30.0 if kind == "SGD" else 5e-3
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=rate)
    norms = []
    with nanwatch.torch.watch(model, optimizer, run=name, scaler=scaler,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            a = torch.randint(0, 400, (64,))
            b = (a // 10 * 10 + torch.randint(0, 10, (64,))) % 400
            loss = model(a, b, torch.randint(0, 400, (64,)))
            clear(optimizer, i)
            loss.backward()
            norms.append(sum(float(p.grad.norm()) ** 2
                             for p in model.parameters()) ** 0.5)
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name), norms


@pytest.mark.parametrize("kind", ["Adam", "SparseAdam", "SGD"])
@pytest.mark.parametrize("to_none", [True, False])
def test_of_gradients_that_are_cleared(daemon, name, kind, to_none):
    if kind == "SparseAdam" and not to_none:
        pytest.skip("a sparse gradient is not zeroed in place")
    it, norms = train(daemon, name, kind,
                      lambda o, i: o.zero_grad(set_to_none=to_none))
    assert sum(norms[-50:]) > 10 * sum(norms[:50]), norms[::50]
    assert "little by little" not in it.headline, it
    assert it.worst in ("", "info"), it


def test_of_gradients_that_are_not(daemon, name):
    it, norms = train(daemon, name, "Adam", lambda o, i: None)
    assert it.worst in ("warning", "critical"), it
    assert "not cleared" in it.headline, it


def test_of_parts_that_are_accumulated(daemon, name):
    """Four passes for each update, and cleared after it."""
    model = Tables(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(4 * STEPS):
            a = torch.randint(0, 400, (64,))
            b = (a // 10 * 10 + torch.randint(0, 10, (64,))) % 400
            loss = model(a, b, torch.randint(0, 400, (64,)))
            (loss / 4).backward()
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
            watch.step(loss)
        assert watch.flush(20)
    it = Verdict(daemon, name)
    assert it.worst in ("", "info"), it
