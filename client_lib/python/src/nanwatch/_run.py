"""Run: what a training holds. The training's side; the sender's is _sender."""

from __future__ import annotations

import html
import threading
import time as _time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nanwatch import _samples, _steps
from nanwatch._checks import Checks, describe, is_numpy_array
from nanwatch._first_line import link
from nanwatch._outbox import Lost
from nanwatch._requests import Request
from nanwatch._run_ends import RunEnds
from nanwatch._shared import Shared
from nanwatch._stats import Stats

_now = _time.time

_INT32_MAX = (1 << 31) - 1
_LAYER_SCALES = 4096  # a record

# The names of `step`'s arguments that few steps have.
_MORE = frozenset(
    {
        "update_norm",
        "param_norm",
        "zero_fraction",
        "underflow_fraction",
        "consumed_samples",
        "applied_grad_norm",
        "optimizer",
        "replica_digest",
        "batch_digest",
        "float_status",
        "float_status_combined",
        "layer_scales",
        "request",
        "batch",
        "update_fault",
        "stuck_fraction",
        "fault_of",
        "time",
    }
)


class Run(RunEnds):
    """One rank of a run; made by `nanwatch.init`.

    No call raises, blocks (flush and close wait as long as they are told, no
    longer) or touches a tensor. Any thread may call; in a forked child every
    call returns at once and does nothing.
    """

    __slots__ = (
        "__weakref__",
        "_hard",
        "_rows",
        "_soft",
        "_thread",
    )

    def __init__(
        self,
        shared: Shared,
        checks: Checks,
        thread: threading.Thread | None,
    ) -> None:
        super().__init__(shared, checks, silent=thread is None)
        self._thread = thread
        self._rows = shared.rows
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
            applied_grad_norm: float | None = None,
            batch: Any = None,
            update_fault: int = 0,
            stuck_fraction: float | None = None,
            fault_of: str = "",
            batch_digest: int | None = None,
            time: float | None = None,
        ) -> None:
            """Says one update, applied or skipped. None is "not collected".

            `overflow`: Inf or NaN was found in the gradients. `skipped`: the
            optimizer did not apply the update. `grad_norm` is unscaled, before
            clipping. Fractions are 0 to 1. `optimizer` names one of several.
            `float_status` has 1 or 8 words. `layer_scales` maps ops to their
            loss scales. `request`: the id of a Request that this answers.
            `applied_grad_norm` is of what the optimizer got, after clipping.
            `batch`: the numbers of the samples that it trained on, one or
            several: a verdict then names which to leave out. What watches
            see of updates is `update_fault`, the part of the model that it is
            of, `fault_of`, and `stuck_fraction`.
            `batch_digest`: a number that is equal where the data is, by which
            runs are compared. `time`: Unix seconds, now if not given."""

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

    def take_step(
        self,
        step: int,
        time: float,
        loss: float | None,
        scale: float | None,
        overflow: bool | None,
        skipped: bool | None,
        grad_norm: float | None,
        lr: float | None,
        more: _steps.More | None = None,
    ) -> None:
        """Not for trainings: `step` of what was looked at already. Of `more`
        the share of zeros, the fault and the batch's digest alone."""
        rows = self._rows
        if len(rows) >= self._limit:
            share = None if more is None else more.zero_fraction
            fault = 0 if more is None else more.update_fault
            of = "" if more is None else more.fault_of
            batch = None if more is None else more.batch_digest
            self.step(
                step,
                loss,
                scale,
                overflow,
                skipped,
                grad_norm,
                lr,
                time=time,
                zero_fraction=share,
                update_fault=fault,
                fault_of=of,
                batch_digest=batch,
            )
            return
        rows.extend(
            (step, time, loss, scale, grad_norm, lr, overflow, skipped, more)
        )
        if overflow or _non_finite(loss) or _non_finite(grad_norm):
            self._shared.wake()

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
        checks.unknown("step", given.keys() - _MORE)
        get = given.get
        digest = checks.count("replica_digest", get("replica_digest"))
        return _steps.More(
            checks.real("update_norm", get("update_norm")),
            checks.real("param_norm", get("param_norm")),
            checks.share("zero_fraction", get("zero_fraction")),
            checks.share("underflow_fraction", get("underflow_fraction")),
            checks.real("consumed_samples", get("consumed_samples")),
            self._optimizer(get("optimizer")),
            digest,
            self._float_status(get("float_status")),
            bool(checks.flag("combined", get("float_status_combined"))),
            self._layer_scales(get("layer_scales")),
            checks.count("request", get("request")) or 0,
            checks.real("applied_grad_norm", get("applied_grad_norm")),
            get("update_fault") or 0,
            checks.share("stuck_fraction", get("stuck_fraction")),
            checks.text("fault_of", get("fault_of")),
            _samples.of(checks, get("batch")),
            checks.count("batch_digest", get("batch_digest")),
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

    # --------------------------------------------------------------- requests

    def requests(self) -> list[Request]:
        """What somebody asks of this training and was not taken yet. Nothing is
        forced on it: it asks when it likes, e.g. once a step."""
        return [] if self._silent else self._shared.requests.take()

    @property
    def is_asked(self) -> bool:
        """Not for trainings: `requests` has some."""
        return self._shared.requests.waits

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

    @property
    def url(self) -> str:
        """The run's page; empty where there is none, or not yet."""
        return "" if self._silent else self._shared.url

    def __repr__(self) -> str:
        return f"<nanwatch.Run {self._where()}>"

    def _where(self) -> str:
        """ "'job-7', http://127.0.0.1:9765/?run=job-7"."""
        if self._silent:
            return "silent"
        shared = self._shared
        if not shared.run_id:
            return "without a daemon yet"
        return f"{shared.run_id!r}, {shared.url or 'without a page'}"

    def _repr_html_(self) -> str:
        """In a notebook."""
        text = html.escape(repr(self))
        if not self.url:
            return text
        return text.replace(html.escape(self.url), link(self.url))


def _non_finite(value: float | None) -> bool:
    return value is not None and value - value != 0.0
