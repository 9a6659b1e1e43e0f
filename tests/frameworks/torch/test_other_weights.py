"""The optimizer holds other weights than the model that is trained: the graph of
the loss says so, or weights that stay while their copies move."""

import pytest
import torch
from made_wrong import batches, net, right
from torch import nn
from verdicts import Verdict

import nanwatch

SAYS = "The optimizer holds other weights than the model that is trained"


def train(daemon, name, model, optimizer, loop, steps=200):
    """`loop` is given a batch and the number of the step; returns the loss."""
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(steps)):
            watch.step(loop(x, y, i))
        assert watch.flush(20)
    return Verdict(daemon, name)


def is_said(it):
    assert it.worst == "warning" and SAYS in it.headline, it
    assert it.causes[0]["actions"], it


def test_a_model_that_was_made_anew(daemon, name, device):
    """After watch, as where a cell of a notebook runs again."""
    model, other = net(), net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def loop(x, y, i):
        loss = (other(x) - y).square().mean()
        right(other, optimizer, loss, i)
        return loss

    it = train(daemon, name, model, optimizer, loop)
    is_said(it)
    assert it.step == 0, it


def test_a_loss_that_is_cut_off_is_none_of_another_model(daemon, name):
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def loop(x, y, i):
        x = x.clone().requires_grad_(True)  # what an attack works on
        loss = (x.sum(1, keepdim=True) - y).square().mean()
        right(model, optimizer, loss, i)
        return loss

    it = train(daemon, name, model, optimizer, loop)
    assert "no backward() made any" in it.headline, it


def masters(kind, comes_back):
    """A model in bf16 whose optimizer has copies in fp32."""
    model = net(32).to(torch.bfloat16)
    copies = [p.detach().float().requires_grad_() for p in model.parameters()]
    optimizer = getattr(torch.optim, kind)(copies, lr=1e-2)

    def loop(x, y, i):
        loss = (model(x.bfloat16()).float() - y).square().mean()
        model.zero_grad()
        loss.backward()
        for copy, p in zip(copies, model.parameters()):
            copy.grad = p.grad.float()
        optimizer.step()
        with torch.no_grad():
            for copy, p in zip(copies, model.parameters()):
                if comes_back(i):
                    p.copy_(copy)
        return loss

    return model, optimizer, loop


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_masters_that_nobody_copies_back(daemon, name, kind, device):
    is_said(train(daemon, name, *masters(kind, lambda i: False)))


@pytest.mark.parametrize("every", [1, 8])
@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_masters_that_come_back(daemon, name, kind, every):
    it = train(daemon, name, *masters(kind, lambda i: i % every == every - 1))
    assert it.cause != "update_made_wrong", it


def test_masters_that_move_by_less_than_the_model_can_hold(daemon, name):
    """As in a long warm-up: the model stays as it is, and rightly so."""
    model, optimizer, loop = masters("SGD", lambda i: True)
    optimizer.param_groups[0]["lr"] = 1e-9
    it = train(daemon, name, model, optimizer, loop)
    assert it.cause != "update_made_wrong", it


def test_a_model_that_another_optimizer_updates(daemon, name):
    """And the one that is watched has weights of its own."""
    model, own = net(), nn.Linear(1, 1)
    optimizer = torch.optim.SGD(own.parameters(), lr=1e-2)
    other = torch.optim.SGD(model.parameters(), lr=1e-2)

    def loop(x, y, i):
        loss = (own(model(x)) - y).square().mean()
        other.zero_grad()
        right(own, optimizer, loss, i)
        other.step()
        return loss

    it = train(daemon, name, model, optimizer, loop)
    assert it.cause != "update_made_wrong", it
