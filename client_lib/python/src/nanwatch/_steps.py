"""Rows of steps as the columns of the wire (StepBatch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nanwatch import _wire
from nanwatch._checks import STEP_MOST, Checks
from nanwatch._text import clean

# A row in the buffer, flat: step, Unix seconds, loss, loss scale, gradient
# norm, learning rate, overflow, skipped, More or None. Nothing in a usual row
# is an object that the garbage collector tracks.
WIDTH = 9
_STEP, _TIME, _LOSS, _SCALE, _GRAD_NORM, _RATE, _OVERFLOW, _SKIPPED, _MORE = (
    range(WIDTH)
)

# The daemon's bounds of one batch (daemon/model/limits.h).
OPTIMIZERS = 8
LAYER_SCALES = 65536


class More(NamedTuple):
    """What few steps have. Numbers are None where absent."""

    update_norm: float | None = None
    param_norm: float | None = None
    zero_fraction: float | None = None
    underflow_fraction: float | None = None
    consumed_samples: float | None = None
    optimizer: int = 0  # 0: the only one, without a name
    replica_digest: int | None = None
    float_status: tuple[int, ...] = ()  # 1 or 8 words; (): none
    float_status_combined: bool = False
    layer_scales: tuple[tuple[int, float], ...] = ()  # op, scale
    request_id: int = 0  # the request that this answers
    applied_grad_norm: float | None = None
    update_fault: int = 0  # UpdateFault
    stuck_fraction: float | None = None
    fault_of: str = ""  # the part of the model that the fault is of
    samples: tuple[int, int] | None = None  # both included
    batch_digest: int | None = None  # of the data that was trained on


_NOTHING_MORE = More()

Columns = list[list[Any]]


def columns_of(rows: list[Any]) -> Columns:
    """The flat rows as one list a column."""
    return [rows[i::WIDTH] for i in range(WIDTH)]


_REALS = (
    (_LOSS, "loss"),
    (_SCALE, "scale"),
    (_GRAD_NORM, "grad_norm"),
    (_RATE, "lr"),
)
_FLAGS = ((_OVERFLOW, "overflow"), (_SKIPPED, "skipped"))
_PLAIN_REALS = frozenset((float, type(None)))
_PLAIN_FLAGS = frozenset((bool, type(None)))


def plain(columns: Columns, checks: Checks) -> Columns:
    """The columns as plain numbers. What is no number becomes absent, and rows
    whose step is none are left out; both are counted in `checks`."""
    steps = columns[_STEP]
    if set(map(type, steps)) != {int} or not (
        min(steps) >= 0 and max(steps) <= STEP_MOST
    ):
        columns[_STEP] = steps = [checks.step(v) for v in steps]
    for at, name in _REALS:
        if not _PLAIN_REALS.issuperset(map(type, columns[at])):
            columns[at] = [checks.real(name, v) for v in columns[at]]
    for at, name in _FLAGS:
        if not _PLAIN_FLAGS.issuperset(map(type, columns[at])):
            columns[at] = [checks.flag(name, v) for v in columns[at]]
    if None not in steps:
        return columns
    keep = [v is not None for v in steps]
    return [[v for v, k in zip(column, keep) if k] for column in columns]


def cut(columns: Columns, max_rows: int) -> Iterator[tuple[Columns, int]]:
    """Columns of at most `max_rows` rows that one batch can say, and how many
    rows: the wire has one request id a batch, and replica digests for all
    rows or for none."""
    more = columns[_MORE]
    begin = 0
    while begin < len(more):
        end = _batch_end(more, begin, max_rows)
        yield [column[begin:end] for column in columns], end - begin
        begin = end


def _batch_end(more: Sequence[More | None], begin: int, max_rows: int) -> int:
    most = min(len(more), begin + max_rows)
    if more.count(None) == len(more):
        return most
    first = more[begin] or _NOTHING_MORE
    scales = 0
    optimizers = set()
    for i in range(begin, most):
        row = more[i] or _NOTHING_MORE
        scales += len(row.layer_scales)
        optimizers.add(row.optimizer)
        if i > begin and (
            row.request_id != first.request_id
            or (row.replica_digest is None) != (first.replica_digest is None)
            or scales > LAYER_SCALES
            or len(optimizers) > OPTIMIZERS
        ):
            return i
    return most


def put_doubles(number: int, column: Sequence[float | None]) -> bytes:
    """A DoubleColumn, nothing where all are absent."""
    return put_floats(number, column, "d")


def put_floats(number: int, column: Sequence[float | None], kind: str) -> bytes:
    absent = column.count(None)
    if absent == len(column):
        return b""
    if not absent:
        return _wire.put_message(
            number,
            _wire.put_bytes(1, _wire.little(kind, column)),  # type: ignore[arg-type]
        )
    values = [0.0 if v is None else v for v in column]
    return _wire.put_message(
        number,
        _wire.put_bytes(1, _wire.little(kind, values))
        + _wire.put_bytes(2, _wire.bits([v is None for v in column])),
    )


def _put_bits(number: int, column: Sequence[bool | None]) -> bytes:
    if column.count(None) == len(column):
        return b""
    return _wire.put_message(
        number,
        _wire.put_bytes(1, _wire.bits(column))
        + _wire.put_bytes(2, _wire.bits([v is None for v in column])),
    )


def _put_optimizers(more: Sequence[More], names: Sequence[str]) -> bytes:
    used: list[int] = []
    index = []
    for row in more:
        optimizer = row.optimizer if row.optimizer <= len(names) else 0
        if optimizer not in used:
            used.append(optimizer)
        index.append(used.index(optimizer))
    if used == [0]:
        return b""
    out = b"".join(
        _wire.put_message(17, names[i - 1].encode() if i else b"") for i in used
    )
    if len(used) == 1:
        return out
    return out + _wire.put_bytes(18, _wire.varints(index))


def _put_float_status(more: Sequence[More]) -> bytes:
    out = []
    for i, row in enumerate(more):
        if row.float_status:
            words = _wire.varints([_wire.zigzag(w) for w in row.float_status])
            out.append(
                _wire.put_message(
                    20,
                    _wire.put_int(1, i)
                    + _wire.put_bytes(2, words)
                    + _wire.put_int(3, int(row.float_status_combined)),
                )
            )
    return b"".join(out)


def _put_layer_scales(more: Sequence[More]) -> bytes:
    rows = [i for i, row in enumerate(more) for _ in row.layer_scales]
    if not rows:
        return b""
    pairs = [pair for row in more for pair in row.layer_scales]
    return _wire.put_message(
        21,
        _wire.put_bytes(1, _wire.varints(rows))
        + _wire.put_bytes(2, _wire.varints([op for op, _ in pairs]))
        + _wire.put_bytes(3, _wire.little("d", [s for _, s in pairs])),
    )


def _put_update_facts(more: Sequence[More]) -> bytes:
    return b"".join(
        _wire.put_message(
            24,
            _wire.put_int(1, i)
            + _wire.put_int(2, row.update_fault)
            + _wire.put_optional_double(3, row.stuck_fraction)
            + _wire.put_bytes(4, clean(row.fault_of)),
        )
        for i, row in enumerate(more)
        if row.update_fault or row.stuck_fraction is not None
    )


def _put_samples(more: Sequence[More]) -> bytes:
    return b"".join(
        _wire.put_message(
            25,
            _wire.put_int(1, i)
            + _wire.put_int(2, _wire.zigzag(row.samples[0]))
            + _wire.put_int(3, _wire.zigzag(row.samples[1])),
        )
        for i, row in enumerate(more)
        if row.samples is not None
    )


def _put_batch_digests(more: Sequence[More]) -> bytes:
    return b"".join(
        _wire.put_message(
            60,
            _wire.put_int(1, i) + _wire.put_fixed64(2, row.batch_digest),
        )
        for i, row in enumerate(more)
        if row.batch_digest is not None
    )


def _put_more(column: list[More | None], names: Sequence[str]) -> bytes:
    if column.count(None) == len(column):
        return b""
    more = [row or _NOTHING_MORE for row in column]
    out = [
        put_doubles(9, [row.update_norm for row in more]),
        put_doubles(10, [row.param_norm for row in more]),
        put_doubles(12, [row.zero_fraction for row in more]),
        put_doubles(13, [row.underflow_fraction for row in more]),
        put_doubles(14, [row.consumed_samples for row in more]),
        _put_optimizers(more, names),
        _put_float_status(more),
        _put_layer_scales(more),
        _wire.put_int(22, more[0].request_id),
        put_doubles(23, [row.applied_grad_norm for row in more]),
        _put_update_facts(more),
        _put_samples(more),
        _put_batch_digests(more),
    ]
    if more[0].replica_digest is not None:
        digests = [row.replica_digest or 0 for row in more]
        out.append(_wire.put_bytes(19, _wire.little("Q", digests)))
    return b"".join(out)


class Seen(NamedTuple):
    """How all updates of a StepBatch are made."""

    fresh_gradients: bool = False  # anew for each update
    rival_loss: bool = False  # it goes through weights that others train
    follows_rewards: bool = False
    objective_moves: bool = False  # weights of terms move

    def encode(self) -> bytes:
        return b"".join(
            _wire.put_int(field, int(seen))
            for field, seen in enumerate(self, 26)
        )


def microseconds(times: Sequence[float]) -> list[int]:
    return [int(t * 1e6) for t in times]


def encode(columns: Columns, names: Sequence[str], sent_us: int) -> bytes:
    """One StepBatch without session and sequence. `names` holds the registered
    optimizers; index 1 is the first of them."""
    return b"".join(
        [
            _wire.put_int(3, sent_us),
            _wire.put_bytes(4, _wire.deltas(columns[_STEP])),
            _wire.put_bytes(5, _wire.deltas(microseconds(columns[_TIME]))),
            put_doubles(6, columns[_LOSS]),
            put_doubles(7, columns[_SCALE]),
            put_doubles(8, columns[_GRAD_NORM]),
            put_doubles(11, columns[_RATE]),
            _put_bits(15, columns[_OVERFLOW]),
            _put_bits(16, columns[_SKIPPED]),
            _put_more(columns[_MORE], names),
        ]
    )
