"""Gradients that a program discards by itself, as it sees their norm: the next
step is told with its own."""

import math

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from verdicts import Verdict

import nanwatch
from nanwatch._torch import backwards, readout

STEPS, BAD = 40, 20


def backward(loss, parameters):
    loss.backward()


def assign(loss, parameters):
    """As who takes part in the computation of gradients does."""
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
        p.grad = g


def train(daemon, name, fill, bad, zero_first=True, clips=True, discards=True):
    """`fill` makes gradients of a loss; those of one step are not finite."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    parameters = list(model.parameters())
    discarded = 0
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            if zero_first:
                optimizer.zero_grad()
            loss = model(torch.randn(8, 16)).square().mean()
            if i == BAD and bad == "loss":
                loss = loss * math.nan
            fill(loss, parameters)
            if i == BAD and bad == "gradient":
                parameters[2].grad[0, 0] = math.nan
            if clips:
                norm = clip_grad_norm_(parameters, 1.0)
            else:
                norm = nn.utils.get_total_norm([p.grad for p in parameters])
            if discards and not torch.isfinite(norm):
                discarded += 1
                if not zero_first:
                    optimizer.zero_grad()
                continue
            optimizer.step()
            if not zero_first:
                optimizer.zero_grad()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    assert discarded == discards
    return Verdict(daemon, name)


@pytest.mark.parametrize("fill", [backward, assign])
@pytest.mark.parametrize("bad", ["loss", "gradient"])
@pytest.mark.parametrize("zero_first", [True, False])
@pytest.mark.parametrize("clips", [True, False])
def test_the_next_step_is_not_told_with_it(
        daemon, name, fill, bad, zero_first, clips):
    if not hasattr(nn.utils, "get_total_norm"):
        pytest.skip("before 2.6")
    it = train(daemon, name, fill, bad, zero_first, clips=clips)
    assert it.worst == "" and it.bad_ops() == {}, it
    assert it.steps == STEPS - 1


@pytest.mark.parametrize("fill", [backward, assign])
def test_what_is_applied_is_told(daemon, name, fill):
    """The same program without the line that discards it."""
    it = train(daemon, name, fill, "gradient", discards=False)
    assert it.worst == "critical" and it.step == BAD, it
    assert it.bad_ops()["2.weight", "grad_input"] == BAD, it


def test_zeros_in_their_place(daemon, name, monkeypatch):
    """zero_grad may leave them where they are."""
    monkeypatch.setattr(torch.optim.SGD, "zero_grad", zero_grad_in_place)
    it = train(daemon, name, backward, "loss")
    assert it.worst == "" and it.bad_ops() == {}, it


def zero_grad_in_place(self):
    torch.optim.Optimizer.zero_grad(self, set_to_none=False)


def test_on_a_device(daemon, name, monkeypatch):
    """Nothing is known there before it is over."""
    monkeypatch.setattr(readout, "HOSTS", set())
    it = train(daemon, name, backward, "loss")
    assert it.worst == "" and it.bad_ops() == {}, it


def train_two(daemon, name, bad, fault="loss", scaler=None):
    """Two optimizers of one loss, and updates that the program leaves out by
    itself, without a word."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    parameters = list(model.parameters())
    two = {
        "matrices": torch.optim.SGD(
            [p for p in parameters if p.ndim == 2], lr=1e-3),
        "rest": torch.optim.AdamW(
            [p for p in parameters if p.ndim < 2], lr=1e-4)}
    scaled = scaler.scale if scaler else lambda loss: loss
    with nanwatch.torch.watch(model, two, scaler, run=name,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            for optimizer in two.values():
                optimizer.zero_grad()
            loss = model(torch.randn(8, 16)).square().mean()
            if i in bad and fault == "loss":
                loss = loss * math.nan
            scaled(loss).backward()
            if i in bad and fault == "gradient":
                parameters[0].grad[0, 0] = math.nan
            seen = loss if scaler else clip_grad_norm_(parameters, 1e9)
            if not seen.isfinite():
                continue
            for optimizer in two.values():
                if scaler:
                    scaler.step(optimizer)
                else:
                    optimizer.step()
            if scaler:
                scaler.update()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("device", [False, True])
def test_of_two_optimizers(daemon, name, monkeypatch, scaled, device):
    if device:
        monkeypatch.setattr(readout, "HOSTS", set())
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if scaled else None
    it = train_two(daemon, name, [BAD], scaler=scaler)
    assert it.worst == "" and it.bad_ops() == {}, it
    assert it.steps == 2 * (STEPS - 1), it


def test_of_two_optimizers_at_each_step_from_one_on(daemon, name):
    it = train_two(daemon, name, range(BAD, STEPS), "gradient")
    assert it.worst == "critical" and it.cause == "nan_from_backward", it
    assert it.step == BAD and it.origin["op"] == "0.weight", it


@pytest.mark.parametrize("clips", [True, False])
def test_on_a_device_one_after_another(daemon, name, monkeypatch, clips):
    """None is updated with from one on, and nobody says a word; and nothing
    piles up."""
    monkeypatch.setattr(readout, "HOSTS", set())
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(200):
        optimizer.zero_grad()
        x = torch.full((1, 4), 1.0 if i < BAD else math.nan)
        loss = model(x).sum()
        loss.backward()
        seen = clip_grad_norm_(model.parameters(), 1.0) if clips else loss
        if not seen.isfinite():
            waiting = watch._current.readout._queues.values()
            assert sum(len(queue.flat()[0]) for queue in waiting) <= 16
            continue
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    # Modules are looked at once a step was bad.
    assert it.step in (BAD, BAD + 1), it
    assert int(it.summary["skipped"]) == 200 - BAD - 8, it


def test_on_a_device_what_is_finite_is_not_told(daemon, name, monkeypatch):
    """Gradients that are none of an update, before each of them and once more
    often."""
    monkeypatch.setattr(readout, "HOSTS", set())
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            for _ in range(20 if i == BAD else 1):
                optimizer.zero_grad()
                loss = model(torch.ones(1, 4)).square().sum()
                loss.backward()
                clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == STEPS, it


def test_a_closure_that_is_not_finite_later_than_at_first(daemon, name):
    """Its first evaluation alone is looked at; what the last one makes of the
    weights is told all the same, and at this step."""
    torch.manual_seed(1)
    model = nn.Linear(16, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1e-3, max_iter=5)
    x, calls = torch.randn(64, 16), []

    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        calls.append(watch._current.number)
        if len(calls) > 1 and calls[-2:] == [BAD, BAD]:
            loss = loss * math.nan
        loss.backward()
        return loss

    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(BAD + 1):
            watch.step(optimizer.step(closure))
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    assert calls.count(BAD) > 1
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.step == BAD, it


class Tensors:
    """An optimizer, as far as Backwards knows one."""

    def __init__(self, count=3):
        self.param_groups = [
            {"params": [nn.Parameter(torch.ones(2)) for _ in range(count)]}]

    def fill(self):
        for p in self.param_groups[0]["params"]:
            p.grad = torch.ones(2)

    def write(self):
        for p in self.param_groups[0]["params"]:
            p.grad.mul_(0.5)


def test_passes_that_are_not_heard():
    """By the tensors that are about to be clipped: what was written since was
    clipped, others are newer, and so are those that were not written: a new one
    may have the id of one that is gone. After an update all is new."""
    its = Tensors()
    of = backwards.Backwards(its)
    its.fill()
    of.looked()
    assert not of.have_newer(clips=True)  # nobody clipped them
    of.about_to_clip()
    assert not of.have_newer(clips=False) and of.have_newer(clips=True)
    its.write()
    assert not of.have_newer(clips=False) and not of.have_newer(clips=True)
    kept = [p.grad for p in its.param_groups[0]["params"]]
    its.fill()
    assert not of.have_newer(clips=False) and of.have_newer(clips=True)
    of.updated()
    assert not of.are_old() and kept


def test_passes_on_a_device(monkeypatch):
    """What is added to gradients is not looked at again there: only the device
    knows what a clip made of those before. One that got its first is no other
    one."""
    monkeypatch.setattr(backwards, "is_on_host", lambda optimizer: False)
    its = Tensors()
    of = backwards.Backwards(its)
    of.heard()
    its.fill()
    first = its.param_groups[0]["params"][0]
    first.grad = None
    of.looked()
    of.about_to_clip()
    assert not of.have_newer(clips=False)
    first.grad = torch.ones(2)
    its.write()
    of.heard()
    assert not of.have_newer(clips=False) and not of.have_newer(clips=True)
    kept = [p.grad for p in its.param_groups[0]["params"]]
    its.fill()
    assert of.have_newer(clips=True) and kept


def test_gradients_of_inference_mode():
    its = Tensors()
    with torch.inference_mode():
        its.fill()
    of = backwards.Backwards(its)
    of.heard()
    of.about_to_clip()
    of.updated()
    assert of.are_old()
