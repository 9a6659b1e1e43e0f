"""The line by which a person finds the run: once, on rank 0.

    nanwatch: run job-7 · http://127.0.0.1:9765/?run=job-7

NANWATCH_QUIET=1 keeps it off.
"""

from __future__ import annotations

import contextlib
import html
import os
import socket
import sys
from urllib.parse import quote, urlsplit

from nanwatch import _autostart

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERY_ADDRESS = ("0.0.0.0", "::")


def find_page(page: str, run_id: str, address: str) -> str:
    """Where the run is shown; empty: nowhere that this host reaches. `page` is
    what the daemon says of itself, `address` where it was reached."""
    if not page:
        return ""
    host = urlsplit(page).hostname or ""
    local = address.startswith("unix:")
    if host in _LOOPBACK and not local:
        at = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
        if at not in _LOOPBACK:
            return ""  # another host's loopback
    if host in _EVERY_ADDRESS:
        reached = address.rpartition("://")[2].rpartition(":")[0]
        name = socket.gethostname() if local else reached
        page = page.replace("[::]", name).replace("0.0.0.0", name)
    return f"{page}/?run={quote(run_id, safe='')}"


class FirstLine:
    """Of one run; the sender's alone."""

    def __init__(self, rank: int) -> None:
        said = os.environ.get("NANWATCH_QUIET", "").strip().lower()
        self._quiet = rank != 0 or said in ("1", "true", "yes", "on")
        self._away_said = False

    def opened(self, run_id: str, page: str, address: str) -> str:
        """The daemon at `address`, which shows runs at `page`, took the run.
        Where that one is shown; empty: nowhere."""
        url = find_page(page, run_id, address)
        if not self._quiet:
            self._quiet = True
            where = url or f"nanwatch show {run_id}"
            own = _autostart.holds(address)
            more = " (started nanwatchd; it ends with this job)" if own else ""
            _print(f"run {_printable(run_id)}", _printable(where), url, more)
        return url

    def away(self, address: str, why_not_started: str) -> None:
        """No address gave a daemon."""
        if self._quiet or self._away_said:
            return
        self._away_said = True
        place = address.partition("unix:")[2] or address
        why = f" ({why_not_started})" if why_not_started else ""
        _print(f"no daemon at {place}{why}; records wait for one")


def _printable(text: str) -> str:
    """On one line, whatever the run is called."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _print(what: str, where: str = "", url: str = "", more: str = "") -> None:
    """To standard error, whatever that is; raises nothing."""
    with contextlib.suppress(Exception):
        if url and _show_link(what, url, more):
            return
        encoding = sys.stderr.encoding or "ascii"
        dot = " · " if "utf" in encoding.lower() else " - "
        line = f"nanwatch: {what}{dot + where if where else ''}{more}\n"
        if sys.stderr is sys.__stderr__:
            # Past its lock: a thread that has it when the interpreter ends
            # would end the program in an error.
            text = line.encode(encoding, "backslashreplace")
            os.write(sys.stderr.fileno(), text)
        else:
            sys.stderr.write(line)
            sys.stderr.flush()


def _show_link(what: str, url: str, more: str) -> bool:
    """In a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return False
    from IPython.display import (  # type: ignore[import-not-found]
        HTML,
        display,
    )

    display(HTML(f"nanwatch: {html.escape(what)} · {link(url)}{more}"))
    return True


def link(url: str) -> str:
    there = html.escape(url, quote=True)
    return f'<a href="{there}" target="_blank">{there}</a>'
