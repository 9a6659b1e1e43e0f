"""Which address to try next, and when. Of one thread alone."""

from __future__ import annotations

import random
from collections.abc import Sequence

_FIRST_SECONDS = 0.1
_MOST_SECONDS = 10.0


class Redial:
    def __init__(self, addresses: Sequence[str], seed: int) -> None:
        self._addresses = list(addresses)
        self._at = 0
        self._failures = 0
        self._random = random.Random(seed)
        self.not_before = 0.0

    @property
    def address(self) -> str:
        """The one to try, or in use."""
        return self._addresses[self._at]

    def due(self, now: float) -> bool:
        return now >= self.not_before

    def next(self, now: float, was_open: bool, hurry: bool) -> bool:
        """An address gave nothing, or what it gave ended (`was_open`). The
        next one is tried at once; after each round comes a pause of 100 ms,
        doubling to 10 s, or of 100 ms only if `hurry`. True: a round is
        over."""
        self._at = 0 if was_open else (self._at + 1) % len(self._addresses)
        if self._at != 0:
            return False
        pause = _FIRST_SECONDS * (1 << min(self._failures, 7))
        self._failures += 1
        pause = min(pause, _FIRST_SECONDS if hurry else _MOST_SECONDS)
        # Half to one and a half: a thousand ranks must not come back at once.
        pause *= 0.5 + self._random.random()
        self.not_before = max(self.not_before, now + pause)
        return True

    def reset(self) -> None:
        """The daemon acknowledged something: the next pause is a short one."""
        self._failures = 0
