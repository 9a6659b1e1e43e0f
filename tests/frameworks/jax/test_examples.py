import examples
import pytest


@pytest.mark.parametrize("script, run, steps", [
    ("jax_optax.py", "jax-example", 200),
    ("keras_fit.py", "keras-example", 100),
])
def test_example(daemon, tmp_path, script, run, steps):
    it = examples.run(daemon, script, run, tmp_path, KERAS_BACKEND="jax")
    assert it.worst == "" and it.steps == steps, it
