"""A small net in JAX with optax, for faults."""

import jax
import jax.numpy as jnp
import optax
from small_faults import CLASSES, FEATURES

import nanwatch

VERSIONS = f"jax {jax.__version__}, optax {optax.__version__}"


def loss_of(params, x, y):
    hidden = jax.nn.relu(x @ params["hidden"]["kernel"])
    out = hidden @ params["out"]["kernel"]
    return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()


@jax.jit
def update(params, state, x, y, rate):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    told = nanwatch.jax.statistics(grads)
    updates, state = optimizer.update(grads, state, params)
    updates = jax.tree.map(lambda u: -rate * u, updates)
    return optax.apply_updates(params, updates), state, loss, told


# Of what is not finite it skips five in a row.
optimizer = optax.apply_if_finite(optax.scale_by_adam(), 5)


def train(fault, address, run):
    one, two = jax.random.split(jax.random.PRNGKey(fault.seed))
    params = {
        "hidden": {"kernel": 0.3 * jax.random.normal(one, (FEATURES, 32))},
        "out": {"kernel": 0.3 * jax.random.normal(two, (32, CLASSES))},
    }
    state = optimizer.init(params)
    with nanwatch.jax.watch(params, run=run, address=address) as watch:
        for step, (x, y) in enumerate(fault.batches()):
            kernel = fault.flip(step, params["out"]["kernel"])
            if kernel is not None:
                params["out"]["kernel"] = jnp.asarray(kernel)
            rate = fault.rate(step, 3e-3)
            params, state, loss, told = update(params, state, x, y, rate)
            watch.step(loss, told, skipped=~state.last_finite, lr=rate)
        assert watch.run.stats.bad_input == 0
        assert watch.close(20), watch.run.stats
