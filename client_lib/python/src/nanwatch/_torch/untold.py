"""Steps that are over on the host, and not told yet."""

from __future__ import annotations

import collections
import functools
import sys
import threading
import time

from nanwatch._torch.guard import Guard
from nanwatch._torch.step import Step
from nanwatch._torch.telling import Teller

# Whose numbers are not there yet. (Where a program does not say that steps are
# over, dozens come at once.)
_MOST = 256
# Steps in which nothing is odd are told by the sender, in its turn: the code
# that does is out of the processor's caches after a training's step. Where so
# many wait for it, the training does.
_WAITING = 32
# Seconds in which a device that is well brings what is on its way.
_SOON = 1.0
# And in which the sender has told what it is at.
_END = 0.2


class Untold:
    def __init__(self, teller: Teller, guard: Guard) -> None:
        self._teller = teller
        self._guard = guard
        self._steps: collections.deque[Step] = collections.deque()
        # Who tells of them: the training's thread or the sender's. A signal's
        # handler may close a watch that is telling.
        self._telling = threading.RLock()

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, step: Step) -> None:
        """By the training's thread. Waits for a device only where hundreds
        of steps do."""
        self._steps.append(step)
        if not step.is_plain() or len(self._steps) >= _WAITING:
            self.tell_ready(most=_MOST)

    def tell_ready(self, most: int = sys.maxsize) -> None:
        """In their order, up to the first whose numbers are not there; waits
        for it where more than `most` do."""
        with self._telling:
            while self._steps and (
                len(self._steps) > most or self._steps[0].ready()
            ):
                step = self._steps.popleft()
                step.finish()
                self._tell(step)

    def tell_before_settling(self) -> None:
        """Before the run is flushed or closed."""
        self._guard("flush", self._tell_soon)

    def _tell_soon(self) -> None:
        """Those whose numbers are on their way, too: the last ones of a
        training say how it ended."""
        until = time.monotonic() + _SOON
        self.tell_ready()
        while self._steps and time.monotonic() < until:
            time.sleep(0.001)
            self.tell_ready()

    def tell_usual(self) -> None:
        """By the sender's thread: steps in which nothing is odd, which change
        nothing that the training's thread looks at in a forward pass. By a
        signal's handler, too, which lets the sender come to its end; not
        longer, since that may wait for what the handler came in the way of."""
        in_handler = threading.current_thread() is threading.main_thread()
        if not self._telling.acquire(timeout=_END if in_handler else 0.0):
            return
        try:
            while self._steps and self._steps[0].is_plain():
                self._tell(self._steps.popleft())
        finally:
            self._telling.release()

    def _tell(self, step: Step) -> None:
        """What goes wrong with one is not the others' end."""
        self._guard("telling", functools.partial(self._teller.tell, step))

    def tell_kept(self, request: int) -> None:
        """Of the last steps what was not told, as the daemon asked for."""
        with self._telling:
            self._teller.tell_kept(request)
