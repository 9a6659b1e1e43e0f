"""Steps that are over on the host, whose numbers are still on a device."""

from __future__ import annotations

import collections
import contextlib
import threading
import time
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from nanwatch._run import Run

_MOST = 64
# Of the second that a signal's handler has, for what is on its way.
_SOON = 0.5


class Entry(Protocol):
    """One step."""

    def ready(self) -> bool:
        """Whether its numbers are on the host. Asks; does not wait."""


E = TypeVar("E", bound=Entry)


class Pending(Generic[E]):
    """They are told in their order, once their numbers are there. Of more than
    64 the oldest is waited for, so that memory has an end."""

    def __init__(self, tell: Callable[[E], None]) -> None:
        self._tell = tell
        self._entries: collections.deque[E] = collections.deque()

    def __len__(self) -> int:
        return len(self._entries)

    def end_with(self, run: Run, settle: Callable[[], None]) -> None:
        """However the run ends: `settle` is called before it is flushed or
        closed, and before a signal ends it what comes soon is told."""
        run.before_settling(weakref.WeakMethod(settle))
        run.before_turns(weakref.WeakMethod(self._tell_in_handler))

    def add(self, entry: E) -> None:
        self._entries.append(entry)
        self.tell()

    def tell(self, wait: bool = False) -> None:
        """What is ready; with `wait`, everything."""
        entries = self._entries
        while entries and (wait or len(entries) > _MOST or entries[0].ready()):
            self._tell(entries.popleft())

    def settle(self, failed: Callable[[Exception], None]) -> None:
        """Everything; waits for the device. Of what cannot be told `failed` is
        called, and the others are told."""
        while self._entries:
            try:
                self.tell(wait=True)
            except Exception as error:
                failed(error)

    def _tell_in_handler(self) -> None:
        """By a signal's handler, whose process ends: what comes soon. The
        sender calls it in its turns, too, which are nothing to these."""
        if threading.current_thread() is not threading.main_thread():
            return
        until = time.monotonic() + _SOON
        while self._entries and time.monotonic() < until:
            with contextlib.suppress(Exception):  # the others are told
                self.tell()
            if self._entries:
                time.sleep(0.001)
