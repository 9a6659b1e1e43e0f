"""JAX with optax and nanwatch: three lines are its own."""

import jax
import jax.numpy as jnp
import optax

import nanwatch

params = {"kernel": jnp.zeros((8, 1)), "bias": jnp.zeros(1)}
optimizer = optax.apply_if_finite(optax.adam(1e-2), max_consecutive_errors=5)
state = optimizer.init(params)


def loss_of(params, x):
    out = x @ params["kernel"] + params["bias"]
    return jnp.square(out - x.sum(1, keepdims=True)).mean()


@jax.jit
def update(params, state, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    told = nanwatch.jax.statistics(grads)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, told


with nanwatch.jax.watch(params, run="jax-example") as watch:
    for i in range(200):
        x = jax.random.normal(jax.random.PRNGKey(i), (32, 8))
        params, state, loss, told = update(params, state, x)
        watch.step(loss, told, skipped=~state.last_finite)
