"""The adapter for TensorFlow on an Ascend NPU, with TensorFlow's own sessions
and its own Keras 2. The NPU's optimizers need an NPU: the graph here has the op of
the name that NPULossScaleOptimizer gives, and a manager of the test's own. The
float status has no op on a CPU, and is not tested."""

import math
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402
from verdicts import Verdict  # noqa: E402

import nanwatch  # noqa: E402

v1 = tf.compat.v1


class Manager:
    """As FixedLossScaleManager: the scale stands."""

    def __init__(self, scale, check=True):
        self._scale = tf.constant(scale, tf.float32)
        self._check = check

    def get_loss_scale(self):
        return self._scale

    def get_enable_overflow_check(self):
        return self._check


def session(daemon, name, steps, strike=None, manager=True, **init):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, (None, 4))
        w = v1.get_variable("w", (4, 1))
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        (gradient,) = tf.gradients(loss, [w])
        with tf.name_scope("NPULossScaleOptimizer"):
            finite = tf.reduce_all(tf.math.is_finite(gradient),
                                   name="overflow_status_reduce_all")
        v1.train.get_or_create_global_step()
        train = tf.cond(
            finite, lambda: w.assign_sub(0.05 * gradient).op, tf.no_op)
        hook = nanwatch.ascend_tf.Hook(
            loss, Manager(1024.0) if manager else None, run=name,
            address=daemon.address, **init)
        random = numpy.random.default_rng(1)
        with v1.train.MonitoredTrainingSession(hooks=[hook]) as running:
            for i in range(steps):
                data = random.normal(size=(8, 4))
                if strike is not None and i >= strike:
                    data[0, 0] = math.nan
                running.run(train, {x: data})
    assert hook.run.stats.bad_input == 0, hook.run.stats
    return Verdict(daemon, name)


def test_a_session(daemon, name, monkeypatch):
    monkeypatch.setenv("INF_NAN_MODE_ENABLE", "1")
    it = session(daemon, name, 60)
    assert it.worst == "" and it.steps == 60, it
    assert it.info["scaler"]["kind"] == "SCALING_KIND_STATIC", it
    assert it.info["scaler"]["overflow_check"] is True, it
    assert it.info["overflow_mode"] == "OVERFLOW_MODE_INF_NAN", it


def test_a_session_with_a_nan(daemon, name):
    it = session(daemon, name, 60, 30)
    assert it.worst == "critical" and it.step == 30, it
    assert int(it.summary["skipped"]) == 30, it


def test_a_session_without_a_manager(daemon, name):
    it = session(daemon, name, 20, manager=False)
    assert it.worst == "" and it.steps == 20, it


def fit(daemon, name, strike=None, scale=2.0**10, **more):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([
        tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, "tanh"),
        tf.keras.layers.Dense(1)])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
        tf.keras.optimizers.legacy.SGD(0.05), initial_scale=scale)
    model.compile(optimizer, "mse")
    random = numpy.random.default_rng(1)
    x = random.normal(size=(640, 4)).astype("float32")
    y = x.sum(1, keepdims=True)
    if strike is not None:
        x[8 * strike:] = math.nan
    callback = nanwatch.ascend_tf.Callback(run=name, address=daemon.address,
                                           **more)
    model.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False,
              callbacks=[callback])
    assert callback.run.stats.bad_input == 0, callback.run.stats
    return Verdict(daemon, name)


def test_keras_2(daemon, name):
    it = fit(daemon, name)
    assert it.worst == "" and it.steps == 80, it
    assert it.info["scaler"]["kind"] == "SCALING_KIND_DYNAMIC", it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1024.0, it


def test_keras_2_with_nans(daemon, name):
    it = fit(daemon, name, 40)
    assert it.worst == "critical" and int(it.summary["skipped"]) == 40, it


def test_a_huge_scale_comes_down(daemon, name):
    it = fit(daemon, name, scale=2.0**127)
    assert int(it.summary["skipped"]) >= 1 and it.worst != "critical", it
