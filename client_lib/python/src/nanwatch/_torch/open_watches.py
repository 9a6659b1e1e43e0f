"""The watches that are open, and what they say as the program ends."""

from __future__ import annotations

import atexit
import weakref
from typing import TYPE_CHECKING, Any

from nanwatch._run import Run

if TYPE_CHECKING:
    from nanwatch._torch.watching import Watch

_watches: weakref.WeakSet[Watch] = weakref.WeakSet()
_tells_at_exit = False


def remember(watch: Watch) -> None:
    global _tells_at_exit
    _watches.add(watch)
    if not _tells_at_exit:
        _tells_at_exit = True
        atexit.register(_at_exit)


def _at_exit() -> None:
    for watch in list(_watches):
        watch.tell_at_exit()


def known(model: Any) -> Watch | None:
    """The open watch of a model."""
    found = (w for w in list(_watches) if w.is_open(model=model))
    return next(found, None)


def is_told_of(run: Run) -> bool:
    """An open watch of another model tells of it."""
    return any(w.is_open(run=run) for w in list(_watches))
