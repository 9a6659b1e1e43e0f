"""A small net of Keras in mixed_float16, for faults."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras  # noqa: E402
import numpy  # noqa: E402
from small_faults import BATCH, CLASSES, FEATURES  # noqa: E402

import nanwatch  # noqa: E402

VERSIONS = (f"keras {keras.__version__} on {keras.backend.backend()}, "
            "mixed_float16")


class Strike(keras.callbacks.Callback):
    def __init__(self, fault):
        super().__init__()
        self._fault = fault

    def on_train_batch_begin(self, batch, logs=None):
        inner = self.model.optimizer.inner_optimizer
        rate = self._fault.rate(batch, 3e-3)
        if rate != 3e-3:
            inner.learning_rate = rate
        variable = self.model.layers[-1].kernel
        kernel = self._fault.flip(batch, keras.ops.convert_to_numpy(variable))
        if kernel is not None:
            variable.assign(kernel)


def train(fault, address, run):
    keras.utils.set_random_seed(fault.seed)
    model = keras.Sequential([
        keras.layers.Input((FEATURES,)),
        keras.layers.Dense(32, activation="relu", dtype="mixed_float16"),
        keras.layers.Dense(CLASSES, dtype="mixed_float16")])
    model.compile(
        optimizer=keras.optimizers.LossScaleOptimizer(
            keras.optimizers.Adam(3e-3)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = map(numpy.concatenate, zip(*fault.batches()))
    callback = nanwatch.keras.Callback(run=run, address=address)
    model.fit(x, y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0,
              callbacks=[Strike(fault), callback])
    assert callback.run.stats.bad_input == 0
