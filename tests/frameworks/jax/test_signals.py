"""A signal ends a training: all steps that its device is through are told, and
where one does not come the process ends all the same."""

import pytest
import signalled

LAST = 120
JAX = """
import os, signal, sys, time
import jax, jax.numpy as jnp, nanwatch.jax
params = {"w": jnp.ones((256, 256)) / 256}
watch = nanwatch.jax.watch(params, run=sys.argv[1])

@jax.jit
def update(params, x):
    def loss_of(params):
        for _ in range(16):
            x_next = jnp.tanh(x @ params["w"])
        return jnp.square(x_next).mean()
    loss, grads = jax.value_and_grad(loss_of)(params)
    told = nanwatch.jax.statistics(grads)
    new = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return new, loss, told

x = jnp.ones((256, 256))
for i in range(200):
    params, loss, told = update(params, x)
    watch.step(loss, told)
    if i == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
"""
# A device that does not come to its end.
HANGS = JAX.replace("x = jnp.ones", """
import nanwatch.jax as of
of._Step.ready = lambda step: step.number < 100
x = jnp.ones""")
KERAS = """
import os, signal, sys, time
os.environ["KERAS_BACKEND"] = "jax"
import keras, numpy, nanwatch.keras

class Kill(keras.callbacks.Callback):
    seen = 0
    def on_train_batch_begin(self, batch, logs=None):
        if self.seen == int(sys.argv[2]) + 1:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        self.seen += 1

model = keras.Sequential([keras.layers.Dense(256), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = numpy.ones((32 * 200, 16), "float32")
model.fit(x, x[:, :1], batch_size=32, verbose=0,
          callbacks=[nanwatch.keras.Callback(run=sys.argv[1]), Kill()])
"""


@pytest.mark.parametrize("program", [JAX, KERAS], ids=["jax", "keras"])
def test_all_steps_before_a_signal(daemon, name, program):
    it, _ = signalled.run(daemon, program, name, LAST)
    assert it.steps == LAST + 1, it
    assert f"SIGTERM at step {LAST}" in it.headline, it


def test_a_device_that_hangs(daemon, name):
    it, _ = signalled.run(daemon, HANGS, name, LAST)
    assert it.steps == 100 and "SIGTERM" in it.headline, it
