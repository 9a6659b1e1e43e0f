"""Updates that learn nothing, or not from their gradients: each is said, with
its cure; and nothing is said of loops that look like them."""

import made_wrong
import pytest
import torch
from made_wrong import RIGHT, WRONG, batches, net
from torch import nn
from verdicts import Verdict

import nanwatch


def train(daemon, name, loop, steps=120, model=None, optimizer=None,
          from_step=0):
    """`loop` from a step on, and before it as it should be."""
    model = model or net()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.02)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(steps)):
            loss = (model(x) - y).square().mean()
            its = loop if i >= from_step else made_wrong.right
            its(model, optimizer, loss, i)
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def is_said(it, words, worst=("warning", "critical")):
    assert it.worst in worst, it
    assert it.cause == "update_made_wrong", it
    assert words in it.headline, it
    assert it.causes[0]["actions"], it


@pytest.mark.parametrize("loop", RIGHT, ids=lambda loop: loop.__name__)
def test_what_is_right(daemon, name, loop, device):
    it = train(daemon, name, loop)
    assert it.worst == "", it


@pytest.mark.parametrize(
    "loop,words", WRONG, ids=lambda each: getattr(each, "__name__", ""))
def test_what_is_wrong_from_the_start(daemon, name, loop, words, device):
    it = train(daemon, name, loop)
    is_said(it, words)
    assert it.step <= 2, it


@pytest.mark.parametrize(
    "loop,words", WRONG, ids=lambda each: getattr(each, "__name__", ""))
def test_what_becomes_wrong(daemon, name, loop, words):
    it = train(daemon, name, loop, 300, from_step=100)
    is_said(it, words)
    # What is not followed at each update is seen some later.
    assert 100 <= it.step <= 120, it


@pytest.mark.parametrize("n", [2, 4, 10])
@pytest.mark.parametrize("from_step", [0, 100])
def test_some_updates_with_gradients_of_the_past(daemon, name, n, from_step,
                                                 device):
    it = train(daemon, name, made_wrong.clears_each(n), 400,
               from_step=from_step)
    is_said(it, "not cleared between updates")
    assert "gradients of the past" in it.headline, it
    assert from_step <= it.step <= from_step + (250 if from_step else 32), it


def test_a_rate_of_0_at_the_end_of_a_schedule_is_a_note(daemon, name):
    it = train(daemon, name, made_wrong.no_rate, 300, from_step=270)
    assert it.worst == "info" and "learning rate is 0" in it.headline, it


def test_weights_of_another_model(daemon, name):
    other = torch.optim.SGD(net().parameters(), lr=0.02)
    it = train(daemon, name, made_wrong.right, optimizer=other)
    is_said(it, "holds other weights")


def test_weights_that_were_replaced(daemon, name):
    """As by what makes a model anew from its state."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for layer in (model[0], model[2]):
        layer.weight = nn.Parameter(layer.weight.detach().clone())
        layer.bias = nn.Parameter(layer.bias.detach().clone())
    it = train(daemon, name, made_wrong.right, model=model,
               optimizer=optimizer)
    is_said(it, "holds other weights")


def scaled(daemon, name, loop, scale=2.0**10, rate=1e-6):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    with nanwatch.torch.watch(model, optimizer, scaler, run=name,
                              address=daemon.address) as watch:
        for x, y in batches(120):
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            loop(model, optimizer, scaler)
            watch.step(loss)
    return Verdict(daemon, name)


def unscales(model, optimizer, scaler):
    scaler.step(optimizer)
    scaler.update()


def unscales_and_clips(model, optimizer, scaler):
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    unscales(model, optimizer, scaler)


def asks_for_the_norm(model, optimizer, scaler):
    """Of what is scaled: its limit cuts nothing."""
    nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    unscales(model, optimizer, scaler)


def limits_nothing(model, optimizer, scaler):
    nn.utils.clip_grad_value_(model.parameters(), 1e30)
    unscales(model, optimizer, scaler)


def clips_values(model, optimizer, scaler):
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    unscales(model, optimizer, scaler)


def clips_what_is_scaled(model, optimizer, scaler):
    nn.utils.clip_grad_norm_(model.parameters(), 0.7321)
    unscales(model, optimizer, scaler)


def unscales_alone(model, optimizer, scaler):
    scaler.unscale_(optimizer)
    optimizer.step()
    scaler.update()


def unscales_by_hand(model, optimizer, scaler):
    for p in model.parameters():
        p.grad /= scaler.get_scale()
    optimizer.step()


def never_unscales(model, optimizer, scaler):
    optimizer.step()


@pytest.mark.parametrize("loop", [
    unscales, unscales_and_clips, unscales_alone, unscales_by_hand,
    asks_for_the_norm, limits_nothing])
def test_scaled_and_unscaled(daemon, name, loop):
    it = scaled(daemon, name, loop, rate=1e-3)
    assert it.worst == "", it


def test_never_unscaled(daemon, name):
    is_said(scaled(daemon, name, never_unscales), "never unscaled")


@pytest.mark.parametrize("loop", [clips_values, clips_what_is_scaled])
def test_clipped_before_unscaling(daemon, name, loop, device):
    it = scaled(daemon, name, loop)
    assert it.worst == "warning" and it.cause == "scaler_misuse", it
    assert "clipped before they are unscaled" in it.headline, it


def test_gradients_of_0_that_are_clipped(daemon, name):
    """Nobody clears them: that a clip writes to them is none of it."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

    def loop(model, optimizer, loss, i):
        optimizer.zero_grad()
        (loss * 0.0).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    it = train(daemon, name, loop, model=model, optimizer=optimizer)
    is_said(it, "exactly 0")


def test_labels_that_are_all_ignored(daemon, name):
    """Their mean is NaN, and its gradients are exactly 0."""
    model = nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    ignored = torch.full((32,), -100)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for x, _ in batches(150):
            loss = nn.functional.cross_entropy(model(x), ignored)
            made_wrong.clips(model, optimizer, loss, 0)
            watch.step(loss)
    it = Verdict(daemon, name)
    assert it.worst == "critical", it
    assert all(each["cause"] != "update_made_wrong" for each in it.causes), it


def test_a_loss_of_0_from_the_start_learns_nothing(daemon, name):
    """Of a margin that all samples keep from the first step on. Its updates
    are made as they should be."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for x, _ in batches(150):
            loss = nn.functional.relu(model(x) - 100.0).mean()
            made_wrong.right(model, optimizer, loss, 0)
            watch.step(loss)
    it = Verdict(daemon, name)
    assert it.worst == "warning", it
    assert "nothing is learned" in it.headline, it


def test_two_models_that_take_turns(daemon, name):
    """A generator's backward pass goes through its discriminator, whose
    gradients are cleared before its own."""
    models = nn.ModuleDict({"g": net(), "d": net()})
    optimizers = {k: torch.optim.Adam(m.parameters(), lr=1e-3)
                  for k, m in models.items()}
    with nanwatch.torch.watch(models, optimizers, run=name,
                              address=daemon.address) as watch:
        for x, y in batches(150):
            optimizers["d"].zero_grad()
            d = (models["d"](x) - y).square().mean()
            d.backward()
            optimizers["d"].step()
            optimizers["g"].zero_grad()
            g = models["d"](x + models["g"](x)).square().mean()
            g.backward()
            optimizers["g"].step()
            watch.step(d.detach() + g.detach())
    it = Verdict(daemon, name)
    assert it.worst in ("", "info"), it


def test_parts_that_are_trained_in_turns(daemon, name):
    """An optimizer that is called without gradients, while another has some."""
    models = nn.ModuleDict({"a": net(), "b": net()})
    optimizers = {k: torch.optim.SGD(m.parameters(), lr=1e-2)
                  for k, m in models.items()}
    with nanwatch.torch.watch(models, optimizers, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(150)):
            which = "a" if i < 75 else "b"
            loss = (models[which](x) - y).square().mean()
            for each in optimizers.values():
                each.zero_grad()
            loss.backward()
            for each in optimizers.values():
                each.step()
            watch.step(loss)
    it = Verdict(daemon, name)
    # The second part begins where the first did: its loss jumps.
    assert it.worst != "critical", it
    assert it.cause != "update_made_wrong", it


def in_bf16(daemon, name, optimizer_of, steps=200):
    model = net(64).to(torch.bfloat16)
    optimizer = optimizer_of(model.parameters())
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for x, y in batches(steps):
            out = model(x.to(torch.bfloat16)).float()
            loss = (out - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            watch.step(loss)
    return Verdict(daemon, name)


@pytest.mark.parametrize("kind,rate", [("SGD", 1e-6), ("AdamW", 1e-7)])
def test_updates_that_bf16_rounds_away(daemon, name, kind, rate, device):
    it = in_bf16(daemon, name, lambda p: getattr(torch.optim, kind)(
        p, lr=rate))
    assert it.worst == "warning" and it.cause == "update_lost", it
    assert it.step <= 80, it


@pytest.mark.parametrize("kind,rate", [("SGD", 1e-2), ("AdamW", 1e-3)])
def test_updates_that_bf16_takes(daemon, name, kind, rate):
    it = in_bf16(daemon, name, lambda p: getattr(torch.optim, kind)(
        p, lr=rate))
    assert it.worst == "", it


def test_a_warm_up_in_bf16(daemon, name):
    """Its first rates are too low, and rise."""
    class Rises(torch.optim.AdamW):
        def step(self, closure=None):
            self.param_groups[0]["lr"] += 1e-3 / 200
            return super().step(closure)

    it = in_bf16(daemon, name, lambda p: Rises(p, lr=0.0))
    assert it.worst == "", it
