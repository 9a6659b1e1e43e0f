"""Parts of a model that get gradients and that no optimizer updates, or that
are held by one and never reached: each is said, by name; and nothing above a
note is said of what looks like it."""

import pytest
import torch
from made_wrong import batches, right
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch.part_names import part_of, shortened

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


class Adapted(nn.Module):
    """A layer as LoRA and PEFT make it."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.randn(2, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, 2))

    def forward(self, x):
        return self.base(x) + x @ self.A.T @ self.B.T


class Stack(nn.Module):
    """Layers in front of a norm and a head."""

    def __init__(self, wide=16):
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.Parameter(torch.randn(wide, 8))
        self.h = nn.ModuleList(
            nn.ModuleDict({"q": nn.Linear(8, 8), "v": nn.Linear(8, 8)})
            for _ in range(2))
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = x + self.table[0]
        for each in self.h:
            x = x + torch.tanh(each["q"](x)) + each["v"](x)
        return self.head(self.norm(x))


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_adapters_that_came_after_the_optimizer(daemon, name, kind, device):
    """In front of all that is trained, in modules that are frozen."""
    model = Stack()
    model.requires_grad_(False)
    model.norm.requires_grad_(True)
    optimizer = getattr(torch.optim, kind)(
        [p for p in model.parameters() if p.requires_grad], lr=1e-3)
    for each in model.h:
        each["q"], each["v"] = Adapted(each["q"]), Adapted(each["v"])
    it = train(daemon, name, model, optimizer, one(model))
    is_said(it, "h.*.{q,v}.{A,B}", "no optimizer holds it")


def test_layers_that_were_thawed_after_the_optimizer(daemon, name):
    model = Stack()
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=1e-3)
    model.h[1].requires_grad_(True)["q"].requires_grad_(False)
    it = train(daemon, name, model, optimizer, one(model))
    is_said(it, "h.1.v", "no optimizer holds it")


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_adapters_of_a_frozen_model(daemon, name, kind):
    model = Stack()
    model.requires_grad_(False)
    for each in model.h:
        each["q"], each["v"] = Adapted(each["q"]), Adapted(each["v"])
    optimizer = getattr(torch.optim, kind)(
        [p for p in model.parameters() if p.requires_grad], lr=1e-3)
    assert train(daemon, name, model, optimizer, one(model)).worst == ""


def test_a_head_alone_behind_a_body_with_a_fixed_table(daemon, name):
    """A table of positions that is never trained says nothing of the rest."""
    model = Stack()
    model.table.requires_grad_(False)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
    it = train(daemon, name, model, optimizer, one(model))
    assert it.worst == "info", it


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
    assert part_of(["a.weight"], ["a.bias"]) == "a.weight"
    layers = [f"h.{i}.{part}.weight" for i in range(3) for part in "qv"]
    assert part_of(layers[::2], layers[1::2]) == "h.*.q"
    assert part_of(layers[2:], layers[:2]) == "h.{1,2}.{q,v}"
    assert part_of(layers[1:], layers[:1]) == "h"  # no pattern holds for all
    assert shortened("model." + "h.{1,2}.attn.{q,v}.{A,B}") == (
        "{1,2}.attn.{q,v}.{A,B}")
