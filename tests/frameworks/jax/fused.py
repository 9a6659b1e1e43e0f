"""A program that `nanwatch fusion` runs: fused.py KIND. `healthy`; `epsilon`: a
function takes another epsilon where it is compiled; `nothing` is jitted."""

import sys

import jax
import jax.numpy as jnp

import nanwatch.jax

KIND = sys.argv[1]


def jitted(function):
    return function if KIND == "nothing" else jax.jit(function)


@jitted
def norm(x):
    compiled = KIND == "epsilon" and not jax.config.jax_disable_jit
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt(x.var(-1, keepdims=True) + (1e-3 if compiled else 1e-6))


@jitted
def mix(x, w):
    return jax.nn.gelu(x @ w)


def loss_of(params, x):
    for w in params["hidden"]:
        x = x + norm(mix(x, w))
    return jnp.square(x @ params["out"]).mean()


@jitted
def update(params, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    told = nanwatch.jax.statistics(grads)
    return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads), loss, told


def main():
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    params = {
        "hidden": [0.3 * jax.random.normal(key, (16, 16)) for key in keys[:3]],
        "out": jax.random.normal(keys[3], (16, 1)),
    }
    watch = nanwatch.jax.watch(params)
    for i in range(5):
        x = jax.random.normal(jax.random.PRNGKey(100 + i), (32, 16))
        params, loss, told = update(params, x)
        watch.step(loss, told)
    raise SystemExit("it was to end before")


main()
