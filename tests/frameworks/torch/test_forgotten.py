"""A watch that nobody closes: a cell of a notebook that runs again."""

import copy
import gc
import pickle
import time
import weakref

import numpy
import pytest
import torch
from accelerate import Accelerator
from forgotten import wait
from tiny_gpt2 import gpt2, trainer
from torch import nn

import nanwatch
from nanwatch._run import Run

STEPS = 20


def train(model, optimizer, scaler, watch, steps=STEPS):
    for _ in range(steps):
        loss = model(torch.randn(8, 16)).square().mean()
        optimizer.zero_grad()
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        watch.step(loss)


def cell(run, address, scaler=None, level="default"):
    """Its model, and what only goes when the memory of that does."""
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    # The garbage collector does not know of arrays: no weak reference to one
    # is cleared before it is freed.
    model.array = numpy.zeros(8)
    optimizer = torch.optim.Adam(model.parameters())
    watch = nanwatch.torch.watch(
        model, optimizer, scaler, run=run, level=level, address=address
    )
    train(model, optimizer, scaler, watch)
    return model, optimizer, watch


def is_freed(array):
    """Of what the sender had in hand, the next collection knows."""
    gc.collect()
    return array() is None


@pytest.fixture
def closed(monkeypatch):
    """Of each close of a run, which waits for the daemon, its arguments."""
    calls, close = [], Run.close
    monkeypatch.setattr(Run, "close", lambda *a: (calls.append(a), close(*a)))
    return calls


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("scaled", [False, True])
def test_all_is_freed_and_the_run_is_closed(
        daemon, name, scaled, level, closed):
    scaler = torch.amp.GradScaler("cpu") if scaled else None  # stays
    freed = []
    for i in range(3):
        model, optimizer, watch = cell(f"{name}-{i}", daemon.address, scaler, level)
        run = watch.run
        freed.append(weakref.ref(model.array))
    del model, optimizer, watch
    gc.collect()
    assert wait(lambda: all(map(is_freed, freed)))
    assert wait(lambda: run._shared.ended)
    assert run.stats.acked == run.stats.pushed >= STEPS and not closed
    for i in range(3):
        said = daemon.nanwatch("diagnose", f"{name}-{i}").stdout
        assert "all ranks closed" in said, said
        assert f"{STEPS} updates" in said, said


def test_without_a_daemon_too(tmp_path, closed):
    model, optimizer, watch = cell("r", f"unix:{tmp_path}/none.sock")
    run, array = watch.run, weakref.ref(model.array)
    del model, optimizer, watch
    gc.collect()
    assert wait(lambda: is_freed(array))
    assert wait(lambda: run._shared.ended)
    assert run not in nanwatch._process._runs and not closed


def test_hooks_stay_for_as_long_as_the_model(daemon, name):
    model, optimizer, watch = cell(name, daemon.address)
    run, reference = watch.run, weakref.ref(watch)
    del watch
    gc.collect()
    assert reference() is not None
    train(model, optimizer, None, reference())
    # A copy and a pickle hold nothing.
    for other in (
        copy.deepcopy(model),
        copy.copy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        assert "__getstate__" not in vars(other)
    del other
    del optimizer  # the model has it yet
    gc.collect()
    assert reference() is not None
    assert reference().close(10) and run.stats.acked >= 2 * STEPS
    assert "__getstate__" not in vars(model)


def test_of_a_run_that_stays(daemon, name):
    with nanwatch.init(run=name, address=daemon.address) as run:
        for _ in range(2):
            model, optimizer, watch = cell(run, daemon.address)
            array = weakref.ref(model.array)
            del model, optimizer, watch
            gc.collect()
            assert wait(lambda: is_freed(array))
        assert run.flush(10) and run.stats.acked >= 2 * STEPS


def test_a_scaler_that_stays_tells_the_next_watch(daemon, name):
    scaler = torch.amp.GradScaler("cpu")
    cell(name + "-1", daemon.address, scaler)
    gc.collect()
    model, optimizer, watch = cell(name, daemon.address, scaler)
    time.sleep(0.5)
    train(model, optimizer, scaler, watch)
    assert watch.close(10) and watch.run.stats.bad_input == 0
    numbers = daemon.nanwatch("diagnose", name).stdout
    assert "loss scale 65536" in numbers, numbers


def test_a_trainer_that_was_interrupted(daemon, name, tmp_path):
    class Stops(nanwatch.transformers.Callback):
        def on_step_end(self, args, state, control, **more):
            super().on_step_end(args, state, control, **more)
            if state.global_step == 10:
                raise KeyboardInterrupt

    before = Accelerator.backward
    model = gpt2()
    model.array = numpy.zeros(8)
    array = weakref.ref(model.array)
    callback = Stops(run=name, address=daemon.address)
    with pytest.raises(KeyboardInterrupt):
        trainer(tmp_path, callback, 30, model).train()
    run = callback.watch.run
    assert Accelerator.backward is not before
    del model, callback
    gc.collect()
    assert Accelerator.backward is before
    assert wait(lambda: is_freed(array))
    assert wait(lambda: run._shared.ended) and run.stats.acked >= 10
