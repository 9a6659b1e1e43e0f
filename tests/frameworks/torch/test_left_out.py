"""Updates that a program leaves out, after a backward pass and without a
scaler; and parts of an accumulated step, which are none."""

import math
import threading

import pytest
import torch
from models import Training
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT = 40
STEPS = 60


def training():
    return Training("pictures", dtype=torch.float32, scaler=None)


def watched(it, daemon, name):
    return nanwatch.torch.watch(
        it.model, it.optimizer, run=name, address=daemon.address)


def backward(it, bad=False, over=1):
    x, y = it.batches()
    loss = it.forward(x * math.nan if bad else x, y) / over
    loss.backward()
    return loss


def counted(daemon, name):
    """Updates, skipped ones, and the last step."""
    it = Verdict(daemon, name)
    return (it.steps, int(it.summary.get("skipped", 0)),
            int(it.summary["last_step"]))


@pytest.mark.parametrize("bad", [
    range(FAULT, STEPS), [FAULT], range(STEPS), [STEPS - 1]])
def test_a_loss_that_is_not_finite(daemon, name, bad):
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, i in bad)
        if loss.isfinite():
            it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert found.cause == "nan_from_forward", found
    # Modules are looked at once a step was bad.
    assert found.step in (bad[0], bad[0] + 1), found
    assert counted(daemon, name) == (STEPS, len(bad), STEPS - 1)


@pytest.mark.parametrize("bad", [range(FAULT, STEPS), [FAULT]])
def test_gradients_that_are_not(daemon, name, bad):
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it)
        if i in bad:
            next(it.model.parameters()).grad.fill_(math.nan)
        if all(p.grad.isfinite().all() for p in it.model.parameters()):
            it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    if len(bad) > 1:  # healthy runs have one
        assert found.worst == "critical" and found.step == FAULT, found
    assert ("features.0.weight", "grad_input") in found.bad_ops(), found
    assert counted(daemon, name) == (STEPS, len(bad), STEPS - 1)


@pytest.mark.parametrize("number", [None, 1000])
def test_a_guard_before_the_backward_pass(daemon, name, number):
    """The commonest of all."""
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        x, y = it.batches()
        loss = it.forward(x * math.nan if i == FAULT else x, y)
        told = None if number is None else number + i
        it.optimizer.zero_grad()
        if loss.isfinite():
            loss.backward()
            it.optimizer.step()
        watch.step(loss, step=told)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert found.worst == "warning" and found.cause == "nan_from_forward", found
    assert found.step == FAULT + (number or 0), found
    assert counted(daemon, name) == (STEPS, 1, STEPS - 1 + (number or 0))


@pytest.mark.parametrize("bad", ["batch", "gradient"])
@pytest.mark.parametrize("zeroed_first", [True, False])
def test_parts_that_are_left_out_together(daemon, name, bad, zeroed_first):
    """Each is told; the program looks at the norm of all."""
    it = training()
    watch = watched(it, daemon, name)
    parameters = list(it.model.parameters())
    for i in range(20):
        for part in range(4):
            here = i == 15 and part == 1
            loss = backward(it, here and bad == "batch", 4)
            if here and bad == "gradient":
                parameters[0].grad.view(-1)[0] = math.nan
            if part == 3:
                norm = nn.utils.clip_grad_norm_(parameters, 1.0)
                if norm.isfinite():
                    it.optimizer.step()
                if zeroed_first:
                    it.optimizer.zero_grad()
            watch.step(loss)
        it.optimizer.zero_grad()
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert counted(daemon, name) == (20, 1, 19), found
    assert found.worst == ("warning" if bad == "batch" else ""), found


def left_out_before_a_nan(daemon, name, bad_at, **how):
    """An update is, at FAULT, and its gradients are gone; a NaN is applied."""
    it = training()
    watch = nanwatch.torch.watch(
        it.model, it.optimizer, run=name, address=daemon.address, **how)
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, i == bad_at)
        if i == FAULT:
            it.optimizer.zero_grad()
        else:
            it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert counted(daemon, name) == (STEPS, 1, STEPS - 1), found
    assert found.cause == "nan_from_forward" and found.step == bad_at, found
    return found


@pytest.mark.parametrize("level", ["default", "ops"])
def test_a_norm_of_its_own_and_gradients_gone(daemon, name, level):
    """Seen by nobody but the program: the step is told all the same, when the
    next one begins, and those behind it have their numbers."""
    left_out_before_a_nan(daemon, name, FAULT + 10, level=level)


@pytest.mark.parametrize("bad", ["batch", "gradient"])
def test_nobody_says_a_word_of_any_update(daemon, name, bad):
    """A program that discards all of them is not healthy."""
    it = training()
    watch = watched(it, daemon, name)
    parameters = list(it.model.parameters())
    for i in range(2 * STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, i >= FAULT and bad == "batch")
        if i >= FAULT and bad == "gradient":
            parameters[0].grad.view(-1)[0] = math.nan
        if not nn.utils.clip_grad_norm_(parameters, 1.0).isfinite():
            continue
        it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert found.worst == "critical", found
    # Modules are looked at once a step was bad.
    assert found.step in (FAULT, FAULT + 1), found
    assert found.cause == ("nan_from_forward" if bad == "batch"
                           else "nan_from_backward"), found
    assert int(found.summary["applied"]) == FAULT, found


def test_a_later_fault_is_not_laid_to_what_was_left_out(daemon, name):
    it = training()
    watch = watched(it, daemon, name)
    parameters = list(it.model.parameters())
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, i == FAULT)
        if i == FAULT // 2:
            parameters[0].grad.view(-1)[0] = math.nan
        norm = nn.utils.clip_grad_norm_(parameters, 1.0)
        if i != FAULT // 2 or norm.isfinite():
            it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert found.cause == "nan_from_forward" and found.step == FAULT, found
    assert len(found.causes) == 1, found


def test_evaluations_of_a_closure_are_no_updates(daemon, name):
    it = training()
    optimizer = torch.optim.LBFGS(it.model.parameters(), lr=0.1, max_iter=4)
    watch = nanwatch.torch.watch(it.model, optimizer, run=name,
                                 address=daemon.address)
    x, y = it.batches()

    def closure():
        optimizer.zero_grad()
        loss = it.forward(x * math.nan if i >= 5 else x, y)
        loss.backward()
        return loss

    for i in range(10):
        watch.step(optimizer.step(closure))
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (10, 0, 9)


def test_gradients_that_are_gathered_elsewhere(daemon, name):
    """In fp32, say, and taken away after each part."""
    it = training()
    watch = watched(it, daemon, name)
    parameters = list(it.model.parameters())
    for _ in range(20):
        sums = [torch.zeros_like(p) for p in parameters]
        for part in range(4):
            loss = backward(it, over=4)
            for p, gathered in zip(parameters, sums):
                gathered.add_(p.grad)
                p.grad = gathered if part == 3 else None
            if part == 3:
                it.optimizer.step()
                it.optimizer.zero_grad()
            watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (20, 0, 19)


def test_losses_that_are_told_before_the_backward_pass(
        daemon, name, monkeypatch):
    """As Lightning's callback tells them: the one after an update that was left
    out is its own."""
    it = training()
    watch = watched(it, daemon, name)
    told, tell = [], watch._teller.tell
    monkeypatch.setattr(
        watch._teller, "tell",
        lambda step: (told.append(step.loss), tell(step)))
    for i in range(STEPS):
        it.optimizer.zero_grad()
        x, y = it.batches()
        loss = it.forward(x, y)
        watch.add_loss(loss)
        loss.backward()
        if i != FAULT:
            it.optimizer.step()
        watch.step()
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (STEPS, 1, STEPS - 1)
    assert len(told) == STEPS and None not in told, told


@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize("every", [1, 19])
def test_evaluations_beside_an_update_that_is_left_out(
        daemon, name, bad, every):
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, bad and i == FAULT)
        if i != FAULT:
            it.optimizer.step()
        watch.step(loss)
        if i % every == 0:
            watch.step(0.5)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (STEPS, 1, STEPS - 1)
    assert Verdict(daemon, name).worst == ("warning" if bad else "")


def test_gradients_of_no_update_are_discarded_at_each_step(daemon, name):
    """Ten of an adversary's, before those of the step."""
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        for _ in range(10):
            backward(it, i >= FAULT)
            it.optimizer.zero_grad()
        loss = backward(it, i >= FAULT)
        it.optimizer.step()
        it.optimizer.zero_grad()
        watch.step(loss, step=i)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (STEPS, 0, STEPS - 1)


def test_one_that_is_discarded_is_counted_once(daemon, name):
    """Passes of another model go on."""
    it = training()
    watch = watched(it, daemon, name)
    other = nn.Linear(2, 1)
    for i in range(STEPS):
        it.optimizer.zero_grad()
        loss = backward(it, i == FAULT)
        if i == FAULT:
            it.optimizer.zero_grad()
            for _ in range(20):
                other(torch.ones(1, 2)).sum().backward()
            continue
        it.optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).worst == ""
    assert counted(daemon, name) == (STEPS - 1, 0, STEPS - 2)


def test_modules_of_the_next_forward_pass_are_the_next_step_s(daemon, name):
    """A NaN right behind an update that is left out, and told late."""
    found = left_out_before_a_nan(daemon, name, FAULT + 1, level="ops",
                                  budget=1e9)
    assert found.origin["op"] == "features.0", found


def test_gradients_that_nobody_has_any_more(daemon, name):
    """One after another, from FAULT on."""
    it = training()
    watch = watched(it, daemon, name)
    for i in range(STEPS):
        loss = backward(it)
        if i < FAULT:
            it.optimizer.step()
        it.optimizer.zero_grad()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input > 0
    assert counted(daemon, name) == (STEPS, STEPS - FAULT, STEPS - 1)


def test_an_optimizer_that_is_never_called(daemon, name, caplog):
    it = training()
    watch = watched(it, daemon, name)
    for _ in range(80):
        it.optimizer.zero_grad()
        watch.step(backward(it))
    assert watch.close(20) and watch.run.stats.bad_input > 0
    assert caplog.text.count("no optimizer that watch() was given was called in 65 steps") == 1
    found = Verdict(daemon, name)
    assert found.worst == "critical"
    assert found.cause == "update_made_wrong" and found.step == 0, found
    assert "step() is not called" in found.headline
    assert counted(daemon, name) == (80, 80, 79)


@pytest.mark.parametrize("parts", [
    [4] * 20, [80] * 2, [1] * 20 + [4] * 10 + [16] * 2, [4, 4, 1] * 6])
@pytest.mark.parametrize("set_to_none", [True, False])
def test_parts_are_not_left_out(daemon, name, parts, set_to_none):
    it = training()
    watch = watched(it, daemon, name)
    for count in parts:
        it.optimizer.zero_grad(set_to_none)
        for part in range(count):
            loss = backward(it, over=count)
            if part == count - 1:
                it.optimizer.step()
            watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (len(parts), 0, len(parts) - 1)


class Heads(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, 4) for _ in range(heads))

    def forward(self, x, heads):
        x = self.body(x)
        return sum(self.heads[head](x).square().mean() for head in heads)


@pytest.mark.parametrize("heads_of_a_part", [
    lambda i: [0, 1] if i % 2 else [0],
    lambda i: [1 + i % 4],
    lambda i: [i * i % 5],
])
def test_parts_that_reach_some_of_the_parameters(
        daemon, name, heads_of_a_part):
    torch.manual_seed(1)
    model = Heads(5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    steps, parts = 8, 100
    for i in range(steps * parts):
        loss = model(torch.randn(4, 16), heads_of_a_part(i)) / parts
        loss.backward()
        if i % parts == parts - 1:
            optimizer.step()
            optimizer.zero_grad()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == steps, it


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_a_bad_part_is_one_update(daemon, name, bad):
    it = training()
    watch = watched(it, daemon, name)
    for i in range(20):
        it.optimizer.zero_grad()
        for part in range(4):
            loss = backward(it, i == 15 and part == bad, 4)
            if part == 3:
                it.optimizer.step()
            watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    found = Verdict(daemon, name)
    assert found.cause == "nan_from_forward" and found.step == 15, found
    assert counted(daemon, name) == (20, 0, 19)


@pytest.mark.parametrize("bad", [False, True])
def test_what_is_held_at_the_end(daemon, name, bad):
    """The parts of a step that never comes are told if one is not finite."""
    it = training()
    watch = watched(it, daemon, name)
    for count in [4] * 10 + [2]:
        it.optimizer.zero_grad()
        for part in range(count):
            loss = backward(it, bad and count == 2 and part == 0, 4)
            if part == 3:
                it.optimizer.step()
            watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (10 + bad, int(bad), 9 + bad)


def test_a_thread_that_only_tells_looks_at_no_gradient(daemon, name):
    """The backward pass of another one may be writing it."""
    it = training()
    watch = watched(it, daemon, name)
    it.optimizer.zero_grad()
    loss = backward(it)
    it.optimizer.step()
    watch.step(loss)
    backward(it)
    next(it.model.parameters()).grad.fill_(math.nan)

    def tell():
        for _ in range(3):
            watch.step(1.0)

    teller = threading.Thread(target=tell)
    teller.start()
    teller.join()
    assert watch.close(20) and counted(daemon, name)[1] == 0
