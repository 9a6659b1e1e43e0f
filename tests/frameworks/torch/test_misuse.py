"""What a training does wrong costs it a warning and nothing else."""

import logging
import math

import pytest
import torch
from daemons import said_by
from models import Training
from torch import nn
from verdicts import Verdict

import nanwatch


@pytest.fixture
def watch(daemon, name):
    training = Training("pictures")
    it = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        address=daemon.address)
    it.training, it.daemon = training, daemon
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


def test_a_loss_of_no_device(watch, caplog):
    watch.training.step()
    watch.step(torch.zeros((), device="meta"))
    assert watch.run.stats.bad_input == 1
    (said,) = warnings(caplog)
    assert "loss= takes" in said.getMessage()
    assert "meta device" in said.getMessage()


@pytest.mark.parametrize("parameters", [3, [object()], "x", 1.5, object()])
def test_before_clipping_what_is_none(daemon, name, caplog, parameters):
    training = Training("pictures", scaler=None, dtype=torch.float32)
    with nanwatch.torch.watch(training.model, training.optimizer, run=name,
                              address=daemon.address) as watch:
        for _ in range(3):
            watch.before_clipping(parameters)
            watch.step(training.step())
        assert watch.flush(10)
    assert len(warnings(caplog)) <= 1
    assert Verdict(daemon, name).steps == 3


@pytest.mark.parametrize("timeout", [
    "soon", None, [], float("nan"), float("inf"), -1, 10**400])
def test_a_timeout_that_is_none(watch, caplog, timeout):
    watch.step(watch.training.step())
    watch.flush(timeout)
    watch.close(timeout)
    watch.close(timeout)
    assert len(warnings(caplog)) <= 1


def test_a_loss_that_is_left_out(daemon, name, caplog):
    """The program tells it, and goes neither backward nor to the optimizer."""
    training = Training("pictures", scaler=None, dtype=torch.float32)
    with nanwatch.torch.watch(training.model, training.optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(40):
            if i in (20, 21, 30):
                watch.step(torch.tensor(float("nan")))
            else:
                watch.step(training.step())
        assert watch.flush(10)
    it = Verdict(daemon, name)
    assert int(it.summary["last_step"]) == 39, it
    assert it.cause == "nan_from_forward" and it.step == 20, it
    assert not warnings(caplog)


def test_a_closed_watch(watch, caplog):
    assert watch.close(5)
    for _ in range(3):
        watch.step(watch.training.step())
    assert len(warnings(caplog)) == 1
    assert watch.close(5), "as it said before"


def test_two_watches_of_one_model(watch, caplog, daemon):
    training = watch.training
    again = nanwatch.torch.watch(training.model, training.optimizer,
                                 training.scaler, address=daemon.address)
    assert again is watch and len(warnings(caplog)) == 1


def test_a_training_that_begins_again(daemon, name, caplog):
    """A cell of a notebook that makes the optimizer and the watch anew."""
    model = nn.Linear(8, 1)

    def cell(bad=-1):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        watch = nanwatch.torch.watch(model, optimizer, run=name,
                                     address=daemon.address)
        for i in range(30):
            optimizer.zero_grad()
            loss = model(torch.randn(4, 8)).square().mean()
            (loss * math.nan if i == bad else loss).backward()
            optimizer.step()
            watch.step(loss)
        return watch

    first = cell()
    watch = cell(bad=20)
    assert watch is not first and first._closed
    assert len(warnings(caplog)) == 1 and "begins again" in caplog.text
    assert watch.close(10) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.step in (20, 21), it
    assert int(it.summary["last_step"]) == 29, it


def test_another_scaler_of_one_model(watch):
    training = watch.training
    again = nanwatch.torch.watch(
        training.model, training.optimizer, torch.amp.GradScaler("cpu"),
        address=watch.daemon.address)
    assert again is not watch and watch._closed
    assert again.close(10)


def test_a_training_that_begins_again_in_its_run(daemon, name):
    training = Training("pictures", scaler=None, dtype=torch.float32)
    with nanwatch.init(run=name, address=daemon.address) as run:
        for _ in range(2):
            training.optimizer = torch.optim.SGD(
                training.model.parameters(), lr=0.01)
            watch = nanwatch.torch.watch(
                training.model, training.optimizer, run=run)
            for _ in range(10):
                watch.step(training.step())
        assert run.flush(10)
    it = Verdict(daemon, name)
    assert it.steps == 20 and int(it.summary["last_step"]) == 19, it


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


@pytest.mark.parametrize("seconds", [torch.optim.Adam, torch.optim.SGD])
def test_an_optimizer_that_is_made_anew(watch, caplog, seconds):
    """Nothing of it is seen but the losses, and that is said."""
    training = watch.training
    watch.step(training.step())
    training.optimizer = seconds(training.model.parameters(), lr=1e-3)
    for _ in range(20):
        watch.step(training.step())
    assert "not by the optimizer" in caplog.text
    assert len(warnings(caplog)) == 1
    it = verdict(watch)
    assert int(it.summary["last_step"]) > 10
    (loss,) = [v for v in it.summary["values"] if v["field"] == "loss"]
    assert 0.0 < loss["last"] < 10.0


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("parts", [1, 4])
def test_a_nan_behind_an_optimizer_that_is_made_anew(
        daemon, name, caplog, fused, parts):
    """Fused ones do not raise the versions of what they update."""
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
    watch = nanwatch.torch.watch(model, optimizer, run=name,
                                 address=daemon.address)
    for i in range(60):
        if i == 20:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3,
                                          fused=fused)
        optimizer.zero_grad()
        for part in range(parts):
            x = torch.randn(4, 8) * (float("nan") if i == 40 else 1.0)
            loss = model(x).square().mean() / parts
            loss.backward()
            if part == parts - 1:
                optimizer.step()
            watch.step(loss)
    assert "not by the optimizer" in caplog.text
    assert watch.close(10)
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward" and it.step in (40, 41), it
    assert int(it.summary["last_step"]) == 59, it


def test_optimizers_of_other_models_are_no_strangers(daemon, name, caplog):
    model, other = nn.Linear(8, 1), nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    others = torch.optim.AdamW(other.parameters(), lr=1e-3, fused=True)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(40):
            for it in (model, other):
                it(torch.randn(4, 8)).square().mean().backward()
            others.step()
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
            watch.step(1.0)
        assert watch.flush(10)
    assert not warnings(caplog)
    assert Verdict(daemon, name).steps == 10


def verdict(watch):
    assert watch.flush(10)
    return Verdict(watch.daemon, watch.run.stats.run_id)


def test_parts_of_a_step_are_no_strangers(watch, caplog):
    training = watch.training
    for i in range(64):
        x, y = training.batches()
        loss = training.forward(x, y) / 16
        training.scaler.scale(loss).backward()
        if i % 16 == 15:
            training.scaler.step(training.optimizer)
            training.scaler.update()
            training.optimizer.zero_grad()
        watch.step(loss)
    assert not warnings(caplog)
    assert int(verdict(watch).summary["last_step"]) == 3


def test_two_watches_of_one_run(daemon, name, caplog):
    """A run has the steps of one."""
    one, two = Training("pictures"), Training("text")
    with nanwatch.init(run=name, address=daemon.address) as run:
        first = nanwatch.torch.watch(one.model, one.optimizer, one.scaler,
                                     run=run)
        other = nanwatch.torch.watch(two.model, two.optimizer, two.scaler,
                                     run=run)
        for _ in range(10):
            first.step(one.step())
            other.step(two.step())
        assert "ModuleDict" in caplog.text and len(warnings(caplog)) == 1
        other.close()
        assert run.flush(10)
        assert Verdict(daemon, name).steps == 10
        first.close()
        again = nanwatch.torch.watch(two.model, two.optimizer, run=run)
        again.step(two.step(), step=10)
        assert run.flush(10)
    assert Verdict(daemon, name).steps == 11


@pytest.mark.parametrize("more, said", [
    ({"scaler": "a string"}, "takes a torch.amp.GradScaler, not a str"),
    ({"budget": "a string"}, "budget= takes a number, not a str"),
    ({"no_such": 3}, "no argument 'no_such'"),
])
def test_arguments_that_are_none(daemon, name, caplog, more, said):
    training = Training("pictures", dtype=torch.float32, scaler=None)
    with nanwatch.torch.watch(training.model, training.optimizer, run=name,
                              level="ops", address=daemon.address,
                              **more) as watch:
        for _ in range(3):
            watch.step(training.step())
        assert watch.flush(10) and watch.run.stats.bad_input <= 1
    assert said in caplog.text and len(warnings(caplog)) == 1
    assert Verdict(daemon, name).steps == 3


def test_an_argument_too_many(watch, caplog):
    for _ in range(3):
        watch.step(watch.training.step(), 7)
    assert len(warnings(caplog)) == 1
    assert verdict(watch).steps == 3


@pytest.mark.filterwarnings("error")
def test_complex_parameters(daemon, name):
    model = nn.ParameterList(
        [torch.randn(3, dtype=torch.complex64), torch.randn(3)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with nanwatch.torch.watch(model, optimizer, run=name, level="layers",
                              address=daemon.address) as watch:
        for _ in range(20):
            optimizer.zero_grad()
            loss = sum(p.abs().square().sum() for p in model)
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.run.stats.bad_input == 0


def test_a_module_that_gives_its_parameter_away(daemon, name):
    """A hook on that would stay."""

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self):
            return self.weight

    model = nn.ModuleList([Table()])
    with nanwatch.torch.watch(model, run=name, level="ops", budget=1e9,
                              address=daemon.address) as watch:
        for _ in range(3):
            loss = model[0]().sum()
            loss.backward()
            watch.step(loss)
    assert not model[0].weight._backward_hooks


def test_to_import_it_loads_no_compiler():
    """Which reads its environment then, and takes a second."""
    said_by("import sys, torch; before = set(sys.modules)\n"
            "import nanwatch.torch\n"
            "assert 'torch._dynamo' not in set(sys.modules) - before")
