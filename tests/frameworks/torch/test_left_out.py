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
    """Attempts, skipped ones, and the last step."""
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
    # Nobody said that anything overflowed.
    assert "80 updates in a row were left out since step 0" in found.headline
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


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_a_bad_part_is_one_attempt(daemon, name, bad):
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


def test_losses_without_a_backward_pass_are_none(daemon, name):
    """Those of an evaluation, say."""
    it = training()
    watch = watched(it, daemon, name)
    for i in range(20):
        it.optimizer.zero_grad()
        loss = backward(it)
        it.optimizer.step()
        watch.step(loss)
        for _ in range(5 * (i == 10)):
            watch.step(nn.functional.mse_loss(torch.ones(2), torch.zeros(2)))
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted(daemon, name) == (20, 0, 19)


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
