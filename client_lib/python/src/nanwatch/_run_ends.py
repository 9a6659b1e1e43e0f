"""RunEnds: how a run is flushed, and how it ends."""

from __future__ import annotations

import time as _time
from collections.abc import Callable
from typing import Any, TypeVar

from nanwatch import _process
from nanwatch._checks import Checks
from nanwatch._program_end import ProgramEnd, handled, of_exception
from nanwatch._run_ops import RunOps
from nanwatch._shared import Shared, Told, call_living

# To flush and to close, if nothing else is said; and at most.
_TIMEOUT_SECONDS = 2.0
# Nobody waits for a sender that closes by itself, but the process' end.
_SENDER_SECONDS = 30.0
_MOST_SECONDS = 1e6


Self = TypeVar("Self", bound="RunEnds")


class RunEnds(RunOps):
    """The part of a Run that nothing follows."""

    __slots__ = ("_ended_well", "_handled", "_limit", "_settling")

    def __init__(self, shared: Shared, checks: Checks, silent: bool) -> None:
        super().__init__(shared, checks, silent=silent)
        self._ended_well = False
        # Of an exception that is dealt with now: it does not end this run.
        self._handled = id(handled())
        self._settling: list[Told] = []
        # Elements of the steps' buffer; beyond it a step takes the slow way.
        self._limit = -1

    def before_settling(self, reference: Told) -> None:
        """Not for trainings: what is called before the run is flushed or
        closed, as long as it lives."""
        self._settling.append(reference)

    def before_turns(self, reference: Told) -> None:
        """Not for trainings: what the sender's thread calls before it takes
        what waits for it, each 0.2 s, and a signal's handler before the end.
        It must not raise, nor wait in the sender's thread, or for long."""
        self._shared.before_turns.append(reference)

    def _settle(self) -> None:
        call_living(self._settling)

    def flush(self, timeout: float = 2.0) -> bool:
        """Waits until everything said so far is acknowledged or refused, at
        most `timeout` seconds. True: it is."""
        if self._silent or self._closed:
            return False
        timeout = self._seconds(timeout)
        self._settle()
        shared = self._shared
        with shared.changed:
            target = shared.accepted()
            shared.flush = True
            shared.events.put(None)

            def settled() -> bool:
                settled = shared.acked + shared.refused + shared.bad_rows
                return settled >= target

            shared.changed.wait_for(lambda: settled() or shared.ended, timeout)
            return settled()

    def close(self, timeout: float = 2.0) -> bool:
        """Flushes, and tells the daemon that this rank ended; where an
        exception is on its way, that it did by that. Takes at most `timeout`
        seconds and a few milliseconds, whatever the daemon does. True:
        everything was acknowledged. Called again, it does nothing and says the
        same."""
        return self._end(timeout, handled())

    def _seconds(self, timeout: Any) -> float:
        """As much as a lock can wait; what is no number is what is usual."""
        number = self._checks.real("timeout", timeout)
        if number is None:
            return _TIMEOUT_SECONDS
        return min(max(0.0, number), _MOST_SECONDS)

    def _end(self, timeout: float, error: BaseException | None) -> bool:
        if self._silent or self._closed:
            return self._ended_well
        self._settle()
        shared = self._shared
        end = None if id(error) == self._handled else of_exception(error)
        deadline = self._begin_end(self._seconds(timeout), end)
        with shared.changed:
            # A sender that does not come out of gRPC is left.
            shared.wait_until_ended(deadline)
            well = shared.acked + shared.bad_rows == shared.accepted()
        self._ended_well = well
        return well

    def leave_to_sender(self, last: Callable[[], None]) -> None:
        """Not for trainings: the sender calls `last`, soon. Takes no lock and
        waits for nothing: the garbage collector may call this."""
        shared = self._shared
        if not (self._silent or self._closed or shared.ended):
            shared.leaving.append(last)
            shared.events.put(None)

    def end_by_sender(self) -> None:
        """Not for trainings: as `close`, by the sender, which goes on until
        all is told or 30 seconds are over; the process' end waits as it does
        for a run."""
        if self._silent or self._closed:
            return
        self._end_by_itself(_SENDER_SECONDS, None)

    def _end_by_itself(self, timeout: float, end: ProgramEnd | None) -> None:
        _process.wait_for(self._shared)
        self._begin_end(timeout, end)

    def _begin_end(self, timeout: float, end: ProgramEnd | None) -> float:
        """Until when the sender has time, in monotonic seconds."""
        self._closed = True
        self._limit = -1
        _process.forget(self)
        shared = self._shared
        deadline = _time.monotonic() + timeout
        with shared.changed:
            shared.deadline = deadline
            shared.end = end
            shared.ending = True
            shared.events.put(None)
        return deadline

    def end_at_exit(self, end: ProgramEnd | None) -> None:
        """Not for trainings: the interpreter ends, and waits for the
        sender."""
        if self._silent or self._closed:
            return
        self._settle()
        self._end_by_itself(_process.EXIT_SECONDS, end)

    def end_by_signal(self, end: ProgramEnd) -> None:
        """Not for trainings: a signal ends the process. A device is not
        waited for, but for what comes soon."""
        if not (self._silent or self._closed):
            call_living(self._shared.before_turns)
            self._end_by_itself(_process.EXIT_SECONDS, end)

    def go_silent(self) -> None:
        """Not for trainings: this is a forked child."""
        self._silent = True
        self._limit = -1

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, *_: object
    ) -> None:
        self._end(_TIMEOUT_SECONDS, error)
