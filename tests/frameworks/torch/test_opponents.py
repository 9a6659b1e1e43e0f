"""A model whose loss goes through weights that others train, for a loss of
their own, and whose optimizer nobody watches."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch.opponents import Opponents


def net(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def ring(n):
    turn = torch.rand(n) * 6.28
    return torch.stack([turn.cos(), turn.sin()], 1) * 2


def game(daemon, name, trains):
    """The generator of a GAN; `trains`: its discriminator, too."""
    torch.manual_seed(2)
    g, d = net(8, 64, 64, 2), net(2, 64, 64, 1)
    og = torch.optim.Adam(g.parameters(), lr=5e-4, betas=(0.5, 0.999))
    od = torch.optim.Adam(d.parameters(), lr=5e-4, betas=(0.5, 0.999))
    aim = nn.BCEWithLogitsLoss()
    one, none = torch.ones(64, 1), torch.zeros(64, 1)
    with nanwatch.torch.watch(g, og, run=name, address=daemon.address) as watch:
        for _ in range(600):
            fake = g(torch.randn(64, 8))
            if trains:
                loss = aim(d(ring(64)), one) + aim(d(fake.detach()), none)
                od.zero_grad()
                loss.backward()
                od.step()
            loss = aim(d(fake), one)
            og.zero_grad()
            loss.backward()
            og.step()
            watch.step(loss)
        assert watch.flush(20)
        told = watch.run._shared.seen.rival_loss
    return Verdict(daemon, name), told


def test_a_generator(daemon, name):
    it, told = game(daemon, name, trains=True)
    assert told
    assert it.worst in ("", "info"), it


def test_one_whose_judge_does_not_learn(daemon, name):
    _, told = game(daemon, name, trains=False)
    assert not told


def run(parts, passes):
    """`passes`: of a step, functions of the modules' outputs."""
    mine, theirs = parts
    own = {id(p) for p in mine.parameters()}
    it = Opponents(lambda: own)
    optimizer = torch.optim.SGD(
        [*mine.parameters(), *theirs.parameters()], lr=1e-2)
    for _ in range(12):
        for of_ours, loss_of in passes:
            optimizer.zero_grad()
            loss = loss_of(mine, theirs)
            it.begins()
            loss.backward()
            if not of_ours:
                it.passed()
            optimizer.step()
        it.step(loss)
    return it.seen


@pytest.mark.parametrize("passes,seen", [
    # A head with an optimizer of its own, for the same loss.
    ([(True, lambda a, b: b(a(ring(8))).square().mean())], False),
    # A model that has nothing to do with ours.
    ([(False, lambda a, b: b(ring(8)).square().mean()),
      (True, lambda a, b: a(ring(8)).square().mean())], False),
    # A critic, and an actor through it.
    ([(False, lambda a, b: b(a(ring(8)).detach()).square().mean()),
      (True, lambda a, b: -b(a(ring(8))).mean())], True),
], ids=["together", "apart", "critic"])
def test_who_is_one(passes, seen):
    torch.manual_seed(1)
    assert run((net(2, 8, 2), net(2, 8, 1)), passes) == seen
