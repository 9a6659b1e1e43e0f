"""Level "compare" of MindSpore's hook, and its graphs under `nanwatch fusion`."""

import pathlib

import mindspore
import numpy
import pytest
from comparisons import (  # noqa: F401
    assert_bits_are_those_of_the_text,
    compared,
    library,
    program_says,
)
from mindspore import nn, ops

import nanwatch.mindspore
from nanwatch import _mindspore_comparing

FUSED = pathlib.Path(__file__).resolve().parent / "fused.py"


@pytest.fixture
def mode(request):
    before = mindspore.get_context("mode")
    mindspore.set_context(mode=request.param)
    yield request.param
    mindspore.set_context(mode=before)


BOTH = pytest.mark.parametrize(
    "mode", [mindspore.PYNATIVE_MODE, mindspore.GRAPH_MODE],
    ids=["pynative", "graph"], indirect=True)


def train(daemon, run, epsilon=1e-5, seed=1, shift=None):
    mindspore.set_seed(seed)
    net = nn.SequentialCell(
        nn.Dense(8, 16), nn.LayerNorm((16,), epsilon=epsilon), nn.Tanh(),
        nn.Dense(16, 4))
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x):
        return ops.square(net(x)).mean()

    gradient = mindspore.value_and_grad(forward, None, optimizer.parameters)
    watch = nanwatch.mindspore.watch(None, optimizer, net, run=run,
                                     level="compare", address=daemon.address)
    random = numpy.random.default_rng(2)
    for i in range(4):
        x = random.normal(0, 1, (6, 8)).astype("float32") + (i == shift)
        loss, grads = gradient(mindspore.Tensor(x.astype("float32")))
        optimizer(grads)
        watch.step(loss, grads=grads)
    assert watch.close(timeout=10.0)
    assert watch.run.stats.bad_input == 0


@BOTH
def test_a_repeat_is_equal_to_the_bit(daemon, name, mode):
    for run in "ab":
        train(daemon, f"{name}-{run}")
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 0 and "first_unequal" not in found, found
    assert found["tensors"]["steps"] == [0, 1, 2]
    # Six weights and gradients; in PyNative mode a batch, what the network and
    # its four cells get and make, and gradients of that.
    seen = 1 + 5 * 2 + 8 if mode == mindspore.PYNATIVE_MODE else 0
    assert found["tensors"]["compared"] >= 3 * (2 * 6 + seen), found
    assert found["batches"]["steps"] == (4 if seen else 0)


def test_another_epsilon_is_named(daemon, name):
    train(daemon, name + "-a")
    train(daemon, name + "-b", epsilon=1e-2)
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 2
    assert found["divergence"]["class"] == "divergent_op", found
    assert found["divergence"]["op"] == "1"
    assert found["divergence"]["type"] == "LayerNorm"


@BOTH
def test_other_weights_are_told(daemon, name, mode):
    train(daemon, name + "-a")
    train(daemon, name + "-b", seed=5)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert found["divergence"]["class"] == "other_weights", found
    assert found["divergence"]["step"] == 0


def test_other_data_are_told(daemon, name):
    train(daemon, name + "-a")
    train(daemon, name + "-b", shift=3)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert found["divergence"]["class"] == "other_data", found
    assert found["divergence"]["step"] == 3


@pytest.mark.parametrize("name, dtype", [
    ("float64", "fp64"), ("float32", "fp32"), ("float16", "fp16"),
    ("bfloat16", "bf16")])
def test_digests_are_of_the_bits(name, dtype):
    random = numpy.random.default_rng(3)
    tensor = mindspore.Tensor(random.normal(0, 1, (30, 50))).astype(
        getattr(mindspore, name))
    assert_bits_are_those_of_the_text(
        _mindspore_comparing.array_of, tensor, dtype)


@pytest.mark.parametrize("how", ["graph", "jit", "train"])
def test_a_cell_that_computes_something_else_in_a_graph_is_named(daemon, how):
    status, found, error = program_says(
        daemon, "fusion", FUSED, "epsilon", how)
    assert status == 2, (found, error)
    assert found["op"].endswith("0.norm") and found["type"] == "Norm", found
    assert found["region"] == "model" and found["class"] == "divergent_op"
    assert found["distance"] > 10 * found["usual_at_most"]


@pytest.mark.parametrize("how", ["graph", "jit", "train"])
def test_a_healthy_graph_agrees(daemon, how):
    status, found, error = program_says(
        daemon, "fusion", FUSED, "healthy", how)
    assert status == 0, (found, error)
    assert found["agrees"] and found["compiled"], found


def test_where_nothing_is_compiled_nothing_is_compared(daemon):
    status, found, error = program_says(
        daemon, "fusion", FUSED, "healthy", "nothing")
    assert status == 3 and not found["compiled"], (found, error)


def test_repeats_are_compared(daemon):
    status, found, error = program_says(
        daemon, "repeat", FUSED, "healthy", "nothing")
    assert status == 0, (found, error)
    assert found["deterministic"] and found["tensors"] > 60, found
