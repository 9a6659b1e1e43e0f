"""The daemon's unix socket before it is dialled: where there is none, gRPC and
its threads are never started."""

from __future__ import annotations

import os
import stat


def private_address(user: int) -> str:
    """Where a daemon listens that `user` started without XDG_RUNTIME_DIR. In
    /tmp anybody may make a folder of that name."""
    return f"unix:/tmp/nanwatch-{user}/ingest.sock"


def is_own_folder(path: str, user: int) -> bool:
    """A folder, no link to one, that is `user`'s and that nobody else may write
    to."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == user
        and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def why_not_there(address: str) -> str:
    """Why it is of no use to dial `address`, for this process' user; empty: it
    may be of some. The private address counts only in the user's own folder."""
    if not address.startswith("unix:/"):
        return ""
    path = address[len("unix:") :]
    try:
        os.stat(path)
    except PermissionError:
        return "this user may not enter the folder of the socket"
    except (OSError, ValueError):
        return "there is no such socket; is nanwatchd running?"
    user = os.getuid()
    if address == private_address(user) and not is_own_folder(
        os.path.dirname(path), user
    ):
        return "its folder is not this user's own, so it is not believed"
    return ""
