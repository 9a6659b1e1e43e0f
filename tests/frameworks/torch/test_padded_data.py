"""Data that are not finite, of which the model takes that out, or does not: who
is called the first to have made it, at the level "ops"."""

import math
import types

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from verdicts import Verdict

import nanwatch

STEPS, FAULT = 120, 80


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))


class Pads(nn.Module):
    """Missing numbers come as NaN, and count for nothing."""

    def __init__(self):
        super().__init__()
        self.net = net()

    def forward(self, x):
        return self.net(x.nan_to_num())


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


class Masked(nn.Module):
    """Of a logarithm only what exists is taken."""

    def __init__(self):
        super().__init__()
        self.log, self.net = Log(), net()

    def forward(self, x):
        return self.net(torch.where(x > 0, self.log(x), torch.zeros_like(x)))


class Two(nn.Module):
    """The first of its inputs is always sound."""

    def __init__(self):
        super().__init__()
        self.kinds, self.numbers = nn.Embedding(4, 8), nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        kinds = self.kinds(torch.arange(len(x)) % 4)
        return self.out(torch.relu(kinds + self.numbers(x)))


class Between(nn.Module):
    """Its own arithmetic makes NaN of what is finite, at times. `leave` comes
    after that; `pads`: data have NaN which is taken out."""

    def __init__(self, leave=None, pads=False):
        super().__init__()
        self.enter, self.leave = nn.Linear(8, 8), leave or nn.Linear(8, 1)
        self.pads = pads
        self.is_bad = False

    def forward(self, x, mask=None):
        x = self.enter(x.nan_to_num() if self.pads else x)
        return self.leave(torch.log(x - 1e3) if self.is_bad else x)


class Causal(nn.Module):
    """Hands on what is -infinity on purpose, by its place."""

    def __init__(self):
        super().__init__()
        self.inner = Between()

    def forward(self, x):
        return self.inner(x, torch.triu(torch.full((4, 4), -math.inf), 1))


class Cached(nn.Module):
    """Hands on an object that may hold tensors, as Hugging Face's caches."""

    def __init__(self):
        super().__init__()
        self.inner = Between()

    def forward(self, x):
        return self.inner(x, mask=types.SimpleNamespace())


class Weighed(nn.Module):
    """By what is called a mask and comes by name, whose data may be NaN."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x, mask=None):
        return self.leave(self.enter(x) * mask)


class Masks(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Weighed()

    def forward(self, x):
        mask = torch.where(x.isfinite(), 1.0, math.nan)
        return self.inner(x.nan_to_num(), mask=mask)


class Joined(nn.Module):
    """Is called with more than one positional tensor: by name, within
    something, or behind others."""

    def __init__(self, how="", pads=False):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.how, self.pads = how, pads

    def forward(self, x, *others, by=None, held=None):
        by = others[-1] if others else by if held is None else held.value
        x = x.nan_to_num() if self.pads else x
        return torch.relu(self.a(x)) + self.b(by)


class Called(nn.Module):
    """The data are its `Joined`'s second input."""

    def __init__(self, how, pads=False):
        super().__init__()
        self.first, self.out = nn.Linear(8, 8), nn.Linear(8, 1)
        self.joined, self.how = Joined(how, pads), how
        self.pads = pads

    def forward(self, x):
        first = self.first(torch.ones_like(x))
        if self.pads:
            first = first.index_fill(0, torch.tensor([0]), math.nan)
        calls = {
            "by name": lambda: self.joined(first, by=x),
            "within": lambda: self.joined(
                first, held=types.SimpleNamespace(value=x)),
            "fifth": lambda: self.joined(first, first, first, first, x),
            "second": lambda: self.joined(first, x),
        }
        return self.out(calls[self.how]())


class Uncalled(Two):
    """Its children are called by a method of its own, as Lightning does."""

    def __call__(self, x):
        return self.forward(x)


class Bad(nn.Module):
    is_bad = False

    def forward(self, x):
        return torch.log(x - 1e3) if self.is_bad else x


class Again(nn.Module):
    """What makes it is called without gradients, or in evaluation mode."""

    def __init__(self, how):
        super().__init__()
        self.enter, self.leave = nn.Linear(8, 8), nn.Linear(8, 1)
        self.inner = nn.Sequential(nn.Linear(8, 8), Bad())
        self.how = how

    def forward(self, x):
        x = self.enter(x)
        if self.how == "checkpoint":
            x = checkpoint(self.inner, x, use_reentrant=True)
        elif self.how == "no_grad":
            with torch.no_grad():
                x = self.inner(x)
        else:
            x = self.inner.eval()(x)
        return self.leave(x)


def train(daemon, name, model, put=lambda x, _: x, parts=1, budget=1e9):
    """`put` may change the data of a part, by the step and the part."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level="ops", budget=budget,
        address=daemon.address)
    generator = torch.Generator().manual_seed(1)
    for step in range(STEPS):
        for module in model.modules():
            if isinstance(module, (Bad, Between)):
                module.is_bad = step == FAULT
        optimizer.zero_grad()
        for part in range(parts):
            x = torch.randn(16, 8, generator=generator)
            truth = x.sum(1, keepdim=True)
            x = put(x, (step, part))
            loss = (model(x) - truth).square().mean() / parts
            loss.backward()
        if step != FAULT:
            optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def missing(x, _):
    x[::5, 3] = math.nan
    return x


def once(part):
    def put(x, at):
        if at == (FAULT, part):
            x[0, 0] = math.nan
        return x

    return put


@pytest.mark.parametrize("budget", [1e9, 0.03])
def test_what_is_taken_out_at_once_is_no_trouble(daemon, name, budget):
    it = train(daemon, name, Pads(), missing, budget=budget)
    assert it.worst in ("", "info") and it.cause != "nan_from_forward", it


def test_what_a_mask_takes_out_is_a_note(daemon, name):
    it = train(daemon, name, Masked())
    assert it.worst == "info" and it.cause == "harmless_padding", it
    assert it.origin["op"] == "log", it


@pytest.mark.parametrize("part", range(4))
def test_the_data_of_any_part_bring_it(daemon, name, part):
    it = train(daemon, name, net(), once(part), parts=4)
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert it.origin["slot"].lower().endswith("input"), it
    assert "inputs are finite" not in it.headline, it


def test_the_second_input_brings_it(daemon, name):
    it = train(daemon, name, Two(), once(0))
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert it.origin["op"] in ("numbers", "model"), it
    assert it.origin["slot"].lower().endswith("input"), it


@pytest.mark.parametrize("how", ["by name", "within", "fifth", "second"])
def test_any_argument_may_bring_it(daemon, name, how):
    assert_not_made_here(train(daemon, name, Called(how), once(0)))


def test_an_input_brings_it_beside_one_that_is_taken_out(daemon, name):
    assert_not_made_here(train(daemon, name, Called("second", True), once(0)))


def test_data_bring_it_to_a_model_that_is_not_called(daemon, name):
    assert_not_made_here(train(daemon, name, Uncalled(), once(0)))


def assert_not_made_here(it):
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert "inputs are finite" not in it.headline, it


@pytest.mark.parametrize("how", ["checkpoint", "no_grad", "eval"])
def test_it_is_named_where_nobody_follows_gradients(daemon, name, how):
    it = train(daemon, name, Again(how))
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert it.origin["op"] == "inner.1", it


def assert_made_between(it, caller):
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert "Its inputs are finite" in it.headline, it
    assert it.origin["op"] == caller, it


def test_what_is_made_between_is_named(daemon, name):
    it = train(daemon, name, Between())
    assert_made_between(it, "model")


def test_it_is_named_though_a_container_got_it(daemon, name):
    it = train(daemon, name, Between(nn.Sequential(nn.Sequential(net()))))
    assert_made_between(it, "model")


def test_it_is_named_though_masks_are_handed_on(daemon, name):
    it = train(daemon, name, Causal())
    assert_made_between(it, "inner")


def test_it_is_named_though_an_object_is_handed_on(daemon, name):
    it = train(daemon, name, Cached())
    assert_made_between(it, "inner")


def test_a_mask_of_data_may_bring_it(daemon, name):
    it = train(daemon, name, Masks(), once(0))
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert it.origin["op"] != "inner", it


def test_it_is_named_though_data_have_some_that_is_taken_out(daemon, name):
    it = train(daemon, name, Between(pads=True), missing)
    assert it.cause == "nan_from_forward" and it.step == FAULT, it
    assert it.origin["op"] == "model", it
