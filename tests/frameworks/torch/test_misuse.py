"""What a training does wrong costs it a warning and nothing else."""

import logging

import pytest
import torch
from models import Training
from torch import nn

import nanwatch


@pytest.fixture
def watch(daemon, name):
    training = Training("pictures")
    it = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        address=daemon.address)
    it.training = training
    yield it
    it.close(5)


def warnings(caplog):
    return [r for r in caplog.records if r.name == "nanwatch"]


@pytest.mark.parametrize("loss", [
    "a string", torch.zeros(3), torch.zeros(()) + 1j, {"loss": 1}, 1j])
def test_a_loss_that_is_none(watch, caplog, loss):
    for _ in range(3):
        watch.training.step()
        watch.step(loss)
    assert watch.run.stats.bad_input == 3
    assert len(warnings(caplog)) == 1
    assert watch.flush(10) and watch.run.stats.acked > 0


@pytest.mark.parametrize("loss", [
    None, 1, 1.5, float("nan"), torch.tensor([2.0]), torch.tensor(3)])
def test_a_loss_that_is_one(watch, caplog, loss):
    watch.training.step()
    watch.step(loss)
    assert watch.run.stats.bad_input == 0 and not warnings(caplog)


@pytest.mark.parametrize("number", ["7", torch.tensor(7), 1.5, 1 << 70])
def test_a_step_that_is_none(watch, caplog, number):
    for _ in range(3):
        loss = watch.training.step()
        watch.step(loss, step=number)
    assert watch.run.stats.bad_input > 0
    assert len(warnings(caplog)) == 1


def test_a_closed_watch(watch, caplog):
    watch.close(5)
    for _ in range(3):
        watch.step(watch.training.step())
    assert len(warnings(caplog)) == 1
    assert watch.close(5) is False


def test_two_watches_of_one_model(watch, caplog, daemon):
    training = watch.training
    again = nanwatch.torch.watch(training.model, training.optimizer,
                                 training.scaler, address=daemon.address)
    assert again is watch and len(warnings(caplog)) == 1


def test_a_model_without_parameters(daemon, name, caplog):
    with nanwatch.torch.watch(nn.ReLU(), run=name,
                              address=daemon.address) as watch:
        for _ in range(3):
            watch.step(1.0)
        assert watch.flush(10) and watch.run.stats.acked == 3
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("model, optimizer, scaler", [
    (None, None, None), (nn.Linear(1, 1), "adam", None),
    (nn.Linear(1, 1), None, "scaler"), ("model", None, None)])
def test_things_that_are_none(daemon, caplog, model, optimizer, scaler):
    with nanwatch.torch.watch(model, optimizer, scaler,
                              address=daemon.address) as watch:
        watch.step(1.0)
        watch.step(2.0)
        assert watch.should_stop == ""
    assert len(warnings(caplog)) >= 1


def test_a_name_of_ten_megabytes(daemon, caplog):
    model = nn.Linear(1, 1)
    with nanwatch.torch.watch(model, run="n" * (10 << 20), level="no such",
                              address=daemon.address) as watch:
        watch.step(1.0)
        assert watch.flush(10)
    assert len(warnings(caplog)) == 2  # the name, and the level


def test_hooks_that_fail_are_counted(watch, caplog, monkeypatch):
    def fails(*args, **more):
        raise RuntimeError("out of memory")

    monkeypatch.setattr("nanwatch._torch.optimizers.Sizes", fails)
    for _ in range(3):
        watch.step(watch.training.step())
    assert watch.run.stats.bad_input >= 3 and len(warnings(caplog)) == 1
    assert "out of memory" in caplog.text


def test_without_a_daemon_it_trains(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    training = Training("pictures")
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler,
        address=f"unix:{tmp_path}/none.sock", buffer_rows=64)
    for _ in range(100):
        watch.step(training.step())
    assert len(watch.run._rows) <= 64 * 9
    assert watch.close(0.1) is False
    assert not warnings(caplog)


def test_sparse_gradients_and_none_at_all(daemon, name, caplog):
    embedding = nn.Embedding(10, 4, sparse=True)
    unused = nn.Linear(2, 2)
    model = nn.ModuleList([embedding, unused])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with nanwatch.torch.watch(model, optimizer, run=name, level="layers",
                              address=daemon.address) as watch:
        for _ in range(10):
            optimizer.zero_grad()
            loss = embedding(torch.tensor([1, 2, 3])).square().sum()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(10) and watch.run.stats.bad_input == 0
    assert not warnings(caplog)
