"""Paddle's own package on a CPU. Its GradScaler turns itself off there: when it
is made, if the program's place is no GPU, and when it scales, if the last
auto_cast was not to float16. `scaler_on_a_cpu` says that both are so. All that
it does then is Paddle's own code."""

import types

import numpy
import paddle
import pytest
from forgotten import ends
from late_device import LateDevice
from paddle.amp import grad_scaler
from verdicts import Verdict

import nanwatch


def scaler_on_a_cpu(monkeypatch, **options):
    place = types.SimpleNamespace(is_gpu_place=lambda: True)
    with monkeypatch.context() as patch:
        patch.setattr(grad_scaler, "_dygraph_tracer",
                      lambda: types.SimpleNamespace(_expected_place=place))
        scaler = paddle.amp.GradScaler(**options)
    monkeypatch.setattr(grad_scaler.amp_global_state(), "amp_dtype", "float16")
    return scaler


def pictures(count, seed=1):
    random = numpy.random.default_rng(seed)
    x = random.normal(0, 0.5, (count, 16)).astype("float32")
    y = random.integers(0, 2, count)
    x[y == 1, :8] += 1
    return x, y


def update(loss, optimizer, scaler):
    if scaler is None:
        loss.backward()
        optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def train(daemon, name, scaler, steps=150, poison=None, times=1.0):
    paddle.seed(1)
    model = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.Tanh(),
                                 paddle.nn.Linear(32, 2))
    optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    x, y = map(paddle.to_tensor, pictures(32))
    with nanwatch.paddle.watch(model, optimizer, scaler, run=name,
                               address=daemon.address) as watch:
        for i in range(steps):
            data = x * float("nan") if poison and i >= poison else x
            loss = paddle.nn.functional.cross_entropy(model(data), y) * times
            update(loss, optimizer, scaler)
            watch.step(loss)
            optimizer.clear_grad()
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    return Verdict(daemon, name)


def test_a_healthy_training(daemon, name, monkeypatch):
    scaler = scaler_on_a_cpu(monkeypatch, init_loss_scaling=1024.0,
                             incr_every_n_steps=50)
    it = train(daemon, name, scaler)
    assert it.worst == "" and it.steps == 150, it
    assert it.info["scaler"]["name"] == "paddle", it
    scales = [v["last"] for v in it.summary["values"]
              if v["field"] == "loss_scale"]
    assert scales == [4096.0], it  # as the last step had it


def test_a_training_without_a_scaler(daemon, name):
    it = train(daemon, name, None)
    assert it.worst == "" and it.steps == 150, it


def test_a_scaler_that_paddle_turned_off(daemon, name):
    with pytest.warns(UserWarning, match="makes no effect"):
        scaler = paddle.amp.GradScaler()
    it = train(daemon, name, scaler)
    assert it.worst == "" and it.steps == 150, it


def test_a_scale_that_is_too_high_comes_down(daemon, name, monkeypatch):
    it = train(daemon, name, times=30.0, scaler=scaler_on_a_cpu(
        monkeypatch, init_loss_scaling=2.0**127 * 1.9))
    assert int(it.summary["skipped"]) >= 1, it
    assert it.worst != "critical", it


def test_a_nan_in_the_data(daemon, name, monkeypatch):
    it = train(daemon, name, scaler_on_a_cpu(monkeypatch), steps=90, poison=60)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.step == 60 and int(it.summary["skipped"]) == 30, it


def test_bad_input_does_not_raise(daemon, name):
    with nanwatch.paddle.watch(run=name, address=daemon.address) as watch:
        watch.step("a string")
        watch.step(paddle.zeros([3]))
        assert watch.run.stats.bad_input == 2
        for number in (1.5, paddle.zeros([1]), "one"):
            watch.step(1.0, step=number)
        watch.step(1.0)
        assert watch.run.stats.bad_input == 5
        assert watch.run.flush(10)
    assert Verdict(daemon, name).steps == 6


def test_what_is_watched_already(daemon, name, caplog):
    model = paddle.nn.Linear(2, 1)
    with nanwatch.paddle.watch(model, run=name,
                               address=daemon.address) as watch:
        assert nanwatch.paddle.watch(model, run=name) is watch
        assert watch.run.stats.bad_input == 1
    again = nanwatch.paddle.watch(model, run=name, address=daemon.address)
    assert again is not watch and again.close(15)
    assert caplog.text.count("this model is watched already") == 1


def test_another_optimizer_is_another_training(daemon, name, caplog):
    model = paddle.nn.Linear(2, 1)
    first, second = (paddle.optimizer.SGD(rate, parameters=model.parameters())
                     for rate in (0.5, 0.25))
    with nanwatch.paddle.watch(model, first, run=name,
                               address=daemon.address) as watch:
        again = nanwatch.paddle.watch(model, second, run=name,
                                      address=daemon.address)
        assert again is not watch and watch.run.is_closed
        assert "the training begins again" in caplog.text
        again.step(1.0)
        assert again.close(15)
    values = {v["field"]: v["last"]
              for v in Verdict(daemon, name).summary["values"]}
    assert values["learning_rate"] == 0.25, values


def test_a_model_without_parameters(daemon, name):
    with nanwatch.paddle.watch(paddle.nn.ReLU(), run=name,
                               address=daemon.address) as watch:
        watch.step(1.0)
        assert watch.run.stats.bad_input == 1
        assert watch.run.flush(10)
    assert Verdict(daemon, name).steps == 1


def test_what_cannot_be_watched_is_trained(caplog):
    for arguments in (("a model",), (None, None, object())):
        with nanwatch.paddle.watch(*arguments) as watch:
            watch.step(1.0)
    assert caplog.text.count("this training is not watched") == 2


@pytest.mark.parametrize("scaled", [False, True])
def test_nothing_waits_for_the_device(daemon, name, monkeypatch, scaled):
    """Tensors of the CPU are treated like a device's. The scale halves at step
    20 alone, where the data holds an Inf."""
    scaler = scaler_on_a_cpu(
        monkeypatch, init_loss_scaling=64.0, decr_every_n_nan_or_inf=1,
        incr_every_n_steps=1000) if scaled else None
    paddle.seed(1)
    model = paddle.nn.Linear(16, 2)
    optimizer = paddle.optimizer.SGD(1e-2, parameters=model.parameters())
    x, y = map(paddle.to_tensor, pictures(32))
    device = LateDevice(
        monkeypatch, nanwatch.paddle, paddle.Tensor,
        ["item", "tolist", "numpy", "__float__", "__bool__"])
    with nanwatch.paddle.watch(model, optimizer, scaler, run=name,
                               address=daemon.address) as watch:
        told = device.hear(watch)
        for i in range(40):
            data = x * float("inf") if scaled and i == 20 else x
            loss = paddle.nn.functional.cross_entropy(model(data), y)
            update(loss, optimizer, scaler)
            with device.asked():
                watch.step(loss)
            optimizer.clear_grad()
        assert told == [(i, i + 3) for i in range(37)]
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 40 and int(it.summary["skipped"]) == scaled, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["grad_norm"] > 0 and values["loss"] > 0
    if scaled:
        assert values["loss_scale"] == 32.0, it
        assert "step 20" in it.text, it


@pytest.mark.parametrize("scaled", [False, True])
def test_a_weight_that_stays_nan(daemon, name, monkeypatch, scaled):
    """Without a scaler a NaN in one batch leaves it before a ReLU, which makes
    0 of it: the loss stays finite. With one somebody writes it."""
    paddle.seed(0)
    model = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.ReLU(),
                                 paddle.nn.Linear(32, 1))
    optimizer = paddle.optimizer.AdamW(2e-3, parameters=model.parameters())
    scaler = scaler_on_a_cpu(monkeypatch) if scaled else None
    with nanwatch.paddle.watch(model, optimizer, scaler, run=name,
                               address=daemon.address) as watch:
        for i in range(200):
            x = paddle.randn([32, 16])
            y = x.sum(1, keepdim=True)
            if i == 100 and scaled:
                with paddle.no_grad():
                    model[2].weight[0, 0] = float("nan")
            elif i == 100:
                x[0, 0] = float("nan")
            loss = ((model(x) - y) ** 2).mean()
            update(loss, optimizer, scaler)
            watch.step(loss)
            optimizer.clear_grad()
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "critical" and "came back" not in it.text, it
    weight = "2.weight" if scaled else "0.weight"
    assert it.step in (100, 101) and it.origin["op"] == weight, it
    assert it.bad_ops()[(weight, "parameter")] == 101, it


def test_a_forgotten_watch_ends_its_run(daemon, name):
    def cell():
        model = paddle.nn.Linear(16, 2)
        optimizer = paddle.optimizer.Adam(parameters=model.parameters())
        watch = nanwatch.paddle.watch(
            model, optimizer, run=name, address=daemon.address)
        x, y = map(paddle.to_tensor, pictures(32))
        for _ in range(20):
            loss = paddle.nn.functional.cross_entropy(model(x), y)
            update(loss, optimizer, None)
            watch.step(loss)
            optimizer.clear_grad()
        return watch

    ends(daemon, name, cell, 20)


def test_of_gradients_of_nan_the_first_on_the_way_back_is_said(daemon, name):
    paddle.seed(1)
    one, two, three = (paddle.nn.Linear(16, 16) for _ in range(3))
    model = paddle.nn.LayerList([one, two, three])
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    x, _ = map(paddle.to_tensor, pictures(32))
    with nanwatch.paddle.watch(model, optimizer, run=name,
                               address=daemon.address) as watch:
        for i in range(40):
            middle = two(paddle.tanh(one(x)))
            if i == 30:
                middle = paddle.sqrt(middle * 0)
            loss = three(middle).square().mean()
            update(loss, optimizer, None)
            watch.step(loss)
            optimizer.clear_grad()
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_backward" and it.step == 30, it
    assert it.origin["op"] == "1.bias", it
    assert "1.bias comes last in the model" in it.headline, it
