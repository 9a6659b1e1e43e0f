"""JAX: statistics inside jit, told outside.

watch = nanwatch.jax.watch(params, run="r1")  # before the loop

@jax.jit
def update(params, ...):
    loss, grads = jax.value_and_grad(loss_of)(params, ...)
    told = nanwatch.jax.statistics(grads)
    ...
    return params, loss, told

params, loss, told = update(params, ...)
watch.step(loss, told)  # in the loop
"""

from __future__ import annotations

import contextlib
import math
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy

import nanwatch
from nanwatch import _first_steps, _jax_functions, _update_faults
from nanwatch._checks import Checks, describe
from nanwatch._compared_arrays import DTYPES
from nanwatch._compared_rows import ComparedRows
from nanwatch._places import kind_of, places_of
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._steps import Seen
from nanwatch._watched_run import WatchedRun

__all__ = ["Statistics", "Watch", "statistics", "watch"]

# Numbers of a step that say that there is something which skips updates.
_SKIPPING = {"scale", "skipped"}
_ROWS_EVERY = 32  # steps; what is not finite is told at once
_FUNCTIONS = _jax_functions.begin()


class Statistics(NamedTuple):
    """An element for each leaf that is a floating-point array, in the order of
    jax.tree.leaves."""

    norm: Any
    abs_max: Any
    nan: Any
    inf: Any


def _leaves(tree: Any) -> list[Any]:
    return [
        x
        for x in jax.tree_util.tree_leaves(tree)
        if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)
    ]


def statistics(gradients: Any, scale: Any = None) -> Statistics:
    """Of a tree of gradients; call it inside jit. `scale`: the loss scale that
    they still carry, if they do."""
    leaves = [x.astype(jnp.float32) for x in _leaves(gradients)]
    if not leaves:
        none = jnp.zeros((0,), jnp.float32)
        return Statistics(none, none, none, none)
    if scale is not None:
        leaves = [x / scale for x in leaves]
    return Statistics(
        jnp.stack([_norm(x) for x in leaves]),
        jnp.stack([jnp.max(jnp.abs(x), initial=0.0) for x in leaves]),
        jnp.stack([jnp.sum(jnp.isnan(x)) for x in leaves]),
        jnp.stack([jnp.sum(jnp.isinf(x)) for x in leaves]),
    )


def _norm(x: Any) -> Any:
    """In the whole range of fp32, whose squares have half of it."""
    largest = jnp.max(jnp.abs(x), initial=0.0)
    by = jnp.clip(largest, 2.0**-100, 2.0**100)
    return by * jnp.sqrt(jnp.sum(jnp.square(x / by)))


class _Step(NamedTuple):
    number: int
    time: float
    scalars: dict[str, Any]
    told: Statistics | None
    more: dict[str, Any]

    def arrays(self) -> list[Any]:
        of = [*self.scalars.values(), *(self.told or ())]
        return [x for x in of if isinstance(x, jax.Array)]

    def ready(self) -> bool:
        # What was given away to a later computation does not come any more.
        return all(x.is_deleted() or x.is_ready() for x in self.arrays())


class Watch(WatchedRun):
    """What `watch` gives; for the thread that trains. Arrays that are handed
    over are copied without waiting, and read some steps later."""

    def __init__(self, run: Run, params: Any, scaled: bool) -> None:
        super().__init__(run)
        run._shared.seen = Seen(fresh_gradients=True)  # here nothing piles up
        self._may_skip = scaled  # else optax applies what is not finite
        self._compared = ComparedRows(run)
        found = jax.tree_util.tree_flatten_with_path(params)[0]
        named = [
            (_path(path), x)
            for path, x in found
            if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)
        ]
        # No array is kept: these are the first ones, and are soon replaced.
        self._sizes = [max(1, x.size) for _, x in named]
        # A tree says nothing of the order in which they are computed.
        self._ops = [
            run.register_op(
                name,
                type="Parameter",
                dtype=DTYPES.get(str(x.dtype), ""),
                shape=x.shape,
            )
            for name, x in named
        ]

    def step(
        self,
        loss: Any = None,
        told: Statistics | None = None,
        *,
        step: int | None = None,
        scale: Any = None,
        skipped: Any = None,
        **more: Any,
    ) -> None:
        """After an update. `loss`, `scale` (the one that it had) and `skipped`
        (e.g. `~opt_state.last_finite` of optax.apply_if_finite) may be arrays
        of one element; without either of both an update is taken for applied,
        as optax does it. `more` is as for `Run.step`."""
        try:
            self._step(loss, told, step, scale, skipped, more)
        except Exception as error:
            self.run._failed("step", error)

    def _step(
        self,
        loss: Any,
        told: Statistics | None,
        number: int | None,
        scale: Any,
        skipped: Any,
        more: dict[str, Any],
    ) -> None:
        if told is not None and not isinstance(told, Statistics):
            self.run._checks.refuse(
                "told",
                f"told= takes what statistics() gave, not a {describe(told)}",
            )
            told = None
        entry = _Step(
            self._take_number(number),
            time.time(),
            {"loss": loss, "scale": scale, "skipped": skipped},
            told,
            more,
        )
        for array in entry.arrays():
            if not array.is_deleted():
                array.copy_to_host_async()
        self._pending.add(entry)
        if _FUNCTIONS is not None:
            _FUNCTIONS.tell(self._compared, entry.number, entry.time)

    def _tell_entry(self, entry: _Step) -> None:
        numbers = {
            name: self._plain(name, value)
            for name, value in entry.scalars.items()
            if value is not None
        }
        if numbers.get("skipped") is not None:
            numbers["skipped"] = bool(numbers["skipped"])
        if entry.told is not None:
            loss = numbers.get("loss")
            bad = self._tell_gradients(
                entry, isinstance(loss, float) and not math.isfinite(loss)
            )
            norms = numpy.asarray(entry.told.norm).tolist()
            numbers["grad_norm"] = math.hypot(*norms)
            numbers["overflow"] = bad or bool(numbers.get("skipped"))
            if not self._may_skip and numbers.keys().isdisjoint(_SKIPPING):
                numbers["skipped"] = False
        if entry.told is not None and self._ops:
            fault = _update_faults.of_numbers(
                numbers["grad_norm"], entry.more.get("lr")
            )
            if fault:
                numbers["update_fault"] = fault
        self.run.step(entry.number, time=entry.time, **numbers, **entry.more)

    def _plain(self, name: str, value: Any) -> Any:
        if not isinstance(value, jax.Array):
            return value
        if value.is_deleted():
            self.run._checks.refuse(
                "a donated array",
                f"{name}= was donated to a computation before it was read: "
                "return it from the jitted function, too",
            )
            return None
        if value.size != 1:
            self.run._checks.refuse(
                name, f"{name}= takes one number, not an array of {value.shape}"
            )
            return None
        return numpy.asarray(value).item()

    def _tell_gradients(self, entry: _Step, loss_bad: bool) -> bool:
        """Whether one of them is not finite."""
        assert entry.told is not None
        norm, largest, nan, inf = (
            numpy.asarray(column).tolist() for column in entry.told
        )
        bad = any(nan) or any(inf)
        if len(norm) != len(self._ops):
            self.run._checks.refuse(
                "statistics", "these are not of the parameters being watched"
            )
            return bad
        if not bad and entry.number % _ROWS_EVERY:
            return False
        clean = [not (a or b) for a, b in zip(nan, inf)]
        # A loss that is not finite makes all of them so, and they say nothing
        # of where; where some are not, those that are lead to it.
        if loss_bad and len(clean) > 1 and not any(clean):
            return True
        self.run.ops(
            {
                "op": self._ops,
                "step": entry.number,
                "slot": "grad_input",
                "nan": nan,
                "pos_inf": inf,
                "abs_max": [v if c else None for v, c in zip(largest, clean)],
                "rms": [
                    v / math.sqrt(n) if c else None
                    for v, n, c in zip(norm, self._sizes, clean)
                ],
            }
        )
        return bad


def _path(path: Any) -> str:
    return str(jax.tree_util.keystr(path, simple=True, separator="."))


def _places(params: Any) -> dict[str, int]:
    """Of this process, in the mesh that the parameters lie on: of each axis
    the block that its devices have, by what the axis is called."""
    for leaf in _leaves(params):
        mesh = getattr(getattr(leaf, "sharding", None), "mesh", None)
        if mesh is None or getattr(mesh, "devices", None) is None:
            continue
        own = numpy.argwhere(
            numpy.vectorize(lambda d: d.process_index)(mesh.devices)
            == jax.process_index()
        )
        axes = []
        for i, (name, size) in enumerate(mesh.shape.items()):
            block = len(set(own[:, i].tolist()))
            axes.append(
                (kind_of(name), size // block, int(own[:, i].min()) // block)
            )
        return places_of(axes)
    return {}


def watch(params: Any, **init: Any) -> Watch:
    """Opens a run for a tree of parameters. The rest is as for
    `nanwatch.init`; rank and world size are jax.process_index's and
    jax.process_count's where there are several processes."""
    init.setdefault("framework", "jax")
    init.setdefault("overflow_mode", "inf_nan")
    add_settings(init, jax=jax.__version__)
    if jax.process_count() > 1:
        init.setdefault("rank", jax.process_index())
        init.setdefault("world_size", jax.process_count())
        with contextlib.suppress(Exception):  # a mesh of another jax
            init = {**_places(params), **init}
    opened = nanwatch.init(**init)
    try:
        if not _leaves(params):
            opened._checks.refuse("params", "there are no parameters in it")
        it = Watch(opened, params, init.get("scaler") is not None)
        _first_steps.limit(it)
        return it
    except Exception as error:
        opened._failed("watch", error)
        return Watch(nanwatch._init._silent(Checks()), (), False)
