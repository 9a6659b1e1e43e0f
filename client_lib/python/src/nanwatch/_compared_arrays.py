"""What two runs are compared by, where a framework gives its tensors as arrays
of NumPy, on the host: digests and sketches of a step's at some steps, and a
digest of each step's batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from nanwatch import _first_steps, _ops, _sketches
from nanwatch._compared_rows import (
    PARAMETER,
    ComparedRows,
    Taken,
    with_batch,
)
from nanwatch._compared_steps import ComparedSteps
from nanwatch._run import Run

LEVEL = "compare"
LEVELS = ("default", LEVEL)
DTYPES = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
}


def take(
    library: _sketches.Library, array: Any, dtype: str = ""
) -> Taken | None:
    """None: it has no elements, or of another kind. `dtype`: of the wire,
    where the array has only its bits."""
    if array.size == 0 or array.dtype.kind not in "fiubV":
        return None
    shape, flat = array.shape, numpy.ascontiguousarray(array)
    name = dtype or DTYPES.get(str(array.dtype), "")
    bits = name or _sketches.BY_BYTES.get(flat.itemsize)
    if bits is None:
        return None
    n = int(flat.size)
    sketch = library.of(
        flat.ctypes.data,
        _sketches.Part(1, n, 0, n),
        _ops.DTYPES[bits],
        bool(name),
    )
    return Taken(sketch, n, shape, name, False)


class ComparedArrays:
    """Of one training; for its thread. What is not to be recorded is not asked
    for: arrays come from `array_of`, and its cost is that of the level."""

    def __init__(
        self,
        library: _sketches.Library,
        run: Run,
        array_of: Callable[[Any], tuple[Any, str]],
    ) -> None:
        self._library = library
        self._run = run
        self._array_of = array_of  # an array, and its format if that is hidden
        self._rows = ComparedRows(run)
        self._steps = ComparedSteps()
        self._batch: int | None = None
        self.on = True  # the step that goes on is looked at

    def add(self, name: str, kind: str, slot: str, *tensors: Any) -> None:
        """Of the step that goes on, in the order of its computation."""
        if not self.on:
            return
        with _Timed(self, "comparing"):
            for tensor in tensors:
                self._rows.add(name, kind, slot, self._take(tensor))

    def add_backward(
        self, name: str, kind: str, slot: str, scale: float, *tensors: Any
    ) -> None:
        """`scale`: what the gradients are still multiplied by."""
        if not self.on:
            return
        with _Timed(self, "comparing"):
            for tensor in tensors:
                taken = self._take(tensor)
                self._rows.add_backward(name, kind, slot, taken, scale)

    def add_gradients(
        self, named: Iterable[tuple[str, Any]], scale: float = 1.0
    ) -> None:
        """Of parameters."""
        if not self.on:
            return
        with _Timed(self, "comparing"):
            for name, tensor in named:
                taken = self._take(tensor)
                self._rows.add(name, PARAMETER, "grad_input", taken, scale)

    def add_weights(self, named: Iterable[tuple[str, Any]]) -> None:
        """As the step that comes finds them."""
        for name, tensor in named:
            self.add(name, PARAMETER, "parameter", tensor)

    def take_batch(self, tensors: Iterable[Any]) -> None:
        """Of each step; as often as costs allow they get a digest."""
        if not self._steps.has_batch:
            return
        with _Timed(self, "batch"):
            for tensor in tensors:
                taken = self._take(tensor)
                if taken is None:
                    continue
                self._batch = with_batch(self._batch, taken)
                if self.on:
                    self._rows.add("batch", "Batch", "input", taken)

    def end(
        self,
        number: int,
        when: float,
        named: Callable[[], Iterable[tuple[str, Any]]] | None = None,
    ) -> int | None:
        """A step is over, with its rows; the weights of `named` are the next
        one's. Returns its batch's digest."""
        batch, self._batch = self._batch, None
        if self.on:
            with _Timed(self, "comparing"):
                self._rows.tell(number, when)
        self._steps.end(recorded=self.on)
        self.on = self._steps.has_next(number)
        if self.on and named is not None:
            self.add_weights(named())
        return batch

    def _take(self, tensor: Any) -> Taken | None:
        array, dtype = self._array_of(tensor)
        return None if array is None else take(self._library, array, dtype)

    def spend(self, seconds: float) -> None:
        self._steps.spent += seconds

    def failed(self, what: str, error: Exception) -> None:
        self._run._failed(what, error)


class _Timed:
    """What goes wrong within is told of the run, and ends no training."""

    def __init__(self, of: ComparedArrays, what: str) -> None:
        self._of, self._what = of, what

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, kind: Any, error: Any, *rest: object) -> bool:
        self._of.spend(time.perf_counter() - self._begun)
        if isinstance(error, Exception):
            self._of.failed(self._what, error)
            return True
        return False


def level_of(given: Any, run: Run) -> str:
    """What a command wants comes before what the program says."""
    level = _first_steps.level(given)
    if level in LEVELS:
        return level
    if given not in LEVELS:
        run._checks.refuse(
            "level", f"level= is one of {', '.join(LEVELS)}, not {given!r:.60}"
        )
    return LEVELS[0]


def begin(
    level: str, run: Run, array_of: Callable[[Any], tuple[Any, str]]
) -> ComparedArrays | None:
    """None: at another level, or the C library is not there, which is said."""
    if level != LEVEL:
        return None
    library = _sketches.library()
    if library is None:
        run._checks.refuse("compare", _sketches.MISSING)
        return None
    return ComparedArrays(library, run, array_of)
