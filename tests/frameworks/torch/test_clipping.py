"""Clipping by functions that a program imported before it was watched."""

import math
import re

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from verdicts import Verdict

import nanwatch
from nanwatch._torch.optimizers import Followed

STEPS = 40


def clip_by_parts(parameters):
    nn.utils.clip_grads_with_norm_(parameters, 1e-3, torch.tensor(5.0))


CLIPS = {
    "norm": lambda parameters: clip_grad_norm_(parameters, 1e-3),
    "norm, each": lambda parameters: clip_grad_norm_(
        parameters, 1e-3, foreach=False),
    "value": lambda parameters: clip_grad_value_(parameters, 1e-4),
    "a norm of its own": clip_by_parts,
}


def trained(daemon, name, clip, scaler=None, unscale=True, bad_at=-1, parts=1,
            of=lambda model: model.parameters(), between=None, after=None):
    """The norms before clipping. `between` is called after each part with the
    model and the step, `after` with the model after each update."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    watch = nanwatch.torch.watch(model, optimizer, scaler, run=name,
                                 address=daemon.address)
    norms = []
    for i in range(STEPS):
        optimizer.zero_grad()
        for _ in range(parts):
            loss = 30 * model(torch.randn(8, 16)).square().mean()
            (loss if scaler is None else scaler.scale(loss)).backward()
            if between is not None:
                between(model, i)
            # Who asks for a norm clips nothing.
            nn.utils.get_total_norm([p.grad for p in model.parameters()])
        if scaler is not None and unscale:
            scaler.unscale_(optimizer)
        if i == bad_at:
            model[2].weight.grad[0, 0] = math.nan
        norms.append(norm_of(model))
        clip(of(model))
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        if after is not None:
            after(model)
        watch.step(loss)
    assert watch.close(20)
    return norms, watch.run.stats


def norm_of(model):
    return float(nn.utils.get_total_norm([p.grad for p in model.parameters()]))


def told(daemon, name):
    text = daemon.nanwatch("show", name).stdout
    return float(re.search(r"gradient norm ([\d.e+-]+)", text)[1])


needs_parts = pytest.mark.skipif(
    not hasattr(nn.utils, "clip_grads_with_norm_"), reason="before 2.6")


@needs_parts
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("clip", CLIPS)
def test_the_norm_is_that_before(daemon, name, caplog, clip, scaled):
    scaler = torch.amp.GradScaler("cpu") if scaled else None
    norms, stats = trained(daemon, name, CLIPS[clip], scaler, parts=2)
    assert stats.bad_input == 0 and not [
        r for r in caplog.records if r.name == "nanwatch"]
    scale = 2.0**16 if scaled else 1.0
    said = told(daemon, name)
    assert min(abs(said - norms[-1]), abs(said * scale - norms[-1])) < (
        1e-3 * norms[-1]), (said, norms[-1])


@needs_parts
@pytest.mark.parametrize("clip", CLIPS)
def test_of_a_generator_and_of_a_part(daemon, name, clip):
    """One layer's parameters alone are clipped."""
    norms, _ = trained(daemon, name, CLIPS[clip],
                       of=lambda model: (p for p in model[0].parameters()))
    assert abs(told(daemon, name) - norms[-1]) < 1e-3 * norms[-1]


@needs_parts
def test_the_first_nan_is_that_parameter_s(daemon, name):
    trained(daemon, name, CLIPS["norm"], bad_at=20)
    bad = Verdict(daemon, name).bad_ops()
    gradients = {op: step for (op, slot), step in bad.items()
                 if slot == "grad_input"}
    assert gradients == {"2.weight": 20}, bad


@needs_parts
def test_before_unscaling_is_said_once_a_step(daemon, name, caplog):
    _, stats = trained(daemon, name, CLIPS["norm"],
                       torch.amp.GradScaler("cpu"), unscale=False)
    assert stats.bad_input == STEPS, stats
    said = [r for r in caplog.records if r.name == "nanwatch"]
    assert len(said) == 1 and "before they are unscaled" in said[0].message


def log_norms(model):
    """By what clips nothing then: of all, and of each part."""
    clip_grad_norm_(model.parameters(), math.inf)
    for part in model:
        clip_grad_norm_(part.parameters(), math.inf)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_norm_after_the_update_is_of_no_other_step(daemon, name, scaled):
    scaler = torch.amp.GradScaler("cpu") if scaled else None
    norms, stats = trained(
        daemon, name, lambda parameters: None, scaler, after=log_norms)
    assert stats.bad_input == 0, stats
    assert abs(told(daemon, name) - norms[-1]) < 1e-3 * norms[-1]


@needs_parts
def test_a_nan_is_of_its_step_where_norms_are_logged(daemon, name):
    trained(daemon, name, lambda parameters: None, bad_at=20,
            after=log_norms)
    bad = Verdict(daemon, name).bad_ops()
    assert bad[("2.weight", "grad_input")] == 20, bad


@needs_parts
@pytest.mark.parametrize("clip", CLIPS)
def test_each_part_is_clipped(daemon, name, clip):
    """The optimizer gets what is made of the last part and the clipped ones."""
    norms, stats = trained(
        daemon, name, CLIPS[clip], parts=2,
        between=lambda model, i: CLIPS[clip](model.parameters()))
    # Before the last clip of each step, which is the second part's.
    assert stats.bad_input == 0
    last = []
    trained(daemon, name + "-again", lambda parameters: None, parts=2,
            between=lambda model, i: (
                last.append(norm_of(model)),
                CLIPS[clip](model.parameters())))
    assert abs(told(daemon, name) - last[-1]) < 1e-3 * last[-1]


@needs_parts
def test_the_first_nan_of_a_part_is_that_parameter_s(daemon, name):
    seen = set()

    def spoil(model, i):
        if i == 20 and i not in seen:
            seen.add(i)
            model[2].weight.grad[0, 0] = math.nan
        clip_grad_norm_(model.parameters(), 1e-3)

    trained(daemon, name, CLIPS["norm"], parts=2, between=spoil)
    bad = Verdict(daemon, name).bad_ops()
    gradients = {op: step for (op, slot), step in bad.items()
                 if slot == "grad_input"}
    assert gradients == {"2.weight": 20}, bad


def test_a_norm_that_is_asked_for_is_no_look(daemon, name):
    """Of gradients that are accumulated, at the first part."""
    torch.manual_seed(1)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(STEPS):
            optimizer.zero_grad()
            for part in range(3):
                loss = model(torch.randn(8, 4)).square().mean()
                loss.backward()
                gradients = [p.grad for p in model.parameters()]
                norm = float(torch.stack(
                    [g.norm() for g in gradients]).norm())
                if hasattr(nn.utils, "get_total_norm"):
                    nn.utils.get_total_norm(gradients)
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    assert abs(told(daemon, name) - norm) < 1e-3 * norm


class Turns(nn.Module):
    """A trunk that is not trained, and heads that are, in turns."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(16, 32).requires_grad_(False)
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
            for _ in range(3))

    def forward(self, x, turn):
        return self.heads[turn](self.trunk(x))


@needs_parts
def test_heads_in_turns_are_looked_at_before_they_are_clipped(daemon, name):
    """A backward pass reaches some of the parameters alone."""
    torch.manual_seed(1)
    model = Turns()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(35):
            loss = 30 * model(torch.randn(8, 16), i % 3).square().mean()
            optimizer.zero_grad()
            loss.backward()
            if i == 34:
                model.heads[1][2].weight.grad[0, 0] = math.nan
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    bad = Verdict(daemon, name).bad_ops()
    assert bad == {("heads.1.2.weight", "grad_input"): 34}, bad


@needs_parts
def test_norms_of_two_optimizers_after_their_updates(daemon, name):
    """One scaler, a loss each."""
    torch.manual_seed(1)
    models = [nn.Linear(16, 32), nn.Linear(16, 4)]
    optimizers = [torch.optim.SGD(m.parameters(), lr=1e-7) for m in models]
    scaler = torch.amp.GradScaler("cpu")
    with nanwatch.torch.watch(
            nn.ModuleList(models), {"a": optimizers[0], "b": optimizers[1]},
            scaler, run=name, address=daemon.address) as watch:
        for _ in range(8):
            for model, optimizer in zip(models, optimizers):
                loss = model(torch.randn(8, 16)).square().mean()
                optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
            scaler.update()
            for model in models:
                clip_grad_norm_(model.parameters(), math.inf)
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0


def test_what_a_closure_computes_is_looked_at_once(daemon, name, monkeypatch):
    looks, measure = [], Followed.measure_gradients
    monkeypatch.setattr(Followed, "measure_gradients", lambda *a, **more: (
        looks.append(1), measure(*a, **more)))
    model = nn.Linear(16, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5)
    x, truth = torch.randn(64, 16), torch.randn(64, 4)

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - truth).square().mean()
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        return loss

    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(3):
            watch.step(optimizer.step(closure))
    assert len(looks) == 3


@needs_parts
def test_a_discarded_part_is_not_the_next_one_s(daemon, name):
    """Not finite, so the program begins anew with the next batch."""
    def dropped(model, i):
        if i == 20:
            model[2].weight.grad[0, 0] = math.nan
            clip_grad_norm_(model.parameters(), 1.0)
            for parameter in model.parameters():
                parameter.grad = None
            model(torch.randn(8, 16)).square().mean().backward()

    trained(daemon, name, CLIPS["norm"], between=dropped)
    it = Verdict(daemon, name)
    assert it.worst == "" and it.bad_ops() == {}, it


@pytest.mark.parametrize("told_too", [False, True])
def test_an_update_that_a_program_skips_beside_a_scaler(
        daemon, name, told_too):
    """By itself, where the norm is not finite: the next step is sound."""
    torch.manual_seed(1)
    model = nn.Linear(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    with nanwatch.torch.watch(model, optimizer, scaler, run=name,
                              address=daemon.address) as watch:
        for i in range(STEPS):
            loss = model(torch.randn(8, 16)).square().mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            if i == 20:
                model.weight.grad[0, 0] = math.inf
            scaler.unscale_(optimizer)
            norm = clip_grad_norm_(model.parameters(), 1.0)
            if not torch.isfinite(norm):
                scaler.update()
                if told_too:
                    watch.step(loss)
                continue
            scaler.step(optimizer)
            scaler.update()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst in ("", "info"), it
    assert it.steps == STEPS - (not told_too), it
    assert int(it.summary.get("skipped", 0)) == told_too, it
