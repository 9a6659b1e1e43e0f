"""A Trainer and an Accelerator, each with a GPT-2 of a few thousand weights."""

import math
import pathlib

import pytest
import torch
from accelerate import Accelerator
from daemons import BIN
from ranks import ranks_say
from tiny_gpt2 import Counting, gpt2, trainer
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout

HERE = pathlib.Path(__file__).resolve().parent


def test_trainer(daemon, name, tmp_path):
    callback = nanwatch.transformers.Callback(run=name, address=daemon.address)
    trainer(tmp_path, callback, 30, gradient_accumulation_steps=2).train()
    assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 30, it
    assert it.summary["last_step"] == "30", "the Trainer's own numbers"
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert 0 < values["grad_norm"] and 0 < values["learning_rate"] <= 1e-3
    # Of the step's two parts together: that of guessing among 32, or less.
    assert 2.0 < values["loss"] < 3.6
    assert not hasattr(Accelerator.backward, "__wrapped__"), "taken off"


def test_trainer_whose_optimizer_holds_other_weights(daemon, name, tmp_path):
    callback = nanwatch.transformers.Callback(run=name, address=daemon.address)
    its = trainer(tmp_path, callback, 30)
    its.optimizer = torch.optim.AdamW(gpt2().parameters(), lr=1e-3)
    its.train()
    it = Verdict(daemon, name)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "holds other weights" in it.headline, it


def test_trainer_with_a_rate_of_0(daemon, name, tmp_path):
    callback = nanwatch.transformers.Callback(run=name, address=daemon.address)
    trainer(tmp_path, callback, 30, learning_rate=0.0).train()
    it = Verdict(daemon, name)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "learning rate is 0" in it.headline, it


@pytest.mark.parametrize("same", [False, True])
def test_a_training_that_begins_again(daemon, name, tmp_path, same):
    """After one that raised, with its callback or another one."""

    class Raises(nanwatch.transformers.Callback):
        def on_step_end(self, args, state, control, **more):
            super().on_step_end(args, state, control, **more)
            if state.global_step == 10 and raised[:] == []:
                raised.append(1)
                raise RuntimeError("out of memory")

    raised = []
    model = gpt2()
    callback = Raises(run=name, address=daemon.address)
    with pytest.raises(RuntimeError):
        trainer(tmp_path, callback, 20, model).train()
    first = callback.watch
    if not same:
        callback = Raises(run=name, address=daemon.address)
    trainer(tmp_path, callback, 20, model).train()
    assert callback.watch is not first and first._closed
    assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 20, it
    assert not hasattr(Accelerator.backward, "__wrapped__"), "taken off"


def test_trainer_finds_where_a_nan_is_born(daemon, name, tmp_path):
    model = gpt2()
    mlp = model.transformer.h[1].mlp
    forward, calls = mlp.forward, []

    def poisoned(x):
        calls.append(1)
        return forward(x) * (math.nan if len(calls) >= 20 else 1.0)

    mlp.forward = poisoned
    callback = nanwatch.transformers.Callback(
        run=name, address=daemon.address, level="ops", budget=1e9)
    trainer(tmp_path, callback, 40, model).train()
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "transformer.h.1.mlp", it
    assert it.step == 20, it


def test_trainer_stops_when_it_is_asked(daemon, name, tmp_path):
    callback = nanwatch.transformers.Callback(
        run=name, address=daemon.address, stop=True)
    it = trainer(tmp_path, callback, 3000)
    step_end = callback.on_step_end

    def asks(args, state, control, **more):
        if state.global_step == 3:
            assert callback.watch.flush(10)
            daemon.nanwatch("stop", name, "--reason", "seen enough")
        step_end(args, state, control, **more)

    callback.on_step_end = asks
    it.train()
    assert 3 <= it.state.global_step < 3000


def test_ranks_stop_at_the_same_step(daemon, name):
    stopped = ranks_say(HERE / "stopping.py", daemon.address, name,
                        str(BIN / "nanwatch"), "--address", daemon.address)
    assert 20 < stopped[0] == stopped[1] < 3000


@pytest.mark.parametrize("logged", ["loss", "training_loss"])
def test_accelerate_without_hooks_tells_what_is_logged(daemon, name, logged):
    tracker = nanwatch.accelerate.Tracker(run=name, address=daemon.address)
    accelerator = Accelerator(log_with=tracker, cpu=True)
    accelerator.init_trackers("job")
    for step in range(20):
        accelerator.log({logged: torch.tensor(1.5)}, step=step)
    accelerator.log({"accuracy": 0.5}, step=20)
    run = tracker.tracker
    accelerator.end_training()
    assert run.stats.bad_input == 0, "an evaluation's, as it is everywhere"
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 20 and "loss 1.5" in it.text, it


def test_accelerate_where_nothing_is_known_it_is_said(daemon, name, caplog):
    tracker = nanwatch.accelerate.Tracker(run=name, address=daemon.address)
    for step in range(20):
        tracker.log({"my_loss": 0.5}, step=step)
    assert tracker.tracker.stats.bad_input == 1
    assert "none of the numbers" in caplog.text and "my_loss" in caplog.text
    tracker.finish()


def test_accelerate_reads_what_is_on_a_device_later(
        daemon, name, monkeypatch):
    monkeypatch.setattr(readout, "HOSTS", set())
    tracker = nanwatch.accelerate.Tracker(run=name, address=daemon.address)
    accelerator = Accelerator(log_with=tracker, cpu=True)
    accelerator.init_trackers("job")
    loss = torch.tensor(0.0)
    for step in range(20):
        loss += 1  # in place: what was logged stays what it was
        accelerator.log({"loss": loss, "lr": 0.5}, step=step)
    run = tracker.tracker
    accelerator.end_training()
    assert run.stats.bad_input == 0
    it = Verdict(daemon, name)
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert it.steps == 20 and values["loss"] == 20.0, it
    assert values["learning_rate"] == 0.5, it


def accelerated(daemon, name):
    """A training by Accelerate, which its tracker watches."""
    tracker = nanwatch.accelerate.Tracker(run=name, address=daemon.address)
    accelerator = Accelerator(log_with=tracker, cpu=True)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.init_trackers("job")
    tracker.watch(accelerator, model, optimizer)
    return accelerator, model, optimizer


def test_accelerate_without_a_loss_steps_have_their_numbers(daemon, name):
    accelerator, model, optimizer = accelerated(daemon, name)
    for step in range(40):
        optimizer.zero_grad()
        accelerator.backward(model(torch.ones(2, 4)).square().mean())
        optimizer.step()
        accelerator.log({"lr": 1e-2, "my_loss": 1.0}, step=1000 + step)
    accelerator.end_training()
    it = Verdict(daemon, name)
    assert it.steps == 40 and int(it.summary["last_step"]) == 1039, it


def test_accelerate_what_has_no_loss_ends_no_step(daemon, name):
    accelerator, model, optimizer = accelerated(daemon, name)
    for step in range(100):
        accelerator.log({"lr": 1e-2}, step=step)
        loss = model(torch.ones(2, 4)).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        if step % 10 == 9:
            accelerator.log({"train_loss": loss}, step=step)
            accelerator.log({"eval_accuracy": 0.5}, step=step // 10)
    accelerator.end_training()
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 100, it
    assert int(it.summary["last_step"]) == 99, it


@pytest.mark.parametrize("hooks", [False, True])
def test_accelerate(daemon, name, hooks):
    tracker = nanwatch.accelerate.Tracker(run=name, address=daemon.address)
    accelerator = Accelerator(log_with=tracker, cpu=True)
    torch.manual_seed(1)
    model = gpt2()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Counting(), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    accelerator.init_trackers("job")
    if hooks:
        tracker.watch(accelerator, model, optimizer)
    for step, batch in zip(range(25), loader):
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.log(
            {"train_loss": loss if hooks else loss.item()}, step=step)
    stats = tracker.tracker.stats
    accelerator.end_training()
    assert stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 25, it
    assert ("grad_norm" in {v["field"] for v in it.summary["values"]}) == hooks
