"""The ops of a run: their names, and how their tensors were."""

from __future__ import annotations

import time as _time
from collections.abc import Mapping, Sequence
from typing import Any

from nanwatch import _names, _ops
from nanwatch._checks import Checks, quote
from nanwatch._outbox import Lost
from nanwatch._shared import Shared
from nanwatch._text import clean

_now = _time.time

_INT32_MAX = (1 << 31) - 1
_UINT32_MAX = (1 << 32) - 1


class RunOps:
    """What `Run` does with ops; as with its other calls, none raises."""

    __slots__ = ("_checks", "_closed", "_op_index", "_shared", "_silent")

    def __init__(self, shared: Shared, checks: Checks, silent: bool) -> None:
        self._shared = shared
        self._checks = checks
        self._silent = silent
        self._closed = False
        self._op_index: dict[str, int] = {}

    def register_op(
        self,
        name: str,
        *,
        type: str = "",
        dtype: str = "",
        shape: Sequence[int] = (),
        storage_shape: Sequence[int] = (),
        data_format: str = "",
        order: int | None = None,
        part: bool = False,
    ) -> int:
        """Makes an op known and returns its index, -1 when it could not (65,536
        ops a run, shapes of at most 16 dimensions). `dtype` is "fp64", "fp32",
        "fp16", "bf16", "fp8_e4m3" or "fp8_e5m2"; `storage_shape` what memory
        holds, padding included, if not `shape`; `order` the place in the
        execution order, from 0; `part`: several ranks hold the tensor in parts,
        whose digests and sketches have the places in the whole. An op whose
        shape or dtype changes is registered again. Not for the inner loop."""
        if self._silent or self._is_closed("register_op"):
            return -1
        try:
            return self._register_op(
                name,
                type,
                dtype,
                shape,
                storage_shape,
                data_format,
                order,
                part,
            )
        except Exception as error:
            self._failed("register_op", error)
            return -1

    def _register_op(
        self,
        name: Any,
        type: Any,
        dtype: Any,
        shape: Any,
        storage_shape: Any,
        data_format: Any,
        order: Any,
        part: Any,
    ) -> int:
        checks = self._checks
        text = checks.text("name", name)
        if not text:
            return -1
        known = _ops.DTYPES.get(dtype) if isinstance(dtype, str) else None
        if known is None and dtype != "":
            checks.refuse("dtype", f"there is no dtype {quote(dtype)}")
        logical = self._shape("shape", shape)
        storage = self._shape("storage_shape", storage_shape)
        if logical is None or storage is None:
            return -1
        place = None
        if order is not None:
            place = checks.integer("order", order, 0, _INT32_MAX)
        encoded = _names.encode_op(
            clean(text),
            clean(checks.text("type", type)),
            clean(checks.text("data_format", data_format)),
            known or 0,
            logical,
            storage,
            place,
            bool(part),
        )
        index = self._shared.names.add_op(encoded, storage or logical)
        if index < 0:
            checks.refuse("ops", "a run has at most 65,536 ops")
            self._shared.mistake = (
                f"the op {quote(text[:80])} is one too many: 65536 ops of a "
                "session are watched"
            )
            return -1
        self._op_index[text] = index
        return index

    def _shape(self, name: str, shape: Any) -> list[int] | None:
        dims = [
            self._checks.integer(name, d, 0, (1 << 63) - 1) for d in shape or ()
        ]
        known = [d for d in dims if d is not None]
        if len(known) < len(dims):
            return None
        if len(known) > _names.SHAPE_DIMS:
            self._checks.refuse(
                name, f"{name}= has at most {_names.SHAPE_DIMS} dimensions"
            )
            return None
        return known

    def _index_of(self, op: Any) -> int | None:
        """Of an index or a name; a new name is registered. -1: of an op that
        could not be. None: neither an index nor a name."""
        if isinstance(op, str):
            known = self._op_index.get(op[:512])
            return known if known is not None else self.register_op(op)
        if type(op) is int and op < 0:
            return -1
        return self._checks.integer("op", op, 0, _UINT32_MAX)

    def _takes(self, index: int, step: int) -> bool:
        """False: there is no such op; where that is a loss, it is counted."""
        names = self._shared.names
        if 0 <= index < names.ops:
            return True
        # One that could not be registered was said there. When that was since
        # there are too many, its statuses are missing all the same.
        if index >= 0 or names.full:
            self._shared.gap.add(Lost(0, 1, step, step))
        return False

    def op(
        self,
        op: int | str,
        *,
        step: int,
        slot: str = "output",
        elements: int | None = None,
        nan: int | None = None,
        pos_inf: int | None = None,
        neg_inf: int | None = None,
        saturated: int | None = None,
        zero: int | None = None,
        subnormal: int | None = None,
        min: float | None = None,
        max: float | None = None,
        abs_max: float | None = None,
        mean: float | None = None,
        rms: float | None = None,
        log2_mean: float | None = None,
        log2_std: float | None = None,
        fp8_amax: float | None = None,
        fp8_scale_inv: float | None = None,
        device_flag: int | None = None,
        digest: int | None = None,
        exponents: tuple[int, Sequence[int]] | None = None,
        sketch: Sequence[float] | None = None,
        request: int = 0,
        time: float | None = None,
        **unknown: Any,
    ) -> None:
        """Says how one tensor of one op was at one step, before that step
        itself is said. `op` is of `register_op`, or a name.

        `slot` is "input", "output", "grad_input", "grad_output", "parameter",
        "optimizer_state" or "collective". Counts are of elements; `elements`
        is needed only where it is not the op's shape. Statistics are of finite
        elements, those of log2|x| of finite non-zero ones. `exponents` is the
        first binary exponent and a count for it and each that follows.
        `digest` and `sketch` (16 numbers) are as proto/SKETCH.md says."""
        if self._silent or self._is_closed("op"):
            return
        given = locals()
        self._checks.unknown("op", unknown)
        try:
            self._op(given)
        except Exception as error:
            self._failed("op", error)

    def _op(self, given: dict[str, Any]) -> None:
        checks, shared = self._checks, self._shared
        step = checks.step(given["step"])
        slot = self._slot(given["slot"])
        index = self._index_of(given["op"])
        if step is None or slot is None or index is None:
            return
        if not self._takes(index, step):
            return
        if shared.ops_waiting() >= shared.buffer_rows:
            shared.gap.add(Lost(0, 1, step, step))
            return
        counts = {n: checks.count(n, given[n]) for n in _ops.COUNTS}
        numbers: dict[str, Any] = {
            n: checks.real32(n, given[n]) for n in _ops.NUMBERS
        }
        status = _ops.Status(
            step,
            checks.seconds(given["time"], _now()),
            index,
            slot,
            checks.count("elements", given["elements"]),
            **counts,
            **numbers,
            device_flag=self._flag_word(given["device_flag"]),
            digest=checks.count("digest", given["digest"]),
            exponents=self._exponents(given["exponents"]),
            request=checks.count("request", given["request"]) or 0,
            sketch=self._sketch(given["sketch"]),
        )
        shared.give_ops(status, 1)
        if counts["nan"] or counts["pos_inf"] or counts["neg_inf"]:
            shared.wake()

    def _slot(self, slot: Any) -> int | None:
        number = _ops.SLOTS.get(slot) if isinstance(slot, str) else None
        if number is None:
            self._checks.refuse("slot", f"there is no slot {quote(slot)}")
        return number

    def _flag_word(self, value: Any) -> int | None:
        if value is None:
            return None
        return self._checks.integer("device_flag", value, 0, _UINT32_MAX)

    def _exponents(self, value: Any) -> tuple[int, tuple[int, ...]] | None:
        if value is None:
            return None
        if not isinstance(value, tuple) or len(value) != 2:
            self._checks.refuse(
                "exponents", "exponents= takes a first exponent and counts"
            )
            return None
        first = self._checks.integer(
            "exponents", value[0], -_INT32_MAX, _INT32_MAX
        )
        counts = [
            self._checks.count("exponents", c)
            for c in value[1][: _ops.EXPONENT_BINS]
        ]
        if first is None or None in counts:
            return None
        return first, tuple(c for c in counts if c is not None)

    def _sketch(self, value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        if isinstance(value, (list, tuple)) and len(value) == _ops.SKETCH_SUMS:
            sums = [self._checks.real32("sketch", v) for v in value]
            finite = [v for v in sums if v is not None and v - v == 0.0]
            if len(finite) == _ops.SKETCH_SUMS:
                return tuple(finite)
        self._checks.refuse(
            "sketch", f"sketch= takes {_ops.SKETCH_SUMS} finite numbers"
        )
        return None

    def ops(self, columns: Mapping[str, Any]) -> None:
        """Says many statuses at once: a column each of numpy arrays (or lists)
        of one length, named as the arguments of `op`. "op" and "step" are
        needed; "op", "step", "slot" and "request" may be one value for all.
        Columns that are missing were not collected; in a list, None is
        "absent"."""
        if self._silent or self._is_closed("ops"):
            return
        try:
            self._table(columns)
        except Exception as error:
            self._failed("ops", error)

    def _table(self, columns: Mapping[str, Any]) -> None:
        from nanwatch import _table

        table = _table.read(
            columns, self._checks, self._index_of, self._slot, _now()
        )
        if table is None:
            return
        keep = [
            self._takes(index, step)
            for index, step in zip(table.column("op"), table.column("step"))
        ]
        self.take_table(table if all(keep) else table.where(keep))

    def room_for_ops(self) -> int:
        """Not for trainings: rows that can be taken now."""
        shared = self._shared
        return max(0, shared.buffer_rows - shared.ops_waiting())

    def take_table(self, table: _ops.Table) -> None:
        """Not for trainings: rows of plain numbers, of ops that there are."""
        shared = self._shared
        if self._silent or self._closed or table.rows == 0:
            return
        room = self.room_for_ops()
        if table.rows > room:  # the first ones tell where it begins
            steps = table.column("step")[room:]
            shared.gap.add(Lost(0, len(steps), min(steps), max(steps)))
            if not room:
                return
            table = table.rows_of(0, room)
        shared.give_ops(table, table.rows)
        if any(
            any(table.column(n))
            for n in ("nan", "pos_inf", "neg_inf")
            if table.has(n)
        ):
            shared.wake()

    @property
    def is_closed(self) -> bool:
        return self._closed

    def _is_closed(self, call: str) -> bool:
        if self._closed:
            self._checks.refuse("closed", f"{call}() of a run that was closed")
        return self._closed

    def _failed(self, call: str, error: Exception) -> None:
        self._checks.refuse(
            call, f"{call}() could not read what it was given: {error!r:.200}"
        )
