"""Who clips to a norm and who watches read the gradients once for both, and the
training's numbers are to the last bit what they are without a watch."""

import math
import os
import pathlib
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

import nanwatch
from nanwatch._torch import clipping

STEPS = 20
pytestmark = pytest.mark.skipif(
    not hasattr(nn.utils, "clip_grads_with_norm_"), reason="before 2.6")


def one(model):
    return [torch.optim.AdamW(model.parameters(), lr=1e-2)]


def groups(model):
    """In another order than the model's."""
    plain = [p for p in model.parameters() if p.ndim < 2]
    return [torch.optim.AdamW([
        {"params": plain, "weight_decay": 0.0},
        {"params": [p for p in model.parameters() if p.ndim > 1]}], lr=1e-2)]


def two(model):
    return [torch.optim.SGD(model[0].parameters(), lr=1e-2),
            torch.optim.AdamW(model[2:].parameters(), lr=1e-2)]


def whole(model):
    return [clip_grad_norm_(model.parameters(), 0.5)]


def by_parts(model):
    return [clip_grad_norm_(layer.parameters(), 0.3)
            for layer in (model[0], model[2])]


def a_part(model):
    return [clip_grad_norm_(model[0].parameters(), 0.3, foreach=True)]


class Course:
    """Of a training: losses, norms and weights, as bits."""

    def __init__(self, optimizers, clip, watch=None, bad_at=-1, dtype=None):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        model.to(dtype or torch.float32)
        made = optimizers(model)
        self.numbers = []
        watched = watch(model, made) if watch else None
        for i in range(STEPS):
            x = torch.randn(8, 16, dtype=dtype)
            loss = 30 * model(x).square().mean()
            for optimizer in made:
                optimizer.zero_grad()
            loss.backward()
            if i == bad_at:
                model[2].weight.grad[0, 0] = math.inf
            norms = clip(model)
            for optimizer in made:
                optimizer.step()
            if watched is not None:
                watched.step(loss)
            self.numbers += [loss, *norms]
        self.numbers += list(model.parameters())
        self.watch = watched

    def bits(self):
        return [t.detach().view(torch.int32 if t.dtype is torch.float32
                                else torch.int16).tolist()
                for t in self.numbers]


def watcher(daemon, name):
    def watch(model, optimizers):
        names = {f"o{i}": o for i, o in enumerate(optimizers)}
        return nanwatch.torch.watch(
            model, names if len(names) > 1 else optimizers[0], run=name,
            address=daemon.address)

    return watch


@pytest.mark.parametrize("bad_at", [-1, 7], ids=["fine", "inf"])
@pytest.mark.parametrize("clip", [whole, by_parts, a_part])
@pytest.mark.parametrize("optimizers", [one, groups, two])
def test_no_number_is_another_one(daemon, name, optimizers, clip, bad_at):
    alone = Course(optimizers, clip, None, bad_at)
    course = Course(optimizers, clip, watcher(daemon, name), bad_at)
    assert course.watch.close(20) and course.watch.run.stats.bad_input == 0
    assert course.bits() == alone.bits()


def test_sixteen_bits_are_as_they_were(daemon, name):
    alone = Course(one, whole, dtype=torch.bfloat16)
    course = Course(one, whole, watcher(daemon, name), dtype=torch.bfloat16)
    assert course.watch.close(20)
    assert course.bits() == alone.bits()


def test_gradients_are_read_once(daemon, name, monkeypatch):
    read = []
    norm = torch._foreach_norm

    def counted(tensors, *order):
        read.append(any(t.ndim > 0 and t.requires_grad for t in tensors))
        return norm(tensors, *order)

    monkeypatch.setattr(torch, "_foreach_norm", counted)
    course = Course(one, whole, watcher(daemon, name))
    assert course.watch.close(20)
    gradients = read.count(False)  # the others are weights
    assert STEPS <= gradients <= STEPS + 3, "the first few are compared"


def test_a_total_that_is_torch_s_no_more_is_not_used():
    trust = clipping._Trust()
    mine, right = torch.tensor(1.5), torch.tensor(1.25)
    assert trust.compare(mine, lambda: right) is right
    assert trust.lost
    trust = clipping._Trust()
    nan = torch.tensor(math.nan)
    for _ in range(3):
        assert trust.compare(nan, lambda: nan.clone()) is not nan
    assert not trust.lost
    assert trust.compare(mine, None) is mine, "it has shown itself"


def test_what_follows_the_numbers_is_not_disturbed(daemon, name):
    """Who traces clipping, by whatever means, gets what it gets without us."""

    def clipped(x):
        weight = nn.Parameter(torch.ones(3))
        weight.grad = x * 4
        return clip_grad_norm_([weight], 1.0)

    model = nn.Linear(2, 1)
    with nanwatch.torch.watch(
            model, torch.optim.SGD(model.parameters(), lr=0.1), run=name,
            address=daemon.address) as watch:
        x = torch.ones(3)
        right = clipped(x)
        grad = torch.func.grad(lambda x: clipped(x) + x.sum())(x)
        assert torch.equal(grad, torch.ones(3))
        made = torch.func.functionalize(clipped)(x)
        assert torch.equal(made, right)
        assert watch.run.stats.bad_input == 0


REPLACED = """
import functools, sys, torch
from torch.nn.utils import clip_grad
torchs, calls = clip_grad._get_total_norm, []
def doubled(tensors, norm_type, error_if_nonfinite, foreach):
    calls.append(1)
    return 2 * torchs(tensors, norm_type, error_if_nonfinite, foreach)
if sys.argv[1] == "total":
    clip_grad._get_total_norm = doubled
clip = clip_grad.clip_grad_norm_
if sys.argv[1] == "partial":
    clip_grad.clip_grad_norm_ = functools.partial(clip)
import nanwatch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = nanwatch.torch.watch(model, optimizer, address="unix:/nobody.sock")
for _ in range(8):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).square().mean()
    loss.backward()
    right = torchs([p.grad for p in model.parameters()])
    if sys.argv[1] == "total":
        right *= 2
    assert torch.equal(clip(model.parameters(), 0.1), right)
    optimizer.step()
    watch.step(loss)
assert sys.argv[1] != "total" or len(calls) == 8, calls
watch.close(0)
"""


@pytest.mark.parametrize("what", ["total", "partial"])
def test_who_has_put_a_function_of_his_own_there_keeps_it(what):
    source = pathlib.Path(nanwatch.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", REPLACED, what],
                          env={**os.environ, "PYTHONPATH": str(source)},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
