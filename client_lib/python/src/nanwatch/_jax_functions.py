"""What each jitted function of a JAX training is given and gives, where a
command of nanwatch wants two runs of it compared: compiled, or, where
JAX_DISABLE_JIT says so, not."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from nanwatch import _first_steps, _sketches
from nanwatch._compared_arrays import LEVEL, take
from nanwatch._compared_rows import ComparedRows, Taken

_KIND = "Function"
_LEAVES = 256  # of one call's arguments, and of its results


class Functions:
    """Of this process. Results arrive on threads of JAX."""

    def __init__(self, library: _sketches.Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._seen: list[tuple[str, str, Taken]] = []

    def recorded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        name = getattr(function, "__qualname__", type(function).__name__)

        @functools.wraps(function)
        def run(*args: Any, **more: Any) -> Any:
            result = function(*args, **more)
            given, made = _arrays((args, more)), _arrays(result)
            # One call of it, so that both come together; what a function calls
            # comes before it.
            jax.debug.callback(
                functools.partial(self._take, name, len(given)), *given, *made
            )
            return result

        return run

    def _take(self, name: str, given: int, *arrays: Any) -> None:
        with self._lock:
            for i, array in enumerate(arrays):
                slot = "input" if i < given else "output"
                taken = take(self._library, numpy.asarray(array))
                if taken is not None:
                    self._seen.append((name, slot, taken))

    def tell(self, rows: ComparedRows, number: int, when: float) -> None:
        """What came since it was called last, as of the step `number`."""
        jax.effects_barrier()
        with self._lock:
            seen, self._seen = self._seen, []
        for name, slot, taken in seen:
            rows.add(name, _KIND, slot, taken)
        rows.tell(number, when)


def _arrays(tree: Any) -> list[Any]:
    found = [
        x
        for x in jax.tree_util.tree_leaves(tree)
        if isinstance(x, (jax.Array, numpy.ndarray))
        and (
            jnp.issubdtype(x.dtype, jnp.floating)
            or jnp.issubdtype(x.dtype, jnp.integer)
        )
    ]
    return found[:_LEAVES]


def begin() -> Functions | None:
    """Before the program jits anything: at the import of nanwatch.jax. None:
    no command asks for it."""
    library = _sketches.library()
    if _first_steps.level("") != LEVEL or library is None:
        return None
    functions, jit = Functions(library), jax.jit

    @functools.wraps(jit)
    def recording_jit(*args: Any, **more: Any) -> Any:
        if not args:  # a decorator with arguments, of newer versions
            return lambda function: recording_jit(function, **more)
        return jit(functions.recorded(args[0]), *args[1:], **more)

    jax.jit = recording_jit
    return functions
