"""Keras in mixed_float16 with nanwatch: one line is its own. (KERAS_BACKEND=jax
or torch where there is no TensorFlow.)"""

import keras
import numpy

import nanwatch

keras.mixed_precision.set_dtype_policy("mixed_float16")
model = keras.Sequential(
    [
        keras.layers.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, dtype="float32"),
    ]
)
# "adam" becomes a LossScaleOptimizer under this policy.
model.compile(optimizer="adam", loss="mse")
x = numpy.random.default_rng(1).normal(size=(1600, 8)).astype("float32")
model.fit(
    x,
    x.sum(1),
    batch_size=16,
    verbose=0,
    callbacks=[nanwatch.keras.Callback(run="keras-example")],
)
