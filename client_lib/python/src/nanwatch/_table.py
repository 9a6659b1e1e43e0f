"""Columns of op statuses as a training hands them to `Run.ops`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

from nanwatch import _ops, _wire
from nanwatch._checks import (
    FLOAT32_MAX,
    STEP_MOST,
    Checks,
    describe,
    is_numpy_array,
    quote,
)

_COUNTS = {*_ops.COUNTS, "elements", "device_flag", "digest"}
_KNOWN = {"op", "step", "slot", "time", "request", *_COUNTS, *_ops.NUMBERS}

Index = Callable[[Any], Optional[int]]


def _values(name: str, column: Any, checks: Checks) -> list[Any] | None:
    """None: it is no column. Arrays of other libraries are not read: they may
    lie on a device."""
    if is_numpy_array(column) and column.ndim == 1:
        values: list[Any] = column.tolist()
        return values
    if isinstance(column, (list, tuple)):
        return list(column)
    checks.refuse(
        name,
        f"the column {name!r} takes a numpy array of one dimension or a list, "
        f"not a {describe(column)}",
    )
    return None


def _is_one(value: Any) -> bool:
    return isinstance(value, (int, str)) or (
        value is not None
        and not isinstance(value, (list, tuple))
        and type(value).__module__ == "numpy"
        and not is_numpy_array(value)
    )


def _rows(columns: Mapping[str, Any]) -> int:
    """Of the first column that is one; 1 when all are single values."""
    for column in columns.values():
        if is_numpy_array(column) or isinstance(column, (list, tuple)):
            return len(column)
    return 1


def read(
    columns: Mapping[str, Any],
    checks: Checks,
    index_of: Index,
    slot_of: Index,
    now: float,
) -> _ops.Table | None:
    """None: nothing of it can be used."""
    rows = _rows(columns)
    read_columns: dict[str, list[Any]] = {
        "time": [now] * rows,
        "slot": [_ops.SLOTS["output"]] * rows,
    }
    for name, column in columns.items():
        if name not in _KNOWN:
            checks.refuse("a column", f"ops() has no column {quote(name)}")
            continue
        values = (
            [column] * rows
            if _is_one(column)
            else _values(name, column, checks)
        )
        if values is None:
            continue
        if len(values) != rows:
            checks.refuse(
                "ops", f"the columns of ops() differ in length: {name!r}"
            )
            return None
        read_columns[name] = _converted(
            name, values, checks, index_of, slot_of, now
        )
    if "op" not in read_columns or "step" not in read_columns:
        checks.refuse("ops", 'ops() takes a column "op" and a column "step"')
        return None
    table = _ops.Table(rows, read_columns)
    keep = [
        None not in row
        for row in zip(*(table.column(n) for n in ("op", "step", "slot")))
    ]
    return table if all(keep) else table.where(keep)


def _converted(
    name: str,
    values: list[Any],
    checks: Checks,
    index_of: Index,
    slot_of: Index,
    now: float,
) -> list[Any]:
    if name == "op":
        return _each(values, index_of)
    if name == "slot":
        return _each(values, slot_of)
    if name == "step":
        return [
            v if type(v) is int and 0 <= v <= STEP_MOST else checks.step(v)
            for v in values
        ]
    if name == "time":
        return [checks.seconds(v, now) for v in values]
    if name == "request":
        return [checks.count(name, v) or 0 for v in values]
    if name == "device_flag":
        return [
            v if v is None else checks.integer(name, v, 0, (1 << 32) - 1)
            for v in values
        ]
    if name in _COUNTS:
        return [
            v
            if v is None or (type(v) is int and 0 <= v <= _wire.MASK64)
            else checks.count(name, v)
            for v in values
        ]
    return [
        v
        if type(v) is float and -FLOAT32_MAX <= v <= FLOAT32_MAX
        else checks.real32(name, v)
        for v in values
    ]


def _each(values: list[Any], read_one: Index) -> list[int | None]:
    """Each different value is read once."""
    known = {v: read_one(v) for v in set(values)}
    return [known[v] for v in values]
