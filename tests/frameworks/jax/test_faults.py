"""Faults put into real trainings with JAX, and what the daemon makes of them.
One seed, five with NANWATCH_TEST_ALL=1, and Keras then, too. More of it is
`tests/accuracy/run`."""

import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import pytest
from daemons import ALL, ROOT

sys.path.insert(0, str(ROOT / "tests" / "accuracy"))

import on_jax  # noqa: E402
from small_faults import KINDS, play  # noqa: E402

SEEDS = range(1, 6) if ALL else [3]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["", *KINDS])
def test_fault(daemon, name, kind, seed):
    it = play(on_jax.train, kind, seed, daemon, name)
    assert it.right, it.verdict


@pytest.mark.skipif(not ALL, reason="some minutes: NANWATCH_TEST_ALL=1")
@pytest.mark.parametrize("kind", ["", *KINDS])
def test_keras(daemon, name, kind):
    import on_keras

    it = play(on_keras.train, kind, 3, daemon, name)
    assert it.right, it.verdict
