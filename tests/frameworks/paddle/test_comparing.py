"""Level "compare" of Paddle's hook."""

import paddle
import pytest
from comparisons import (  # noqa: F401
    assert_bits_are_those_of_the_text,
    compared,
    library,
)

import nanwatch.paddle


def train(daemon, run, epsilon=1e-5, steps=4, seed=1, shift=None):
    paddle.seed(seed)
    model = paddle.nn.Sequential(
        paddle.nn.Linear(8, 16), paddle.nn.LayerNorm(16, epsilon),
        paddle.nn.Tanh(), paddle.nn.Linear(16, 4))
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    watch = nanwatch.paddle.watch(model, optimizer, run=run, level="compare",
                                  address=daemon.address)
    paddle.seed(2)
    for i in range(steps):
        x = paddle.randn([6, 8]) + (i == shift)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        watch.step(loss)
        optimizer.clear_grad()
    assert watch.close(timeout=10.0)
    return watch


def test_a_repeat_is_equal_to_the_bit(daemon, name):
    for run in "ab":
        assert train(daemon, f"{name}-{run}").run.stats.bad_input == 0
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 0 and "first_unequal" not in found, found
    assert found["tensors"]["steps"] == [0, 1, 2]
    # Six weights and gradients, a batch, what five layers get and make,
    # and gradients of all that is made and of what three of them get.
    assert found["tensors"]["compared"] == 3 * (2 * 6 + 1 + 5 * 2 + 8), found
    assert found["batches"]["steps"] == 4


def test_another_epsilon_is_named(daemon, name):
    train(daemon, name + "-a")
    train(daemon, name + "-b", epsilon=1e-3)
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 2
    assert found["divergence"]["class"] == "divergent_op", found
    assert found["divergence"]["op"] == "1"
    assert found["divergence"]["type"] == "LayerNorm"


@pytest.mark.parametrize("kind, other", [
    ("other_weights", {"seed": 5}), ("other_data", {"shift": 3})])
def test_what_is_read_is_told(daemon, name, kind, other):
    train(daemon, name + "-a")
    train(daemon, name + "-b", **other)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert found["divergence"]["class"] == kind, found
    assert found["divergence"]["step"] == other.get("shift", 0)


@pytest.mark.parametrize("name, dtype", [
    ("float64", "fp64"), ("float32", "fp32"), ("float16", "fp16"),
    ("bfloat16", "bf16")])
def test_digests_are_of_the_bits(name, dtype):
    paddle.seed(3)
    tensor = paddle.randn([30, 50]).astype(name)
    assert_bits_are_those_of_the_text(nanwatch.paddle._array_of, tensor, dtype)
