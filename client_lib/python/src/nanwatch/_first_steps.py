"""Where a command of nanwatch wants a program's first steps alone, and at which
level they are watched."""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

_STEPS = "NANWATCH_STOP_AFTER"
_LEVEL = "NANWATCH_LEVEL"
_CLOSE_SECONDS = 20.0


def level(given: str) -> str:
    """What the command wants comes before what the program says."""
    return os.environ.get(_LEVEL) or given


def only_opens() -> bool:
    """What a run says of itself is wanted alone."""
    return _wanted() == 0


def at_opening(run: Any) -> None:
    if only_opens():
        _end(run)


def limit(watch: Any, count_of: Callable[[], int] | None = None) -> None:
    """Ends the program with so many steps of this watch. `count_of`: how many
    there were; not given: as many as calls."""
    most, step = _wanted(), watch.step
    if not most:
        return
    calls = 0

    def steps(*args: Any, **more: Any) -> None:
        nonlocal calls
        step(*args, **more)
        calls += 1
        if (calls if count_of is None else count_of()) >= most:
            _end(watch)

    vars(watch)["step"] = steps


class Counted:
    """Ends the program with so many batches of a callback."""

    def __init__(self, of: Any) -> None:
        self._of = weakref.ref(of)
        self._left = _wanted() or 0

    def add(self) -> None:
        self._left -= 1
        of = self._of()
        if self._left == 0 and of is not None:
            _end(of.run)


def _wanted() -> int | None:
    text = os.environ.get(_STEPS, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _end(opened: Any) -> None:
    """Here, without what the program does at its own end: so it overwrites no
    checkpoint."""
    done = opened.close(_CLOSE_SECONDS)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0 if done else 1)
