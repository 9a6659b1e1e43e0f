"""A small net in JAX, with optax and with the dynamic scale of flax."""

import gc
import weakref

import flax.training.dynamic_scale
import jax
import jax.numpy as jnp
import optax
import pytest
from forgotten import ends
from verdicts import Verdict

import nanwatch


def parameters():
    one, two = jax.random.split(jax.random.PRNGKey(1))
    return {
        "hidden": {"kernel": 0.3 * jax.random.normal(one, (8, 16))},
        "out": {"kernel": 0.3 * jax.random.normal(two, (16, 1))},
    }


def loss_of(params, x, dtype=jnp.float32):
    params = jax.tree.map(lambda p: p.astype(dtype), params)
    hidden = jnp.tanh(x.astype(dtype) @ params["hidden"]["kernel"])
    out = hidden @ params["out"]["kernel"] - x[:, :1].astype(dtype)
    return jnp.square(out).mean().astype(jnp.float32)


def batches(steps):
    for i in range(steps):
        yield jax.random.normal(jax.random.PRNGKey(100 + i), (16, 8))


def train(watch, steps, poisoned=None, loss_of=loss_of, **more):
    """optax.apply_if_finite skips what is not finite."""
    params = parameters()
    optimizer = optax.apply_if_finite(optax.adam(1e-2), 5)
    state = optimizer.init(params)

    @jax.jit
    def update(params, state, x):
        loss, grads = jax.value_and_grad(loss_of)(params, x)
        told = nanwatch.jax.statistics(grads)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss, told

    for i, x in enumerate(batches(steps)):
        if i == poisoned:
            x = x.at[0, 0].set(jnp.nan)
        params, state, loss, told = update(params, state, x)
        watch.step(loss, told, skipped=~state.last_finite, **more)


def verdict(daemon, watch, name):
    assert watch.close(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def test_healthy(daemon, name):
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    train(watch, 100)
    it = verdict(daemon, watch, name)
    assert it.worst == "" and it.steps == 100, it
    assert int(it.summary["op_statuses"]) == 2 * 4


def test_a_loss_that_is_cut_off(daemon, name):
    """From all parameters."""
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    train(watch, 100,
          loss_of=lambda params, x: loss_of(jax.lax.stop_gradient(params), x))
    it = verdict(daemon, watch, name)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "exactly 0" in it.headline and it.step == 0, it


def test_a_rate_of_0(daemon, name):
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    train(watch, 40, lr=0.0)
    it = verdict(daemon, watch, name)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "learning rate is 0" in it.headline, it


def test_a_poisoned_batch(daemon, name):
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    train(watch, 100, poisoned=60)
    it = verdict(daemon, watch, name)
    assert it.cause == "nan_from_forward" and it.step == 60, it
    assert int(it.summary["skipped"]) == 1
    # All gradients are bad behind such a loss: they lead nowhere.
    assert it.bad_ops() == {} and not it.origin.get("op"), it


@pytest.mark.parametrize("poisoned", ["batch", "gradient"])
def test_what_nobody_skips_is_applied(daemon, name, poisoned):
    """optax alone applies an update of NaN."""
    params = parameters()
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)
    watch = nanwatch.jax.watch(params, run=name, address=daemon.address)

    @jax.jit
    def update(params, state, x, bad):
        loss, grads = jax.value_and_grad(loss_of)(params, x)
        grads["out"]["kernel"] = grads["out"]["kernel"] * bad
        told = nanwatch.jax.statistics(grads)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss, told

    for i, x in enumerate(batches(60)):
        bad = 1.0
        if i == 40 and poisoned == "batch":
            x = x.at[0, 0].set(jnp.nan)
        elif i == 40:
            bad = jnp.nan
        params, state, loss, told = update(params, state, x, bad)
        watch.step(loss, told)
    it = verdict(daemon, watch, name)
    assert int(it.summary.get("skipped", 0)) == 0, it
    assert int(it.summary["overflows"]) == 20, it
    assert it.worst == "critical", it


@pytest.mark.parametrize("scale, worst", [(2.0**15, ""), (2.0**40, "info")])
def test_a_dynamic_scale_in_fp16(daemon, name, scale, worst):
    """Of flax; jmp's is the same. Too high a start is calibration."""
    params = parameters()
    optimizer = optax.sgd(1e-2)
    state = optimizer.init(params)
    dynamic = flax.training.dynamic_scale.DynamicScale(
        growth_interval=1000, scale=jnp.float32(scale))
    watch = nanwatch.jax.watch(
        params, run=name, address=daemon.address, precision="fp16",
        scaler=nanwatch.Scaler(
            kind="dynamic", name="jmp", init_scale=scale, growth_factor=2.0,
            backoff_factor=0.5, growth_interval=1000))

    @jax.jit
    def update(params, state, dynamic, x):
        old = dynamic.scale
        dynamic, finite, loss, grads = dynamic.value_and_grad(
            lambda p: loss_of(p, x, jnp.float16))(params)
        told = nanwatch.jax.statistics(grads)
        updates, new_state = optimizer.update(grads, state, params)
        applied = optax.apply_updates(params, updates)
        params = jax.tree.map(
            lambda a, b: jnp.where(finite, a, b), applied, params)
        return params, new_state, dynamic, loss, told, old, ~finite

    for x in batches(60):
        params, state, dynamic, loss, told, old, skipped = update(
            params, state, dynamic, x)
        watch.step(loss, told, scale=old, skipped=skipped)
    it = verdict(daemon, watch, name)
    assert it.steps == 60 and it.worst in ("", worst), it
    assert (int(it.summary["overflows"]) > 5) == (scale > 2.0**20), it


def test_a_gradient_that_is_bad_alone(daemon, name):
    """Of a leaf that sorts behind the others and is computed before them."""
    params = {"body": jnp.ones(4), "stem": jnp.ones(4), "head": jnp.ones(4)}
    with nanwatch.jax.watch(params, run=name,
                            address=daemon.address) as watch:
        for i in range(40):
            bad = jnp.nan if i == 30 else 1.0
            told = jax.jit(nanwatch.jax.statistics)(
                {**params, "stem": params["stem"] * bad})
            watch.step(0.5, told, skipped=i == 30)
    it = Verdict(daemon, name)
    assert it.bad_ops() == {("stem", "grad_input"): 30}, it


@pytest.mark.parametrize("size", [3e38, 1e25, 1.0, 1e-25, 0.0])
def test_the_norm_of_what_is_finite_is(size):
    """In fp32 its square may well be no number."""
    told = jax.jit(nanwatch.jax.statistics)(
        {"a": jnp.array([[0.6 * size, -0.8 * size]]), "b": jnp.zeros((3,))})
    assert told.norm.tolist() == pytest.approx([size, 0.0], rel=1e-6)
    assert not told.nan.any() and not told.inf.any()


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf, -jnp.inf])
def test_the_norm_of_what_is_not_finite_is_not(bad):
    told = nanwatch.jax.statistics({"a": jnp.array([1e25, bad, 1.0])})
    assert not jnp.isfinite(told.norm).any()
    assert told.nan.tolist() == [int(bool(jnp.isnan(bad)))]
    assert told.inf.tolist() == [int(bool(jnp.isinf(bad)))]


def test_a_step_that_is_no_number_is_the_next_one(daemon, name):
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    for number in (None, 1.5, jnp.ones(3), "one", None):
        watch.step(1.0, step=number)
    assert watch.run.stats.bad_input == 3
    assert watch.close(20)
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 5, it


def test_what_is_no_statistics(daemon, name, caplog):
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    other = nanwatch.jax.statistics({"one": jnp.ones(3)})
    for told in (other, "told", 7):
        for _ in range(2):
            watch.step(1.0, told)
    watch.step(jnp.ones(3))
    watch.step("a string")
    assert watch.close(20) and watch.run.stats.bad_input == 8
    said = [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
    # Once each: statistics, what is none, the loss.
    assert len(said) == 3, said
    assert "told= takes what statistics() gave" in said[1], said
    assert "not an array of (3,)" in said[2], said
    assert Verdict(daemon, name).steps == 8


@pytest.mark.parametrize("gradients", [{}, {"steps": jnp.zeros(3, jnp.int32)}])
def test_a_tree_without_floats(daemon, name, gradients):
    with nanwatch.jax.watch(gradients, run=name,
                            address=daemon.address) as watch:
        for scale in (None, 8.0):
            told = jax.jit(nanwatch.jax.statistics)(gradients, scale)
            watch.step(1.0, told)
        assert watch.run.flush(10)
        assert watch.run.stats.bad_input == 1, "no parameters"
    assert Verdict(daemon, name).steps == 2


def test_nothing_waits_for_the_device(daemon, name):
    """A step takes some tenths of a second on the device; it is still at it
    when step() is through."""
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)

    @jax.jit
    def update(params, x):
        loss, grads = jax.value_and_grad(loss_of)(params, x)
        slow = jax.lax.fori_loop(
            0, 60, lambda _, m: jnp.tanh(m @ m), jnp.full((600, 600), loss))
        return loss + 0 * slow[0, 0], nanwatch.jax.statistics(grads)

    x = next(batches(1))
    update(parameters(), x)[0].block_until_ready()
    over = []
    for i in range(4):
        loss, told = update(parameters(), x * (i + 1))
        watch.step(loss, told)
        over.append(loss.is_ready())
    assert over.count(False) >= 3, over
    assert len(watch._pending) >= 1
    it = verdict(daemon, watch, name)
    assert it.steps == 4, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss"] == pytest.approx(float(loss), rel=1e-5)


def test_what_was_donated_is_left_out(daemon, name):
    """The other numbers of the step, and the steps after it, are told."""
    watch = nanwatch.jax.watch(parameters(), run=name, address=daemon.address)
    gone = jnp.float32(8.0)
    jax.jit(lambda x: x + 1, donate_argnums=0)(gone)
    assert gone.is_deleted()
    for i in range(3):
        watch.step(jnp.float32(i), scale=gone if i == 0 else jnp.float32(8.0))
    assert watch.close(20) and watch.run.stats.bad_input == 1
    assert Verdict(daemon, name).steps == 3


def test_a_forgotten_watch_ends_its_run(daemon, name):
    def cell():
        watch = nanwatch.jax.watch(
            parameters(), run=name, address=daemon.address)
        train(watch, 20)
        return watch

    ends(daemon, name, cell, 20)


def test_a_watch_keeps_no_array(daemon, name):
    params = parameters()
    with nanwatch.jax.watch(params, run=name, address=daemon.address):
        first = weakref.ref(params["hidden"]["kernel"])
        del params
        gc.collect()
        assert first() is None
