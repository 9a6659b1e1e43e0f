"""Rows of op statuses as the columns of the wire (OpBatch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nanwatch import _wire
from nanwatch._steps import microseconds, put_floats

SLOTS = {
    "input": 1,
    "output": 2,
    "grad_input": 3,
    "grad_output": 4,
    "parameter": 5,
    "optimizer_state": 6,
    "collective": 7,
}
DTYPES = {
    "fp64": 1,
    "fp32": 2,
    "fp16": 3,
    "bf16": 4,
    "fp8_e4m3": 5,
    "fp8_e5m2": 6,
}

# Columns by their names in `Run.op`, with the field each has on the wire.
COUNTS = {
    "nan": 10,
    "pos_inf": 11,
    "neg_inf": 12,
    "saturated": 13,
    "zero": 14,
    "subnormal": 15,
}
NUMBERS = {
    "min": 16,
    "max": 17,
    "abs_max": 18,
    "mean": 19,
    "rms": 20,
    "log2_mean": 21,
    "log2_std": 22,
    "fp8_amax": 23,
    "fp8_scale_inv": 24,
}
_DEVICE_FLAG, _DIGEST, _EXPONENTS, _REQUEST = 25, 26, 27, 28
_SKETCHES = 60
SKETCH_SUMS = 16

# fp64 reaches from 2^-1074 to 2^1023.
EXPONENT_BINS = 2098
# A thousand rows with a full fp32 histogram each are 600 KB.
_EXPONENT_COUNTS = 300_000


class Status(NamedTuple):
    """One row; None is absent, elements None the op's storage shape."""

    step: int
    time: float
    op: int
    slot: int
    elements: int | None = None
    nan: int | None = None
    pos_inf: int | None = None
    neg_inf: int | None = None
    saturated: int | None = None
    zero: int | None = None
    subnormal: int | None = None
    min: float | None = None
    max: float | None = None
    abs_max: float | None = None
    mean: float | None = None
    rms: float | None = None
    log2_mean: float | None = None
    log2_std: float | None = None
    fp8_amax: float | None = None
    fp8_scale_inv: float | None = None
    device_flag: int | None = None
    digest: int | None = None
    # First exponent and its counts.
    exponents: tuple[int, tuple[int, ...]] | None = None
    request: int = 0
    sketch: tuple[float, ...] | None = None  # SKETCH_SUMS, finite
    # Elements that are not in the sketch: NaN and infinite ones. None: not
    # counted.
    sketch_nan: int | None = None
    sketch_inf: int | None = None


class Table:
    """Many statuses as a column each; a missing column is all None."""

    def __init__(self, rows: int, columns: dict[str, list[Any]]) -> None:
        self.rows = rows
        self._columns = columns

    @classmethod
    def of(cls, statuses: Sequence[Status]) -> Table:
        columns = zip(*statuses)
        return cls(
            len(statuses),
            {n: list(c) for n, c in zip(Status._fields, columns)},
        )

    def has(self, name: str) -> bool:
        column = self._columns.get(name)
        return column is not None and column.count(None) != len(column)

    def column(self, name: str) -> list[Any]:
        column = self._columns.get(name)
        if column is not None:
            return column
        return [0 if name == "request" else None] * self.rows

    def rows_of(self, begin: int, end: int) -> Table:
        return Table(
            end - begin, {n: c[begin:end] for n, c in self._columns.items()}
        )

    def where(self, keep: Sequence[bool]) -> Table:
        columns = {
            n: [v for v, k in zip(c, keep) if k]
            for n, c in self._columns.items()
        }
        return Table(sum(keep), columns)

    def mistakes(self, op_elements: Sequence[int]) -> list[str]:
        """What the daemon would refuse of each row: it refuses whole messages,
        so one bad row would take all others of its batch along. Empty: it is
        as it should be."""
        told = [n for n in COUNTS if self.has(n)]
        if not told and not self.has("exponents"):
            return [""] * self.rows
        sums = [0] * self.rows
        for name in told:
            sums = [s + (v or 0) for s, v in zip(sums, self.column(name))]
        # 0 elements of a row are none; of a shape, an unknown number.
        shapes = [n or _wire.MASK64 for n in op_elements]
        elements = [
            e
            if e is not None
            else (shapes[op] if op < len(shapes) else _wire.MASK64)
            for e, op in zip(self.column("elements"), self.column("op"))
        ]
        return [
            _mistake(s, e, exponents)
            for s, e, exponents in zip(sums, elements, self.column("exponents"))
        ]

    def cut(self, max_rows: int) -> Iterator[Table]:
        """Parts that one batch can say: it has one request id, and digests for
        all rows or for none."""
        begin = 0
        while begin < self.rows:
            end = self._batch_end(begin, max_rows)
            yield self.rows_of(begin, end)
            begin = end

    def _batch_end(self, begin: int, max_rows: int) -> int:
        most = min(self.rows, begin + max_rows)
        if not (
            self.has("digest") or self.has("exponents") or self.has("request")
        ):
            return most
        digests = self.column("digest")
        exponents = self.column("exponents")
        requests = self.column("request")
        counts = 0
        for i in range(begin, most):
            counts += len(exponents[i][1]) if exponents[i] else 0
            if i > begin and (
                requests[i] != requests[begin]
                or (digests[i] is None) != (digests[begin] is None)
                or counts > _EXPONENT_COUNTS
            ):
                return i
        return most


def _mistake(
    counted: int,
    elements: int,
    exponents: tuple[int, Sequence[int]] | None,
) -> str:
    if counted > elements:
        return f"counts {counted} of {elements} elements"
    if exponents is None:
        return ""
    first, counts = exponents
    last = first + len(counts) - 1
    if first < -1074 or last > 1023:
        return f"has exponents from {first} to {last}, beyond those of fp64"
    if sum(counts) > elements:
        return f"counts {sum(counts)} exponents of {elements} elements"
    return ""


def _counts(
    column: Sequence[int], listed: Sequence[bool], may_be_dense: bool
) -> bytes:
    """Sparse while few rows are listed: a gap is a byte mostly, as is a 0
    among the dense."""
    some = listed.count(True)
    if may_be_dense and 2 * some > len(column):
        return _wire.put_bytes(
            2, _wire.varints([v if k else 0 for v, k in zip(column, listed)])
        )
    rows = [i for i, k in enumerate(listed) if k] if some else []
    gaps = [b - a for a, b in zip([0, *rows], rows)]
    return _wire.put_bytes(1, _wire.varints(gaps)) + _wire.put_bytes(
        2, _wire.varints([column[i] for i in rows])
    )


def _put_counts(number: int, column: Sequence[int | None]) -> bytes:
    values = [v or 0 for v in column]
    return _wire.put_message(
        number,
        _counts(values, [v != 0 for v in values], True)
        + _wire.put_bytes(3, _wire.bits([v is None for v in column])),
    )


def _put_elements(table: Table, op_elements: Sequence[int]) -> bytes:
    """Only what differs from the op's shape. A 0 among the dense would say "no
    elements" rather than "as the shape"."""
    if not table.has("elements"):
        return b""
    column = table.column("elements")
    listed = [
        v is not None and v != (op_elements[op] if op < len(op_elements) else 0)
        for v, op in zip(column, table.column("op"))
    ]
    return _wire.put_bytes(9, _counts(column, listed, False))


def _put_step_runs(table: Table) -> bytes:
    steps = table.column("step")
    times = microseconds(table.column("time"))
    begins = [
        i for i in range(len(steps)) if i == 0 or steps[i] != steps[i - 1]
    ]
    ends = [*begins[1:], len(steps)]
    return (
        _wire.put_bytes(4, _wire.varints([b - a for a, b in zip(begins, ends)]))
        + _wire.put_bytes(5, _wire.deltas([steps[i] for i in begins]))
        + _wire.put_bytes(6, _wire.deltas([times[i] for i in begins]))
    )


def _put_places(table: Table) -> bytes:
    slots = table.column("slot")
    if slots.count(slots[0]) == len(slots):
        slots = slots[:1]
    return _wire.put_bytes(
        7, _wire.deltas(table.column("op"))
    ) + _wire.put_bytes(8, _wire.varints(slots))


def _put_exponents(table: Table) -> bytes:
    out = []
    for i, exponents in enumerate(table.column("exponents")):
        if exponents is not None:
            first, counts = exponents
            out.append(
                _wire.put_message(
                    _EXPONENTS,
                    _wire.put_int(1, i)
                    + _wire.put_int(2, _wire.zigzag(first))
                    + _wire.put_bytes(3, _wire.varints(counts)),
                )
            )
    return b"".join(out)


def _put_sketches(table: Table) -> bytes:
    rows: list[int] = []
    values: list[float] = []
    for i, sketch in enumerate(table.column("sketch")):
        if sketch is not None:
            rows.append(i)
            values.extend(sketch)
    out = _wire.put_bytes(1, _wire.varints(rows))
    out += _wire.put_bytes(2, _wire.little("f", values))
    for name, number in (("sketch_nan", 3), ("sketch_inf", 4)):
        if table.has(name):
            column = table.column(name)
            out += _put_counts(number, [column[i] for i in rows])
    return _wire.put_message(_SKETCHES, out)


def encode(table: Table, op_elements: Sequence[int], sent_us: int) -> bytes:
    """One OpBatch without session and sequence. `op_elements` holds the
    elements of each op's storage shape."""
    out = [
        _wire.put_int(3, sent_us),
        _put_step_runs(table),
        _put_places(table),
        _put_elements(table, op_elements),
    ]
    for name, number in COUNTS.items():
        if table.has(name):
            out.append(_put_counts(number, table.column(name)))
    for name, number in NUMBERS.items():
        if table.has(name):
            out.append(put_floats(number, table.column(name), "f"))
    if table.has("device_flag"):
        out.append(_put_counts(_DEVICE_FLAG, table.column("device_flag")))
    if table.has("digest"):
        digests = _wire.little("Q", [d or 0 for d in table.column("digest")])
        out.append(_wire.put_bytes(_DIGEST, digests))
    out.append(_put_exponents(table) if table.has("exponents") else b"")
    out.append(_put_sketches(table) if table.has("sketch") else b"")
    out.append(_wire.put_int(_REQUEST, table.column("request")[0]))
    return b"".join(out)
