"""A program that `nanwatch fusion` runs: fused.py KIND. `healthy`; `epsilon`: a
layer takes another epsilon where XLA compiles it; `nothing` is compiled."""

import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

import nanwatch.keras  # noqa: E402

KIND = sys.argv[1]


class Norm(keras.layers.Layer):
    def call(self, x):
        compiled = KIND == "epsilon" and not tf.executing_eagerly()
        x = x - tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x), -1, keepdims=True)
        return x * tf.math.rsqrt(variance + (1e-3 if compiled else 1e-6))


class Block(keras.layers.Layer):
    def __init__(self, **more):
        super().__init__(**more)
        self.mix = keras.layers.Dense(16, activation="gelu", name="mix")
        self.norm = Norm(name="norm")

    def call(self, x):
        return x + self.norm(self.mix(x))


def main():
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.layers.Input((16,)),
         *(Block(name=f"block{i}") for i in range(3)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(1e-3), "mse",
                  jit_compile=KIND != "nothing", run_eagerly=KIND == "nothing")
    x = numpy.random.default_rng(2).normal(0, 1, (160, 16)).astype("float32")
    model.fit(x, x[:, :1], batch_size=32, shuffle=False, verbose=0,
              callbacks=[nanwatch.keras.Callback()])
    raise SystemExit("it was to end before")


main()
