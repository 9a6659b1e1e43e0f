"""Signals that end this process: told, and then they end it as they would have.

Only those are handled that nobody handles, and only where nobody else listens
to all of them. The handler is Python's, which runs between two instructions of
the main thread; where that thread is deep in something else (a collective that
hangs), a thread of ours does the same after a moment, so that the process ends
all the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from nanwatch._program_end import SIGNAL, ProgramEnd
from nanwatch._slurm import why_ended

_HANDLED = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)
# For the main thread to come to its handler.
_PATIENCE = 1.0
_LOOKS = 10  # meanwhile, at where it is
_UCRED = 12  # bytes of the kernel's struct ucred: pid, uid, gid

_tell: Callable[[ProgramEnd], None] | None = None
_handling = threading.Event()
_forking = threading.local()  # `mask` of a thread that is about to
# What signals are written to, by Python's own handler in C. The kernel says who
# did: a child that was forked a moment ago has the same.
_ends: tuple[socket.socket, socket.socket] | None = None


def listen(tell: Callable[[ProgramEnd], None]) -> None:
    """Calls `tell` before such a signal ends this process; it is bounded in
    time. Nothing happens where this is not the main thread, which alone may
    ask for signals."""
    global _tell, _ends
    if (
        not hasattr(socket, "SO_PASSCRED")  # Linux
        or threading.current_thread() is not threading.main_thread()
    ):
        return
    free = [s for s in _HANDLED if signal.getsignal(s) is signal.SIG_DFL]
    if not free:
        return
    read, write = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    read.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    write.setblocking(False)
    before = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
    if before != -1:  # somebody else's
        signal.set_wakeup_fd(before)
        read.close()
        write.close()
        return
    _tell, _ends = tell, (read, write)
    for number in free:
        signal.signal(number, _on_signal)
    threading.Thread(
        target=_watch, args=(read,), name="nanwatch-signals", daemon=True
    ).start()


def before_fork() -> None:
    """They wait until a child has handlers of its own: what a handler of
    Python's takes in a child before that is lost."""
    if _tell is not None:
        _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)


def after_fork() -> None:
    """In the parent."""
    mask = getattr(_forking, "mask", None)
    if mask is not None:
        _forking.mask = None
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def in_child() -> None:
    """After a fork: signals end a child as if we were not here."""
    _reset()
    after_fork()


def _reset() -> None:
    global _tell
    if _tell is None:
        return
    _tell = None
    with contextlib.suppress(Exception):
        signal.set_wakeup_fd(-1)
        for number in _HANDLED:
            if signal.getsignal(number) is _on_signal:
                signal.signal(number, signal.SIG_DFL)
        for end in _ends or ():
            end.close()


def _on_signal(number: int, frame: Any) -> None:
    if signal.getsignal(number) is not _on_signal:
        return  # another one calls it beside its own, and knows what to do
    _handling.set()
    _say(number)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _say(number: int) -> None:
    if _tell is not None:
        with contextlib.suppress(Exception):
            why = ""
            if number == signal.SIGTERM:
                why = why_ended(os.environ, time.time())
            _tell(ProgramEnd(SIGNAL, signal.Signals(number).name, why))


def _watch(read: socket.socket) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        try:
            numbers, said, _, _ = read.recvmsg(1, socket.CMSG_SPACE(_UCRED))
        except OSError:
            return
        number = numbers[0] if numbers else 0
        if (
            number in _HANDLED
            and _writer(said) == os.getpid()
            and signal.getsignal(number) is _on_signal
            and _is_stuck()
        ):
            _say(number)
            _die(number)


def _writer(said: list[tuple[int, int, bytes]]) -> int:
    """The process; -1: not told."""
    for level, kind, data in said:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid: int = struct.unpack_from("i", data)[0]
            return pid
    return -1


def _is_stuck() -> bool:
    """The main thread comes to no handler, and to nothing else."""
    seen = _place()
    for _ in range(_LOOKS):
        if _handling.wait(_PATIENCE / _LOOKS):
            return False
        if _place() != seen:
            return False
    return True


def _place() -> tuple[int, int]:
    """Where the main thread is."""
    main = threading.main_thread().ident
    frame = sys._current_frames().get(main or 0)
    return (id(frame), frame.f_lasti if frame is not None else -1)


def _die(number: int) -> None:
    """By that signal; another thread than the main one cannot ask Python."""
    with contextlib.suppress(Exception):
        libc = ctypes.CDLL(None)
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal.restype = ctypes.c_void_p
        libc.signal(number, None)  # SIG_DFL
        os.kill(os.getpid(), number)
        time.sleep(_PATIENCE)
    os.kill(os.getpid(), signal.SIGKILL)
