"""Paddle's own package on a CPU. Its GradScaler turns itself off there: when it
is made, if the program's place is no GPU, and when it scales, if the last
auto_cast was not to float16. `scaler_on_a_cpu` says that both are so. All that
it does then is Paddle's own code."""

import types

import numpy
import paddle
import pytest
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
            if scaler is None:
                loss.backward()
                optimizer.step()
            else:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
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
