"""What was taken of a step for a comparison, and its rows, whose ops are of
their own: no rule judges them."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from nanwatch import _ops, _wire
from nanwatch._run import Run
from nanwatch._sketches import Sketch

_MOST = 15_000  # of a step
_BACKWARD = 1 << 20  # places in the execution order, behind all others
_OF_BACKWARD = "Backward"  # at the end of a type
_OF_ALL = "Sum"  # behind that
PARAMETER = "Parameter"
# Between one tensor of a batch, or part of it, and the next (proto/SKETCH.md).
_TURN = 0x9E3779B97F4A7C15


class Taken(NamedTuple):
    """One tensor as it was."""

    sketch: Sketch
    elements: int
    shape: tuple[int, ...]
    dtype: str  # empty: of integers
    part: bool  # of a tensor that several ranks hold


def with_batch(batch: int | None, taken: Taken) -> int:
    """Adds one more tensor to the digest of a batch; `None`: it has none."""
    return ((batch or 0) * _TURN + taken.sketch.digest) & _wire.MASK64


class _Row(NamedTuple):
    name: str
    kind: str
    slot: str
    taken: Taken
    divide_by: float  # what its gradient is scaled by


class ComparedRows:
    """Those of one step, in the order of execution."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rows: list[_Row] = []
        self._ops: dict[Any, int] = {}

    def add(
        self,
        name: str,
        kind: str,
        slot: str,
        taken: Taken | None,
        divide_by: float = 1.0,
    ) -> None:
        if taken is not None and len(self._rows) < _MOST:
            self._rows.append(_Row(name, kind, slot, taken, divide_by))

    def add_backward(
        self,
        name: str,
        kind: str,
        slot: str,
        taken: Taken | None,
        scale: float,
        of_all: bool = False,
    ) -> None:
        """Who gave a gradient comes before who gets it. `of_all`: it is what
        all gave that read the tensor, a type of its own, since not all runs
        know a module's share."""
        kind += _OF_BACKWARD + (_OF_ALL if of_all else "")
        self.add(name, kind, slot, taken, scale)
        at = len(self._rows) - 1
        if taken is None or slot != "grad_input" or at < 0:
            return
        row = self._rows.pop()
        while at and self._rows[at - 1].taken is taken:
            at -= 1
        self._rows.insert(at, row)

    def forget_parameters(self, names: Container[str]) -> None:
        """They are looked at anew."""
        self._rows = [
            row
            for row in self._rows
            if row.kind != PARAMETER or row.name not in names
        ]

    def clear(self) -> None:
        self._rows = []

    def tell(self, number: int, when: float) -> None:
        """As those of the step `number`; there are none from here on."""
        rows, self._rows = self._rows, []
        told = [(op, row) for row in rows if (op := self._op(row)) >= 0]
        n = len(told)
        if n == 0:
            return
        columns: dict[str, list[Any]] = {
            "step": [number] * n,
            "time": [when] * n,
            "op": [op for op, _ in told],
            "slot": [_ops.SLOTS[row.slot] for _, row in told],
            "elements": [row.taken.elements for _, row in told],
            "digest": [row.taken.sketch.digest for _, row in told],
            "sketch": [_sums(row) for _, row in told],
            "sketch_nan": [row.taken.sketch.nan for _, row in told],
            "sketch_inf": [row.taken.sketch.inf for _, row in told],
            "request": [0] * n,
        }
        self._run.take_table(_ops.Table(n, columns))

    def _op(self, row: _Row) -> int:
        taken = row.taken
        key = (row.name, row.kind, row.slot == "parameter", taken.shape)
        op = self._ops.get(key)
        if op is None:
            backward = row.kind.endswith((_OF_BACKWARD, _OF_BACKWARD + _OF_ALL))
            op = self._run.register_op(
                row.name,
                type=row.kind,
                dtype=taken.dtype,
                shape=taken.shape,
                order=len(self._ops) + (_BACKWARD if backward else 0),
                part=taken.part,
            )
            self._ops[key] = op
        return op


def _sums(row: _Row) -> tuple[float, ...] | None:
    sums = row.taken.sketch.sums
    if sums is None or row.divide_by == 1.0:
        return sums
    return tuple(each / row.divide_by for each in sums)
