"""Takes what waits in the buffers and makes messages of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from nanwatch import _ops, _outbox, _steps, _wire
from nanwatch._outbox import Lost, Outbox, Outgoing
from nanwatch._shared import Shared

# Rows of one message, and of what is encoded at once: the interpreter's lock
# is held for all of it. The daemon may want fewer.
_STEPS = 512
_OPS = 1024
# Rows that one turn takes.
_ROWS_PER_TURN = 16384
_NAMES_PER_MESSAGE = 256


class Batcher:
    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._max_steps = _STEPS
        self._max_ops = _OPS
        self.op_names_taken = 0

    def set_limits(self, steps: int, ops: int) -> None:
        """As the daemon says; 0: it does not."""
        self._max_steps = min(_STEPS, steps or _STEPS)
        self._max_ops = min(_OPS, ops or _OPS)

    def drain(self, outbox: Outbox) -> None:
        """Moves what waits into `outbox`: op names, then op statuses, then
        steps, then what was lost. So a step's ops arrive before the step."""
        shared = self._shared
        # Ops are taken after the steps, names after the ops: each was there
        # before what needs it.
        steps = min(len(shared.rows) // _steps.WIDTH, _ROWS_PER_TURN)
        ops = shared.ops[: len(shared.ops)]
        del shared.ops[: len(ops)]
        self._take_names(outbox)
        self._push_ops(ops, outbox)
        while steps > 0:
            steps -= self._push_steps(min(steps, _STEPS), outbox)
        lost = shared.gap.take()
        if lost.records:
            outbox.push(Outgoing(_outbox.DROPPED, lost.body()))

    def resend_op_names(self, first: int, end: int, outbox: Outbox) -> None:
        """Before all others: for a daemon that lost them."""
        # Backwards, since each goes before all others.
        while end > first:
            begin = max(first, end - _NAMES_PER_MESSAGE)
            names = self._shared.names.copy(begin, end - begin)
            outbox.push_front(_op_names(begin, names))
            end = begin

    def _take_names(self, outbox: Outbox) -> None:
        # More of what there is no room for: on another stream, perhaps.
        if self._shared.names.refused:
            return
        while True:
            names = self._shared.names.copy(
                self.op_names_taken, _NAMES_PER_MESSAGE
            )
            if not names:
                return
            outbox.push(_op_names(self.op_names_taken, names))
            self.op_names_taken += len(names)

    def _push_ops(self, taken: Sequence[object], outbox: Outbox) -> None:
        for table in _tables(taken):
            self._shared.ops_taken += table.rows
            for part in self._without_wrong(table).cut(self._max_ops):
                steps = part.column("step")
                outbox.push(
                    Outgoing(
                        _outbox.OPS,
                        _ops.encode(part, self._shared.names.elements, _now()),
                        Lost(0, part.rows, min(steps), max(steps)),
                    )
                )
                _let_others_run()

    def _without_wrong(self, table: _ops.Table) -> _ops.Table:
        """One row that the daemon refuses would have its whole batch
        refused. A name may be refused after it was pushed, too."""
        shared = self._shared
        known = shared.names.ops
        wrong = [
            mistake or ("" if op < known else "is of an op without room")
            for mistake, op in zip(
                table.mistakes(shared.names.elements), table.column("op")
            )
        ]
        if not any(wrong):
            return table
        steps = table.column("step")
        for mistake, step in zip(wrong, steps):
            if mistake:
                self._lose_refused(step, mistake)
        return table.where([not mistake for mistake in wrong])

    def _lose_refused(self, step: int, mistake: str) -> None:
        shared = self._shared
        shared.gap.add(Lost(0, 1, step, step))
        # Told as dropped; of the two counters it belongs to this one.
        shared.gap.records -= 1
        with shared.changed:
            shared.mistake = (
                f"a status of step {step} was left out: it {mistake}"
            )
            shared.refused += 1
            shared.changed.notify_all()

    def _push_steps(self, count: int, outbox: Outbox) -> int:
        """Moves the first `count` rows, which are there; returns `count`."""
        shared = self._shared
        size = count * _steps.WIDTH
        columns = self._plain(shared.rows[:size])
        names = shared.names.optimizers
        seen = shared.seen.encode()
        for part, rows in _steps.cut(columns, self._max_steps):
            steps = part[0]
            outbox.push(
                Outgoing(
                    _outbox.STEPS,
                    _steps.encode(part, names, _now()) + seen,
                    Lost(rows, 0, min(steps), max(steps)),
                )
            )
        with shared.changed:  # who asks what was accepted finds each row once
            del shared.rows[:size]
            shared.steps_taken += count
        _let_others_run()
        return count

    def _plain(self, rows: list[object]) -> _steps.Columns:
        shared = self._shared
        refused = shared.checks.refused
        columns = _steps.plain(_steps.columns_of(rows), shared.checks)
        if shared.checks.refused != refused:
            shared.on_bad_row()
        bad = len(rows) // _steps.WIDTH - len(columns[0])
        if bad:
            with shared.changed:
                shared.bad_rows += bad
                shared.changed.notify_all()
        return columns


def _now() -> int:
    return int(time.time() * 1e6)


def _let_others_run() -> None:
    time.sleep(0)


def _op_names(first: int, names: Sequence[bytes]) -> Outgoing:
    body = _wire.put_int(3, first) + b"".join(
        _wire.put_message(4, name) for name in names
    )
    return Outgoing(_outbox.OP_NAMES, body, first_op=first)


def _tables(taken: Sequence[object]) -> list[_ops.Table]:
    """Single statuses that follow one another become one table."""
    tables: list[_ops.Table] = []
    run: list[_ops.Status] = []
    for entry in taken:
        if isinstance(entry, _ops.Status):
            run.append(entry)
            continue
        if run:
            tables.append(_ops.Table.of(run))
            run = []
        if isinstance(entry, _ops.Table):
            tables.append(entry)
    if run:
        tables.append(_ops.Table.of(run))
    return tables
