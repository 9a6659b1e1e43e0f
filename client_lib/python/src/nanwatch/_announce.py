"""Where `nanwatch run` started this program."""

from __future__ import annotations

import contextlib
import os


def announce(run_id: str) -> None:
    """To `nanwatch run`, where that started this program: that it tells the
    daemon itself, and as which run."""
    path = os.environ.get("NANWATCH_ANNOUNCE")
    if path:
        with contextlib.suppress(OSError, ValueError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(path, flags)
            try:
                os.write(file, run_id.encode() + b"\n")
            finally:
                os.close(file)
