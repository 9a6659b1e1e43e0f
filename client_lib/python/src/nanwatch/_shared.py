"""What the training's threads and the sender share."""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import Any

from nanwatch._checks import Checks
from nanwatch._names import Names
from nanwatch._ops import Status, Table
from nanwatch._outbox import Lost
from nanwatch._program_end import ProgramEnd
from nanwatch._requests import RequestBox
from nanwatch._steps import WIDTH, Seen

# A daemon that owes an answer for so long is in trouble: it acknowledges within
# 50 ms, and a full disk takes a second.
_SILENCE = 1.0
# Beyond its deadline, for the sender to leave.
_GRACE = 0.1

# A weak reference to what is to be called; it gives None once that is gone.
Told = Callable[[], "Callable[[], None] | None"]


def call_living(references: Iterable[Told]) -> None:
    """None of them is kept beyond this: it may be the last reference."""
    for reference in references:
        tell = reference()
        if tell is not None:
            tell()


class Gap:
    """What did not fit, until the daemon is told. Neither side ever waits: who
    finds the other inside comes again later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lost = Lost()
        self._missed = Lost()
        self.records = 0  # ever

    def add(self, lost: Lost) -> None:
        self.records += lost.records
        if self._lock.acquire(blocking=False):
            self._lost.add(lost)
            self._lock.release()
        else:
            self._missed.add(lost)

    def take(self) -> Lost:
        if not self._lock.acquire(blocking=False):
            return Lost()
        taken, self._lost = self._lost, Lost()
        missed, self._missed = self._missed, Lost()
        self._lock.release()
        taken.add(missed)
        return taken


class Shared:
    def __init__(self, buffer_rows: int, checks: Checks) -> None:
        self.buffer_rows = buffer_rows
        self.checks = checks

        # --- The training to the sender. A list's own operations are whole:
        # all only extend it, and the sender takes from its front. ---
        self.rows: list[Any] = []  # of steps, flat
        self.ops: list[Status | Table] = []
        self.ops_taken = 0  # rows, by the sender
        self.ops_given = 0  # rows
        # Of the threads that give them: several trainings', and the sender's
        # own, which tells of usual steps. A signal's handler may give, too.
        self._giving = threading.RLock()
        self.steps_taken = 0  # rows, by the sender
        # Rows that it took and that were none; told to the training at once.
        self.bad_rows = 0
        self.on_bad_row: Callable[[], None] = lambda: None
        # What the sender calls before it takes them.
        self.before_turns: list[Told] = []
        # What the sender calls, once each: last words of who has gone.
        self.leaving: collections.deque[Callable[[], None]] = (
            collections.deque()
        )
        self.gap = Gap()
        # What is seen of how updates are made (see _steps.Seen).
        self.seen = Seen()
        self.names = Names()
        # Wakes the sender: None is "look", others are the stream's.
        self.events: SimpleQueue[Any] = SimpleQueue()
        # An overflow or a non-finite value waits: it does not wait for a batch.
        self.urgent = False

        # --- The sender to everybody ---
        self.requests = RequestBox()
        self.sent = 0
        self.acked = 0
        self.not_durable = 0
        self.refused = 0
        self.reconnects = 0
        self.connected = False
        self.run_id = ""
        self.attempt = 0
        self.url = ""  # of the run's page; empty: none, or not known yet
        self.error = ""  # the connection's
        # The newest of the caller's records or ops that were not taken: no new
        # stream mends it, so it stays.
        self.mistake = ""
        self.address = ""  # whose answer is waited for
        self.silent_since: float | None = None  # monotonic seconds

        # --- Under `changed`; never taken by a push ---
        self.changed = threading.Condition()
        self.flush = False  # do not wait for batches to fill
        # Set once: send what there is until `deadline`, then end.
        self.ending = False
        self.end: ProgramEnd | None = None  # with it; None: in order
        self.deadline = 0.0  # monotonic seconds
        self.ended = False  # the sender is gone

    def give_ops(self, ops: Status | Table, rows: int) -> None:
        with self._giving:
            self.ops.append(ops)
            self.ops_given += rows

    def ops_waiting(self) -> int:
        return self.ops_given - self.ops_taken

    def accepted(self) -> int:
        """Rows that were taken over from the training, ever, bad ones too."""
        return self.steps_taken + len(self.rows) // WIDTH + self.ops_given

    def wait_until_ended(self, deadline: float) -> None:
        """For the sender, which has until `deadline`; under `changed`."""
        self.deadline = min(self.deadline, deadline)
        self.changed.wait_for(
            lambda: self.ended, deadline + _GRACE - time.monotonic()
        )

    def trouble(self, now: float) -> str:
        """The connection's before the caller's: nothing arrives without it."""
        silent = 0.0 if self.silent_since is None else now - self.silent_since
        if self.error or silent < _SILENCE:
            return self.error or self.mistake
        return (
            f"nanwatchd at {self.address} has not answered for {silent:.0f} s; "
            "is it hung?"
        )

    def wake(self) -> None:
        """Does not let the sender wait for the next turn; costs a training
        thread some microseconds, once a turn."""
        if not self.urgent:
            self.urgent = True
            self.events.put(None)
