"""Run: what a training holds. The training's side; the sender's is _sender."""

from __future__ import annotations

import threading
import time as _time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nanwatch import _names, _ops, _process, _steps
from nanwatch._checks import Checks, describe, is_numpy_array, quote
from nanwatch._outbox import Lost
from nanwatch._requests import Request
from nanwatch._shared import Shared
from nanwatch._text import clean

_now = _time.time

# Beyond the sender's deadline to leave.
_GRACE_SECONDS = 0.1
_EXIT_SECONDS = 1.0
_INT32_MAX = (1 << 31) - 1
_UINT32_MAX = (1 << 32) - 1
_LAYER_SCALES = 4096  # a record

# The names of `step`'s arguments that few steps have.
_MORE = frozenset(
    {
        "update_norm",
        "param_norm",
        "zero_fraction",
        "underflow_fraction",
        "consumed_samples",
        "optimizer",
        "replica_digest",
        "float_status",
        "float_status_combined",
        "layer_scales",
        "request",
        "time",
    }
)


class Stats(NamedTuple):
    """Records are steps and ops together."""

    connected: bool  # the daemon answered the handshake
    pushed: int
    sent: int  # at least once
    acked: int
    dropped: int  # no room, too old to resend, or refused
    # The part of `dropped` that the daemon refused, or that it would have
    # refused a whole batch for: that one was not sent, the others were.
    refused: int
    reconnects: int
    # The part of `acked` that the daemon judged but could not keep.
    not_durable: int
    bad_input: int  # arguments and calls that were left out
    run_id: str  # as the daemon knows it; empty until it answered
    attempt: int
    # The newest trouble, a sentence; empty: none. Of the connection first, also
    # of a daemon that owes an answer for a second; then of what was said and
    # could not be taken.
    error: str


class Run:
    """One rank of a run; made by `nanwatch.init`.

    No call raises, blocks (flush and close wait as long as they are told, no
    longer) or touches a tensor. Any thread may call; in a forked child every
    call returns at once and does nothing.
    """

    __slots__ = (
        "__weakref__",
        "_checks",
        "_closed",
        "_hard",
        "_limit",
        "_op_index",
        "_rows",
        "_shared",
        "_silent",
        "_soft",
        "_thread",
    )

    def __init__(
        self,
        shared: Shared,
        checks: Checks,
        thread: threading.Thread | None,
    ) -> None:
        self._shared = shared
        self._checks = checks
        self._thread = thread
        self._rows = shared.rows
        self._op_index: dict[str, int] = {}
        self._silent = thread is None
        self._closed = False
        # Elements of `_rows`; beyond `_limit` a step takes the slow way. At
        # the soft limit that wakes the sender, at the hard one it is lost.
        self._hard = shared.buffer_rows * _steps.WIDTH
        self._soft = self._hard // 2
        self._limit = -1 if self._silent else self._soft
        shared.on_bad_row = self._look_closely

    # ------------------------------------------------------------------ steps

    if TYPE_CHECKING:

        def step(
            self,
            step: int,
            loss: float | None = None,
            scale: float | None = None,
            overflow: bool | None = None,
            skipped: bool | None = None,
            grad_norm: float | None = None,
            lr: float | None = None,
            *,
            update_norm: float | None = None,
            param_norm: float | None = None,
            zero_fraction: float | None = None,
            underflow_fraction: float | None = None,
            consumed_samples: float | None = None,
            optimizer: str | None = None,
            replica_digest: int | None = None,
            float_status: Sequence[int] | None = None,
            float_status_combined: bool = False,
            layer_scales: Mapping[int | str, float] | None = None,
            request: int = 0,
            time: float | None = None,
        ) -> None:
            """Says one optimizer attempt. None is "not collected".

            `overflow`: Inf or NaN was found in the gradients. `skipped`: the
            optimizer did not apply the update. `grad_norm` is unscaled, before
            clipping. Fractions are 0 to 1. `optimizer` names one of several.
            `float_status` has 1 or 8 words. `layer_scales` maps ops to their
            loss scales. `request`: the id of a Request that this answers.
            `time`: Unix seconds, now if not given."""

    else:

        def step(
            self,
            step=None,
            loss=None,
            scale=None,
            overflow=None,
            skipped=None,
            grad_norm=None,
            lr=None,
            **more,
        ):
            # The usual step, in a few tenths of a microsecond: a flat row,
            # which gives the garbage collector nothing to look at. The sender
            # looks whether these are numbers; once one was none, `_limit` is
            # low and every step is looked at here, so that no tensor is kept.
            rows = self._rows
            if not more and len(rows) < self._limit:
                rows.extend(
                    (
                        step,
                        _now(),
                        loss,
                        scale,
                        grad_norm,
                        lr,
                        overflow,
                        skipped,
                        None,
                    )
                )
                if overflow is True or (
                    type(loss) is float and loss - loss != 0.0
                ):
                    self._shared.wake()
                return
            if self._silent:
                return
            try:
                self._step(
                    step, loss, scale, overflow, skipped, grad_norm, lr, more
                )
            except Exception as error:
                self._failed("step", error)

    def _look_closely(self) -> None:
        self._limit = -1

    def _step(
        self,
        step: Any,
        loss: Any,
        scale: Any,
        overflow: Any,
        skipped: Any,
        grad_norm: Any,
        lr: Any,
        more: dict[str, Any],
    ) -> None:
        if self._is_closed("step"):
            return
        checks, shared, rows = self._checks, self._shared, self._rows
        number = checks.step(step)
        if number is None:
            return
        if len(rows) >= self._soft:
            shared.wake()
        if len(rows) >= self._hard:
            shared.gap.add(Lost(1, 0, number, number))
            return
        loss = checks.real("loss", loss)
        grad_norm = checks.real("grad_norm", grad_norm)
        overflow = checks.flag("overflow", overflow)
        rows.extend(
            (
                number,
                checks.seconds(more.pop("time", None), _now()),
                loss,
                checks.real("scale", scale),
                grad_norm,
                checks.real("lr", lr),
                overflow,
                checks.flag("skipped", skipped),
                self._more(more) if more else None,
            )
        )
        if overflow or _non_finite(loss) or _non_finite(grad_norm):
            shared.wake()

    def _more(self, given: dict[str, Any]) -> _steps.More | None:
        checks = self._checks
        unknown = given.keys() - _MORE
        for name in unknown:
            checks.refuse(
                "an argument", f"step() has no argument {name[:64]!r}"
            )
        get = given.get
        digest = checks.count("replica_digest", get("replica_digest"))
        return _steps.More(
            checks.real("update_norm", get("update_norm")),
            checks.real("param_norm", get("param_norm")),
            checks.real("zero_fraction", get("zero_fraction")),
            checks.real("underflow_fraction", get("underflow_fraction")),
            checks.real("consumed_samples", get("consumed_samples")),
            self._optimizer(get("optimizer")),
            digest,
            self._float_status(get("float_status")),
            bool(checks.flag("combined", get("float_status_combined"))),
            self._layer_scales(get("layer_scales")),
            checks.count("request", get("request")) or 0,
        )

    def _optimizer(self, name: Any) -> int:
        text = self._checks.text("optimizer", name)
        if not text:
            return 0
        index = self._shared.names.add_optimizer(text)
        if index == 0:
            self._checks.refuse("optimizers", "a run has at most 7 optimizers")
        return index

    def _float_status(self, words: Any) -> tuple[int, ...]:
        if words is None:
            return ()
        if is_numpy_array(words):
            words = words.tolist()
        if isinstance(words, (list, tuple)) and len(words) in (1, 8):
            read = [
                self._checks.integer("float_status", w, -_INT32_MAX, _INT32_MAX)
                for w in words
            ]
            return (
                () if None in read else tuple(w for w in read if w is not None)
            )
        self._checks.refuse("float_status", "float_status= takes 1 or 8 words")
        return ()

    def _layer_scales(self, scales: Any) -> tuple[tuple[int, float], ...]:
        if scales is None:
            return ()
        if not isinstance(scales, Mapping):
            self._checks.refuse(
                "layer_scales",
                f"layer_scales= takes a dict, not a {describe(scales)}",
            )
            return ()
        pairs = []
        for op, scale in scales.items():
            index = self._index_of(op)
            value = self._checks.real("layer_scales", scale)
            known = index is not None and 0 <= index < self._shared.names.ops
            if index is not None and known and value is not None:
                pairs.append((index, value))
        return tuple(pairs[:_LAYER_SCALES])

    # -------------------------------------------------------------------- ops

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
    ) -> int:
        """Makes an op known and returns its index, -1 when it could not (65,536
        ops a run, shapes of at most 16 dimensions). `dtype` is "fp64", "fp32",
        "fp16", "bf16", "fp8_e4m3" or "fp8_e5m2"; `storage_shape` what memory
        holds, padding included, if not `shape`; `order` the place in the
        execution order, from 0. An op whose shape or dtype changes is
        registered again. Not for the inner loop."""
        if self._silent or self._is_closed("register_op"):
            return -1
        try:
            return self._register_op(
                name, type, dtype, shape, storage_shape, data_format, order
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
        request: int = 0,
        time: float | None = None,
    ) -> None:
        """Says how one tensor of one op was at one step, before that step
        itself is said. `op` is of `register_op`, or a name.

        `slot` is "input", "output", "grad_input", "grad_output", "parameter",
        "optimizer_state" or "collective". Counts are of elements; `elements`
        is needed only where it is not the op's shape. Statistics are of finite
        elements, those of log2|x| of finite non-zero ones. `exponents` is the
        first binary exponent and a count for it and each that follows."""
        if self._silent or self._is_closed("op"):
            return
        given = locals()
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
        )
        shared.ops.append(status)
        shared.ops_given += 1
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

    def take_table(self, table: _ops.Table) -> None:
        """Not for trainings: rows of plain numbers, of ops that there are."""
        shared = self._shared
        if self._silent or self._closed or table.rows == 0:
            return
        steps = table.column("step")
        if shared.ops_waiting() + table.rows > shared.buffer_rows:
            shared.gap.add(Lost(0, table.rows, min(steps), max(steps)))
            return
        shared.ops.append(table)
        shared.ops_given += table.rows
        if any(
            any(table.column(n))
            for n in ("nan", "pos_inf", "neg_inf")
            if table.has(n)
        ):
            shared.wake()

    # --------------------------------------------------------------- requests

    def requests(self) -> list[Request]:
        """What somebody asks of this training and was not taken yet. Nothing is
        forced on it: it asks when it likes, e.g. once a step."""
        return [] if self._silent else self._shared.requests.take()

    @property
    def should_stop(self) -> str:
        """Why somebody asks this training to stop; empty while nobody does."""
        return self._shared.requests.stop

    # ----------------------------------------------------------- its own state

    @property
    def stats(self) -> Stats:
        shared = self._shared
        if self._silent:
            return Stats(
                False, 0, 0, 0, 0, 0, 0, 0, self._checks.refused, "", 0, ""
            )
        with shared.changed:
            lost = shared.gap.records
            return Stats(
                shared.connected,
                shared.accepted() - shared.bad_rows + lost,
                shared.sent,
                shared.acked,
                lost + shared.refused,
                shared.refused,
                shared.reconnects,
                shared.not_durable,
                self._checks.refused,
                shared.run_id,
                shared.attempt,
                shared.trouble(_time.monotonic()),
            )

    def flush(self, timeout: float = 2.0) -> bool:
        """Waits until everything said so far is acknowledged or refused, at
        most `timeout` seconds. True: it is."""
        if self._silent or self._closed:
            return False
        shared = self._shared
        with shared.changed:
            target = shared.accepted()
            shared.flush = True
            shared.events.put(None)

            def settled() -> bool:
                settled = shared.acked + shared.refused + shared.bad_rows
                return settled >= target

            shared.changed.wait_for(
                lambda: settled() or shared.ended, max(0.0, timeout)
            )
            return settled()

    def close(self, timeout: float = 2.0) -> bool:
        """Flushes, and tells the daemon that this rank ended. Takes at most
        `timeout` seconds and a few milliseconds, whatever the daemon does.
        True: everything was acknowledged. Called again, it does nothing."""
        return self._end(timeout, in_order=True)

    def _end(self, timeout: float, in_order: bool) -> bool:
        if self._silent or self._closed:
            return False
        self._closed = True
        self._limit = -1
        _process.forget(self)
        shared = self._shared
        deadline = _time.monotonic() + max(0.0, timeout)
        with shared.changed:
            shared.deadline = deadline
            shared.closing = in_order
            shared.ending = True
            shared.events.put(None)
            shared.changed.wait_for(
                lambda: shared.ended,
                deadline + _GRACE_SECONDS - _time.monotonic(),
            )
            # A sender that does not come out of gRPC is left.
            return shared.acked + shared.bad_rows == shared.accepted()

    def end_at_exit(self, in_order: bool) -> None:
        """Not for trainings: the interpreter ends, in order or by an
        exception."""
        self._end(_EXIT_SECONDS, in_order)

    def go_silent(self) -> None:
        """Not for trainings: this is a forked child."""
        self._silent = True
        self._limit = -1

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # After an exception the rank is lost, not closed.
        self._end(2.0, in_order=kind is None)

    def __repr__(self) -> str:
        if self._silent:
            return "<nanwatch.Run, silent>"
        return f"<nanwatch.Run {self._shared.run_id!r}>"

    def _is_closed(self, call: str) -> bool:
        if self._closed:
            self._checks.refuse("closed", f"{call}() of a run that was closed")
        return self._closed

    def _failed(self, call: str, error: Exception) -> None:
        self._checks.refuse(
            call, f"{call}() could not read what it was given: {error!r:.200}"
        )


def _non_finite(value: float | None) -> bool:
    return value is not None and value - value != 0.0
