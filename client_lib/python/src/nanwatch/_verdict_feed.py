"""VerdictFeed: what the daemon finds in a run, as long as the run goes on."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from nanwatch import _verdicts, _wire
from nanwatch._credentials import find_way
from nanwatch._redial import Redial
from nanwatch._stream import Watching
from nanwatch._verdicts import Verdict

_INTERVAL_MS = 1000


class VerdictFeed:
    """Calls `take` with each new verdict, on a thread of its own. `take` may
    take its time; no training waits for it."""

    def __init__(self, run: Any, take: Callable[[Verdict], None]) -> None:
        self._shared = run._shared
        self._take = take
        self._pid = os.getpid()
        self._last: Verdict | None = None
        self._redial = Redial([""], self._pid)
        self._stop = threading.Event()
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(
            target=self._follow, name="nanwatch-verdicts", daemon=True
        )
        atexit.register(self.close, 1.0)
        self._thread.start()

    def close(self, timeout: float = 5.0) -> None:
        """Ends the feed. Where the run was closed, its last verdict is waited
        for, at most `timeout` seconds. Call it after the run's own close."""
        atexit.unregister(self.close)
        if os.getpid() != self._pid:
            return
        if self._shared.ending:
            self._thread.join(timeout)
        self._stop.set()
        self._events.put(None)
        self._thread.join(1.0)

    def _follow(self) -> None:
        while not self._stop.is_set():
            if self._shared.run_id and self._watch():
                return
            now = time.monotonic()
            self._redial.next(now, was_open=False, hurry=False)
            self._stop.wait(self._redial.not_before - now)

    def _watch(self) -> bool:
        """Returns true once the run has ended."""
        shared = self._shared
        credentials, why = find_way(shared.address)
        if why:
            return False
        request = (
            _wire.put_bytes(1, shared.run_id.encode())
            + _wire.put_optional_int(2, shared.attempt)
            + _wire.put_int(3, _INTERVAL_MS)
        )
        watching = Watching(credentials, request, self._events)
        try:
            while not self._stop.is_set():
                said = self._events.get()
                if said is None or said[0] is not watching:
                    continue
                if said[1] is None:
                    return not watching.error
                self._redial.reset()
                self._read(said[1])
            return True
        finally:
            watching.cancel()
            watching.let_go(1.0)

    def _read(self, response: bytes) -> None:
        with contextlib.suppress(ValueError):
            verdict = _verdicts.read(response)
            if verdict != self._last:
                self._last = verdict
                self._take(verdict)
