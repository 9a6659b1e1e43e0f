"""At which steps a run is recorded for a comparison: so seldom that it takes a
hundredth of the training's time."""

from __future__ import annotations

import time

# From one to the next: see tests/bench/compare_level.py. Others are multiples
# of it, so that two runs have some of them both.
_EVERY = 64
_MOST_EVERY = 1 << 16
_FIRST = 3  # all of these, of a training
_SHARE = 0.01
# What a step takes longer for the time that is seen here (measured).
_UNSEEN = 1.5
_SMOOTH = 0.125


class ComparedSteps:
    def __init__(self) -> None:
        self.every = _EVERY
        self.spent = 0.0  # seconds, of the step that goes on
        self._cost = 0.0  # of the last one that was recorded
        self._usual = 0.0  # seconds of a step that is not
        self._steps = 0  # that are over
        self._over = 0.0  # when the last one was

    def end(self, recorded: bool) -> None:
        """A step is over."""
        now = time.perf_counter()
        seconds, self._over = now - self._over, now
        spent, self.spent = self.spent, 0.0
        self._steps += 1
        if recorded:
            self._cost = spent
        elif self._steps > _FIRST:
            self._usual = self._usual or seconds
            self._usual += _SMOOTH * (seconds - self._usual)

    def has(self, number: int) -> bool:
        """The next one's number, as far as it is known."""
        if self._steps < _FIRST:
            return True
        if number % self.every:
            return False
        while (
            self.every < _MOST_EVERY
            and _UNSEEN * self._cost > _SHARE * self.every * self._usual
        ):
            self.every *= 2
        return number % self.every == 0
