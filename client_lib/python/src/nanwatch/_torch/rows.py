"""Statuses of ops at one step, as the run takes them."""

from __future__ import annotations

from typing import Any

from nanwatch import _ops
from nanwatch._torch.statistics import Read

_COLUMNS = ("nan", "pos_inf", "neg_inf", "zero", "abs_max", "rms")


class Rows:
    """Statuses of one step, as columns."""

    def __init__(self, step: int, time: float, request: int) -> None:
        self._step, self._time, self._request = step, time, request
        self._ops: list[int] = []
        self._slots: list[int] = []
        self._reads: list[Read] = []

    def add(self, op: int, slot: str, status: Read) -> None:
        if op >= 0:
            self._ops.append(op)
            self._slots.append(_ops.SLOTS[slot])
            self._reads.append(status)

    def __len__(self) -> int:
        return len(self._ops)

    def table(self) -> _ops.Table | None:
        n = len(self._ops)
        if n == 0:
            return None
        columns: dict[str, list[Any]] = {
            "step": [self._step] * n,
            "time": [self._time] * n,
            "op": self._ops,
            "slot": self._slots,
            "elements": [r.elements for r in self._reads],
            "request": [self._request] * n,
        }
        for name in _COLUMNS:
            columns[name] = [getattr(r, name) for r in self._reads]
        return _ops.Table(n, columns)
