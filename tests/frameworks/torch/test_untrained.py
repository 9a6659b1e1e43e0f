"""Parts of a model that get gradients and that no optimizer updates, or that
are held by one and never reached: each is said, by name; and nothing above a
note is said of what looks like it."""

import pytest
import torch
from made_wrong import batches, right
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch.untrained import part_of

STEPS = 200


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.body(x))


def train(daemon, name, model, optimizers, loop, steps=STEPS):
    """`loop` is given the optimizers, the loss and the number of the step."""
    with nanwatch.torch.watch(model, optimizers, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(steps)):
            loss = (model(x) - y).square().mean()
            loop(optimizers, loss, i)
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def one(model):
    return lambda optimizer, loss, i: right(model, optimizer, loss, i)


def is_said(it, part, words):
    assert it.worst == "warning", it
    assert it.cause == "update_made_wrong", it
    assert f"{part} gets gradients" in it.headline, it
    assert words in it.headline, it
    assert it.causes[0]["actions"], it


def is_no_more_than_a_note(it):
    assert it.worst in ("", "info"), it
    assert it.cause in ("", "update_made_wrong"), it


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_head_that_was_made_after_the_optimizer(daemon, name, kind):
    model = Net()
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-3)
    model.head = nn.Linear(16, 1)
    it = train(daemon, name, model, optimizer, one(model))
    is_said(it, "head", "no optimizer holds it")


def test_a_head_that_was_left_out(daemon, name, device):
    model = Net()
    optimizer = torch.optim.AdamW(model.body.parameters(), lr=1e-3)
    it = train(daemon, name, model, optimizer, one(model))
    is_said(it, "head", "no optimizer holds it")


def test_a_head_whose_gradients_nobody_clears(daemon, name):
    model = Net()
    optimizer = torch.optim.SGD(model.body.parameters(), lr=1e-4)

    def loop(optimizer, loss, i):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    it = train(daemon, name, model, optimizer, loop)
    is_said(it, "head", "no optimizer holds it")


def test_a_body_that_is_not_trained_is_a_note(daemon, name):
    """As of a head that is trained alone."""
    model = Net()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=1e-2)
    it = train(daemon, name, model, optimizer, one(model))
    assert it.worst == "info", it
    assert "body.0 gets gradients" in it.headline, it


def test_a_body_that_is_frozen(daemon, name):
    model = Net()
    model.body.requires_grad_(False)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=1e-2)
    it = train(daemon, name, model, optimizer, one(model))
    assert it.worst == "", it


def test_a_head_that_is_updated_by_hand(daemon, name):
    model = Net()
    optimizer = torch.optim.SGD(model.body.parameters(), lr=1e-2)

    def loop(optimizer, loss, i):
        optimizer.zero_grad()
        model.head.zero_grad()
        loss.backward()
        optimizer.step()
        for p in model.head.parameters():
            p.data -= 1e-2 * p.grad

    assert train(daemon, name, model, optimizer, loop).worst == ""


def test_a_head_of_an_optimizer_that_nobody_watches(daemon, name):
    model = Net()
    optimizer = torch.optim.SGD(model.body.parameters(), lr=1e-2)
    other = torch.optim.Adam(model.head.parameters(), lr=1e-2)

    def loop(optimizer, loss, i):
        other.zero_grad()
        right(model, optimizer, loss, i)
        other.step()

    assert train(daemon, name, model, optimizer, loop).worst == ""


def test_weights_that_are_tied(daemon, name):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8),
                          nn.Linear(8, 1))
    model[2].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    assert train(daemon, name, model, optimizer, one(model)).worst == ""


def test_a_head_that_the_optimizer_gets_later(daemon, name):
    model = Net()
    optimizer = torch.optim.SGD(model.body.parameters(), lr=1e-2)

    def loop(optimizer, loss, i):
        if i == 20:
            optimizer.add_param_group({"params": model.head.parameters()})
        right(model, optimizer, loss, i)

    is_no_more_than_a_note(train(daemon, name, model, optimizer, loop))


class Cut(Net):
    """Its body is cut off from the loss."""

    def forward(self, x):
        return self.head(self.body(x).detach())


class InTurns(Net):
    """Each of two heads has every second batch."""

    def __init__(self):
        super().__init__()
        self.other = nn.Linear(16, 1)
        self.turn = 0

    def forward(self, x):
        self.turn += 1
        return (self.head, self.other)[self.turn % 2](self.body(x))


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_a_body_that_no_backward_pass_reaches(daemon, name, kind):
    model = Cut()
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-2)
    it = train(daemon, name, model, optimizer, one(model))
    assert it.worst == "info", it
    assert it.cause == "update_made_wrong", it
    assert "body.0 is held by an optimizer" in it.headline, it


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_heads_that_take_turns(daemon, name, kind):
    model = InTurns()
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-2)
    assert train(daemon, name, model, optimizer, one(model)).worst == ""


def two(model):
    return {"body": torch.optim.SGD(model.body.parameters(), lr=1e-2),
            "head": torch.optim.SGD(model.head.parameters(), lr=1e-2)}


def both(which):
    """`which` are called, by the number of the step."""
    def loop(optimizers, loss, i):
        for each in optimizers.values():
            each.zero_grad()
        loss.backward()
        for each in which(i):
            optimizers[each].step()

    return loop


@pytest.mark.parametrize("never,other", [("body.0", "head"),
                                         ("head", "body")])
def test_one_of_two_optimizers_is_never_called(daemon, name, never, other):
    model = Net()
    it = train(daemon, name, model, two(model), both(lambda i: [other]), 320)
    is_said(it, never, "never called")


def test_one_is_called_twice_and_the_other_never(daemon, name):
    model = Net()
    it = train(daemon, name, model, two(model),
               both(lambda i: ["head", "head"]), 320)
    is_said(it, "body.0", "never called")


@pytest.mark.parametrize("every", [1, 5, 16])
def test_one_is_called_now_and_then(daemon, name, every):
    model = Net()
    it = train(daemon, name, model, two(model), both(
        lambda i: ["body"] + ["head"] * (i % every == every - 1)), 320)
    assert it.worst == "", it


def test_one_warms_up(daemon, name):
    model = Net()
    it = train(daemon, name, model, two(model), both(
        lambda i: ["body", "head"] if i >= 100 else ["body"]), 320)
    assert it.cause != "update_made_wrong", it


def test_what_parts_are_called():
    assert part_of(["fc.weight", "fc.bias"]) == "fc"
    assert part_of(["net.a.weight", "net.b.weight"]) == "net"
    assert part_of(["a.weight", "b.weight", "c.weight"]) == "a and 2 more"
    assert part_of(["scale"]) == "scale"
