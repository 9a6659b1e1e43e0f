"""How this program ends, where it does not end in order: by an exception that
nobody caught, by sys.exit() with another status than 0, by Ctrl-C.

Nothing is put in the way of what the program does with it: the interpreter
keeps the exception that ended the main program, and only `sys.exit` has a
function of ours around it, which calls the one that was there.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from typing import Any, NamedTuple

from nanwatch import _wire
from nanwatch._text import clean

EXCEPTION, EXIT, INTERRUPT, SIGNAL, OUT_OF_MEMORY = range(1, 6)

_CHARACTERS = 200  # of a message that are told
# How those begin that end a loop on purpose: a search drops a trial, data are
# at their end, an early stop.
_ON_PURPOSE = ("Stop", "EarlyStop", "TrialPruned", "GeneratorExit")
# In the words of PyTorch on a CPU and on a GPU, and of XLA.
_NO_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "resource_exhausted",
)


class ProgramEnd(NamedTuple):
    kind: int
    type: str
    message: str = ""

    def encode(self) -> bytes:
        """The `end` of a CloseSession."""
        return _wire.put_message(
            3,
            _wire.put_int(1, self.kind)
            + _wire.put_bytes(2, clean(self.type))
            + _wire.put_bytes(3, clean(self.message, 4 * _CHARACTERS)),
        )


def of_exception(error: BaseException | None) -> ProgramEnd | None:
    """None: there is none, or it ends things in order."""
    if error is None:
        return None
    if isinstance(error, SystemExit):
        return _of_status(error.code)
    name = type(error).__name__
    if name.startswith(_ON_PURPOSE):
        return None
    if isinstance(error, KeyboardInterrupt) or name == "CancelledError":
        return ProgramEnd(INTERRUPT, name)
    try:
        message = str(error)
    except Exception:  # of a class that cannot say what it is
        message = ""
    return ProgramEnd(_kind_of(error, name, message), name, _cut(message))


def _kind_of(error: BaseException, name: str, message: str) -> int:
    words = message[:4096].lower()
    if (
        isinstance(error, MemoryError)
        or "OutOfMemory" in name
        or any(each in words for each in _NO_MEMORY)
    ):
        return OUT_OF_MEMORY
    return EXCEPTION


def _of_status(status: Any) -> ProgramEnd | None:
    if status is None or status == 0:
        return None
    if isinstance(status, int):
        return ProgramEnd(EXIT, f"sys.exit({status})")
    return ProgramEnd(EXIT, "sys.exit", _cut(str(status)))


def _cut(message: str) -> str:
    """On one line, whole words."""
    words = " ".join(message[: 16 * _CHARACTERS].split())
    if len(words) <= _CHARACTERS:
        return words
    kept = words[:_CHARACTERS]
    return (kept.rpartition(" ")[0] or kept[:-1]) + "…"


def handled() -> BaseException | None:
    """The exception that is on its way through this thread, or that an
    `except` of it deals with."""
    return sys.exc_info()[1]


_noted: ProgramEnd | None = None  # by sys.exit


def listen() -> None:
    """To sys.exit; once a process."""
    before = sys.exit

    @functools.wraps(before)
    def exit(*status: Any) -> Any:
        with contextlib.suppress(Exception):
            _note(status[0] if status else None)
        return before(*status)

    sys.exit = exit


def _note(status: Any) -> None:
    """Of another thread it ends that thread."""
    global _noted
    if threading.current_thread() is not threading.main_thread():
        return
    _noted = _of_status(status)
    if _noted is not None:
        # What launchers do with the error of a process.
        _noted = of_exception(handled()) or _noted


def at_exit() -> ProgramEnd | None:
    """Of the process that ends now. What a person at a prompt did wrong
    before ends nothing."""
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return None
    last = getattr(sys, "last_value", None)
    return of_exception(last) if last is not None else _noted
