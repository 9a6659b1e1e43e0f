"""Whether this process may speak, and what happens at fork and at exit.

gRPC does not survive fork, and a lock that the sender held at that moment
stays locked in the child for ever. So a child of a process that had a run is
silent: what it calls returns at once and touches nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from typing import Protocol

from nanwatch import _program_end, _signals
from nanwatch._program_end import ProgramEnd


class Ends(Protocol):
    """A run, as exit and fork see it."""

    def end_at_exit(self, end: ProgramEnd | None) -> None:
        """Begins to end; `wait_for` is told for what. `end`: how the program
        does, if not in order."""

    def end_by_signal(self, end: ProgramEnd) -> None:
        """The same, with what is at hand or comes soon."""

    def go_silent(self) -> None: ...


class Sends(Protocol):
    """What a sender that ends by itself shares with everybody."""

    changed: threading.Condition

    def wait_until_ended(self, deadline: float) -> None: ...


# For all of them, when the process ends.
EXIT_SECONDS = 1.0

# While gRPC is being imported no fork may happen: the child would find modules
# half made and their locks taken.
importing = threading.Lock()
# Longer than any import; a fork waits no longer.
_IMPORT_SECONDS = 10.0

_entered = False
_silent = False
_held = False
_runs: list[Ends] = []
_ending: weakref.WeakSet[Sends] = weakref.WeakSet()


def enter() -> bool:
    """Called before the first run of a process starts its thread. False: an
    ancestor had one; stay silent."""
    global _entered
    if _silent:
        return False
    if not _entered:
        _entered = True
        os.register_at_fork(
            before=_before_fork,
            after_in_parent=_after_fork,
            after_in_child=_in_child,
        )
        atexit.register(_at_exit)
        _program_end.listen()
        _signals.listen(_at_signal)
    return True


def add(run: Ends) -> None:
    _runs.append(run)


def forget(run: Ends) -> None:
    with contextlib.suppress(ValueError):
        _runs.remove(run)


def wait_for(sender: Sends) -> None:
    """At the process' end, if it still goes on."""
    _ending.add(sender)


def _before_fork() -> None:
    global _held
    _held = importing.acquire(timeout=_IMPORT_SECONDS)
    _signals.before_fork()


def _after_fork() -> None:
    _signals.after_fork()
    _release_imports()


def _release_imports() -> None:
    global _held
    if _held:
        _held = False
        importing.release()


def _in_child() -> None:
    global _silent
    _silent = True
    _release_imports()
    _signals.in_child()
    for run in _runs:
        run.go_silent()


def _at_exit() -> None:
    end = _program_end.at_exit()
    deadline = time.monotonic() + EXIT_SECONDS
    for run in list(_runs):
        run.end_at_exit(end)
    _wait_for_all(deadline)


def _at_signal(end: ProgramEnd) -> None:
    deadline = time.monotonic() + EXIT_SECONDS
    for run in list(_runs):
        run.end_by_signal(end)
    _wait_for_all(deadline)


def _wait_for_all(deadline: float) -> None:
    for sender in list(_ending):
        with sender.changed:
            sender.wait_until_ended(deadline)
