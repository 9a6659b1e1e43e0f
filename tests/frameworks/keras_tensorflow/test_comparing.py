"""Level "compare" of Keras's hook, and XLA under `nanwatch fusion`."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import pathlib  # noqa: E402

import keras  # noqa: E402
import numpy  # noqa: E402
import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402
from comparisons import (  # noqa: E402, F401
    assert_bits_are_those_of_the_text,
    compared,
    library,
    program_says,
)

import nanwatch.keras  # noqa: E402
from nanwatch import _keras_comparing  # noqa: E402

FUSED = pathlib.Path(__file__).resolve().parent / "fused.py"


def fit(daemon, run, epsilon=1e-5, eagerly=True, seed=1, shift=0.0):
    keras.utils.clear_session()
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([
        keras.layers.Input((8,)), keras.layers.Dense(16),
        keras.layers.LayerNormalization(epsilon=epsilon),
        keras.layers.Activation("tanh"), keras.layers.Dense(4)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=eagerly)
    random = numpy.random.default_rng(2)
    x = random.normal(0, 1, (24, 8)).astype("float32") + shift
    callback = nanwatch.keras.Callback(run=run, level="compare",
                                       address=daemon.address)
    model.fit(x, x[:, :4], batch_size=6, shuffle=False, verbose=0,
              callbacks=[callback])
    assert callback.run.close(timeout=10.0)
    assert callback.run.stats.bad_input == 0
    return model


@pytest.mark.parametrize("eagerly", [True, False])
def test_a_repeat_is_equal_to_the_bit(daemon, name, eagerly):
    for run in "ab":
        model = fit(daemon, f"{name}-{run}", eagerly=eagerly)
        assert "call" not in vars(model.layers[0])
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 0 and "first_unequal" not in found, found
    assert found["tensors"]["steps"] == [0, 1, 2]
    # Six weights; eagerly their gradients, a batch, and what the model and its
    # four layers get and make.
    each = 2 * 6 + 1 + 5 * 2 if eagerly else 6
    assert found["tensors"]["compared"] == 3 * each, found
    assert found["batches"]["steps"] == (4 if eagerly else 0)


def test_another_epsilon_is_named(daemon, name):
    fit(daemon, name + "-a")
    fit(daemon, name + "-b", epsilon=1e-2)
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 2
    assert found["divergence"]["class"] == "divergent_op", found
    assert found["divergence"]["op"] == "layer_normalization"


@pytest.mark.parametrize("kind, other", [
    ("other_weights", {"seed": 5, "eagerly": False}),
    ("other_data", {"shift": 1.0})])
def test_what_is_read_is_told(daemon, name, kind, other):
    fit(daemon, name + "-a", eagerly=other.get("eagerly", True))
    fit(daemon, name + "-b", **other)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert found["divergence"]["class"] == kind, found
    assert found["divergence"]["step"] == 0


@pytest.mark.parametrize("name, dtype", [
    ("float64", "fp64"), ("float32", "fp32"), ("float16", "fp16"),
    ("bfloat16", "bf16")])
def test_digests_are_of_the_bits(name, dtype):
    tensor = tf.cast(tf.random.stateless_normal([30, 50], [3, 4]), name)
    assert_bits_are_those_of_the_text(_keras_comparing.array_of, tensor, dtype)


def test_a_layer_that_computes_something_else_in_xla_is_named(daemon):
    status, found, error = program_says(daemon, "fusion", FUSED, "epsilon")
    assert status == 2, (found, error)
    assert found["op"] == "block0/norm" and found["type"] == "Norm", found
    assert found["region"] == "model" and found["slot"] == "output"
    assert found["class"] == "divergent_op"
    assert found["distance"] > 10 * found["usual_at_most"]


def test_a_healthy_model_agrees_in_xla(daemon):
    status, found, error = program_says(daemon, "fusion", FUSED, "healthy")
    assert status == 0, (found, error)
    assert found["agrees"] and found["compiled"], found
    assert found["tensors"] == 8 and found["hidden"] > 20, found


def test_where_keras_compiles_nothing_nothing_is_compared(daemon):
    status, found, error = program_says(daemon, "fusion", FUSED, "nothing")
    assert status == 3 and not found["compiled"], (found, error)
    assert found["tensors"] > 20


def test_repeats_of_a_fit_are_compared(daemon):
    status, found, error = program_says(daemon, "repeat", FUSED, "nothing")
    assert status == 0, (found, error)
    assert found["deterministic"] and found["tensors"] > 60, found
