"""A model whose loss goes through weights that others train, for a loss of
their own, and whose optimizer nobody watches."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch.backwards import marks_of
from nanwatch._torch.opponents import Opponents

BCE = nn.functional.binary_cross_entropy_with_logits


def net(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def ring(n):
    turn = torch.rand(n) * 6.28
    return torch.stack([turn.cos(), turn.sin()], 1) * 2


def game(daemon, name, trains=True, judge=False):
    """The generator of a GAN; `trains`: its discriminator, too. Watched is one
    of both: `judge`, the latter."""
    torch.manual_seed(2)
    g, d = net(8, 64, 64, 2), net(2, 64, 64, 1)
    og = torch.optim.Adam(g.parameters(), lr=5e-4, betas=(0.5, 0.999))
    od = torch.optim.Adam(d.parameters(), lr=5e-4, betas=(0.5, 0.999))
    aim = nn.BCEWithLogitsLoss()
    one, none = torch.ones(64, 1), torch.zeros(64, 1)
    model, optimizer = (d, od) if judge else (g, og)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(600):
            fake = g(torch.randn(64, 8))
            if trains:
                judged = aim(d(ring(64)), one) + aim(d(fake.detach()), none)
                od.zero_grad()
                judged.backward()
                od.step()
            loss = aim(d(fake), one)
            og.zero_grad()
            loss.backward()
            og.step()
            watch.step(judged if judge else loss)
        assert watch.flush(20)
        told = watch.run._shared.seen.rival_loss
    return Verdict(daemon, name), told


def test_a_generator(daemon, name):
    it, told = game(daemon, name, trains=True)
    assert told
    assert it.worst in ("", "info"), it


def test_a_discriminator(daemon, name):
    it, told = game(daemon, name, judge=True)
    assert told
    assert it.worst in ("", "info"), it


@pytest.mark.parametrize("factor", [1, 1000])
def test_an_encoder_whose_head_is_trained_in_turn(daemon, name, factor):
    torch.manual_seed(2)
    encoder, head = net(8, 32, 16), net(16, 32, 1)
    mine = torch.optim.Adam(encoder.parameters(), 1e-3)
    its = torch.optim.Adam(head.parameters(), 1e-3)
    with nanwatch.torch.watch(encoder, mine, run=name,
                              address=daemon.address) as watch:
        for i in range(500):
            if i == 300:
                mine.param_groups[0]["lr"] *= factor
            x = torch.randn(32, 8)
            y = x[:, :1].sin() + 0.1 * torch.randn(32, 1)
            for optimizer, h in ((its, encoder(x).detach()), (mine, None)):
                h = encoder(x) if h is None else h
                loss = nn.functional.mse_loss(head(h), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
        assert not watch.run._shared.seen.rival_loss
    assert Verdict(daemon, name).worst == ("" if factor == 1 else "critical")


def test_one_whose_judge_does_not_learn(daemon, name):
    _, told = game(daemon, name, trains=False)
    assert not told


def run(parts, passes):
    """`passes`: of a step, functions of the modules' outputs."""
    mine, theirs = parts
    own = {id(p) for p in mine.parameters()}
    it = Opponents(lambda: own)

    def marks():
        return [marks_of(list(mine.parameters()))]

    optimizer = torch.optim.SGD(
        [*mine.parameters(), *theirs.parameters()], lr=1e-2)
    for _ in range(12):
        for of_ours, loss_of in passes:
            optimizer.zero_grad()
            loss = loss_of(mine, theirs)
            it.begins(loss, marks())
            loss.backward()
            it.ended(marks(), reached=of_ours)
            optimizer.step()
            if of_ours:
                it.updated()
    return it.seen


@pytest.mark.parametrize("passes,seen", [
    # A head with an optimizer of its own, for the same loss.
    ([(True, lambda a, b: b(a(ring(8))).square().mean())], False),
    # A model that has nothing to do with ours.
    ([(False, lambda a, b: b(ring(8)).square().mean()),
      (True, lambda a, b: a(ring(8)).square().mean())], False),
    # A head that is trained in turn, for the same.
    ([(False, lambda a, b: b(a(ring(8)).detach()).square().mean()),
      (True, lambda a, b: b(a(ring(8))).square().mean())], False),
    # A discriminator's two passes.
    ([(False, lambda a, b: BCE(b(ring(8)), torch.ones(8, 1))),
      (False, lambda a, b: BCE(b(a(ring(8)).detach()), torch.zeros(8, 1))),
      (True, lambda a, b: BCE(b(a(ring(8))), torch.ones(8, 1)))], True),
    # A critic, and an actor through it.
    ([(False, lambda a, b: b(a(ring(8)).detach()).square().mean()),
      (True, lambda a, b: -b(a(ring(8))).mean())], True),
], ids=["together", "apart", "in_turn", "in_two_passes", "critic"])
def test_who_is_one(passes, seen):
    torch.manual_seed(1)
    assert run((net(2, 8, 2), net(2, 8, 1)), passes) == seen
