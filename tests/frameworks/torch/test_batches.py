"""The data of a step, told by their numbers: a verdict names those to leave
out."""

import math

import made_wrong
import pytest
import torch
from verdicts import Verdict

import nanwatch


def train(daemon, name, spoil, batch_of, level="default", steps=200):
    model = made_wrong.net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with nanwatch.torch.watch(model, optimizer, run=name, level=level,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(made_wrong.batches(steps)):
            loss = (model(spoil(i, x)) - y).square().mean()
            made_wrong.right(model, optimizer, loss, i)
            watch.step(loss, batch=batch_of(i))
        assert watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def with_nan(i, x):
    return x * math.nan if i == 150 else x


@pytest.mark.parametrize("batch_of", [
    lambda i: range(32 * i, 32 * i + 32),
    lambda i: list(range(32 * i, 32 * i + 32)),
    lambda i: (32 * i, 32 * i + 31),
    lambda i: torch.arange(32 * i, 32 * i + 32).flip(0),
])
def test_which_brought_a_nan(daemon, name, batch_of):
    it = train(daemon, name, with_nan, batch_of)
    assert it.worst == "critical" and it.step == 150, it
    cause = it.causes[0]
    said = [e["sentence"] for e in cause["evidence"]]
    assert "Step 150 trained on samples 4800 to 4831." in said, it
    assert "samples 4800 to 4831" in cause["actions"][0]["sentence"], it


def test_one_sample(daemon, name):
    it = train(daemon, name, with_nan, lambda i: i)
    assert any("sample 150" in a["sentence"]
               for a in it.causes[0]["actions"]), it


def test_healthy(daemon, name):
    it = train(daemon, name, lambda i, x: x, lambda i: i)
    assert it.worst == "", it


@pytest.mark.parametrize("level", ["default", "layers", "ops"])
def test_what_would_name_the_module(daemon, name, level):
    """Where that is not known: the level that does."""
    it = train(daemon, name, with_nan, lambda i: None, level)
    advice = [a["sentence"] for a in it.causes[0]["actions"]]
    assert any('level="ops"' in each for each in advice) == (
        level != "ops" and "op" not in it.origin), it


@pytest.mark.parametrize("batch", ["x", [1.5], object(), [], math.nan])
def test_what_is_no_batch(daemon, name, batch, caplog):
    model = made_wrong.net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(made_wrong.batches(3)):
            loss = (model(x) - y).square().mean()
            made_wrong.right(model, optimizer, loss, i)
            watch.step(loss, batch=batch)
        assert watch.run.stats.bad_input == 3
    assert Verdict(daemon, name).steps == 3


@pytest.mark.parametrize("rate", [5.0, 50.0, 1e4])
@pytest.mark.parametrize("level", ["default", "ops"])
def test_an_explosion_is_no_birth_of_a_nan(daemon, name, rate, level):
    """Though some layer saw it first."""
    model = made_wrong.net()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    with nanwatch.torch.watch(model, optimizer, run=name, level=level,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(made_wrong.batches(100)):
            loss = (model(x) - y).square().mean()
            made_wrong.right(model, optimizer, loss, i)
            watch.step(loss)
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "divergence", it
    assert it.step <= 2, it
