"""init(autostart=True): a nanwatchd beside the job, which ends with it.

Whoever uses such a daemon holds a shared lock on a file beside its socket for
as long as the process lives; the daemon (--while-locked) ends once nobody does.
The system takes such a lock from a process however it dies. The signal that a
parent's death can send (PR_SET_PDEATHSIG) and a process id would know one rank
only, the one that started it, and the first of them the thread that did.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence

from nanwatch._socket_file import is_own_folder

# Beside the socket.
_JOB_LOCK = "nanwatchd.job"
_START_LOCK = "nanwatchd.start"
_LOG = "nanwatchd.log"
# A daemon with a long history listens after some tenths of a second.
_START_SECONDS = 10.0
_LOOK_SECONDS = 0.02
# What a service manager means for the training, not for what it starts.
_NOT_OURS = (
    "NOTIFY_SOCKET",
    "RUNTIME_DIRECTORY",
    "STATE_DIRECTORY",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
)

# The folders whose lock this process holds: path to file.
_held: dict[str, int] = {}


def _let_go() -> None:
    """In a forked child, which is silent; the parent still holds them."""
    for file in _held.values():
        with contextlib.suppress(OSError):
            os.close(file)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def is_wanted(autostart: bool | None, environment: Mapping[str, str]) -> bool:
    """The call comes before NANWATCH_AUTOSTART."""
    if autostart is not None:
        return autostart
    said = environment.get("NANWATCH_AUTOSTART", "").strip().lower()
    return said in ("1", "true", "yes", "on")


def holds(address: str) -> bool:
    """Whether the daemon there runs for this process, and others of its job,
    alone."""
    return os.path.dirname(address.partition("unix:")[2]) in _held


def ensure(
    addresses: Sequence[str], ended: Callable[[], bool] = lambda: False
) -> str:
    """Starts a daemon if none listens at any of the addresses, which are
    the usual ones (find_addresses), and waits until it does, or `ended`. Why
    there is none; empty: there is one. Blocks for seconds at most: not for a
    training's thread."""
    try:
        return _ensure(addresses, ended)
    except OSError as error:
        return f"no nanwatchd could be started: {error}"


def _ensure(addresses: Sequence[str], ended: Callable[[], bool]) -> str:
    own = addresses[0][len("unix:") :]
    if any(_listens(a[len("unix:") :]) for a in addresses[1:]):
        return ""
    folder = os.path.dirname(own)
    if not _listens(own):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    if not is_own_folder(folder, os.getuid()):
        # One that listens there all the same is somebody else's.
        return "" if _listens(own) else f"{folder} is not this user's own"
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and not ended():
        # Not while a daemon ends: that one keeps the lock until it is gone.
        if _hold(folder):
            if _listens(own):
                return ""
            why = _start(folder, own, until, ended)
            if why is not None:
                return why
        time.sleep(_LOOK_SECONDS)
    return "nanwatchd did not listen in time"


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except OSError:
            return False
        return True


def _hold(folder: str) -> bool:
    """From now on this process is one that the daemon runs for."""
    if folder in _held:
        return True
    file = _lock(os.path.join(folder, _JOB_LOCK), fcntl.LOCK_SH)
    if file is None:
        return False
    _held[folder] = file
    return True


def _lock(path: str, kind: int) -> int | None:
    """None: somebody else has it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


def _start(
    folder: str, own: str, until: float, ended: Callable[[], bool]
) -> str | None:
    """None: another rank is at it. Else as `ensure`."""
    lock = _lock(os.path.join(folder, _START_LOCK), fcntl.LOCK_EX)
    if lock is None:
        return None
    try:
        if _listens(own):
            return ""
        program = _find_program()
        if not program:
            return (
                "there is no nanwatchd on PATH, none that came with this "
                "package, and no NANWATCH_DAEMON"
            )
        child = _spawn(program, folder, own)
        while not _listens(own):
            if os.waitpid(child, os.WNOHANG)[0]:
                return f"{program} ended; see {os.path.join(folder, _LOG)}"
            if time.monotonic() >= until or ended():
                return "nanwatchd did not listen in time"
            time.sleep(_LOOK_SECONDS)
        return ""
    finally:
        os.close(lock)


def _find_program() -> str:
    """The nanwatchd to start; empty: there is none."""
    return (
        os.environ.get("NANWATCH_DAEMON")
        or shutil.which("nanwatchd")
        or _find_bundled()
    )


def _find_bundled() -> str:
    """The one of the wheel, in an environment that is not on PATH, where only
    its Python was called."""
    try:
        files = importlib.metadata.files("nanwatch") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for file in files:
        if file.name == "nanwatchd":
            path = os.path.realpath(str(file.locate()))
            if os.access(path, os.X_OK):
                return path
    return ""


def _spawn(program: str, folder: str, own: str) -> int:
    """Without fork(), whose handlers are none of ours to run, and in a session
    of its own: a terminal's ^C ends the training, whose last words the daemon
    is to hear."""
    log = os.path.join(folder, _LOG)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    environment = {k: v for k, v in os.environ.items() if k not in _NOT_OURS}
    return os.posix_spawn(
        program,
        [
            program,
            "--socket",
            own,
            # Any port: another daemon, or another user's, may have the usual.
            "--listen",
            "127.0.0.1:0",
            "--while-locked",
            os.path.join(folder, _JOB_LOCK),
        ],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
    )
