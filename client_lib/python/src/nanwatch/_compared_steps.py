"""At which steps a run is recorded for a comparison: so seldom that it takes a
hundredth of the training's time (see tests/bench/compare_level.py)."""

from __future__ import annotations

import time

_EVERY = 64  # at first, from one look to the next
_FIRST = 3  # of a process that are looked at
# Of a process whose batches have a digest: data from the start are seen by it.
_BATCHES = 64
# Of the training's time: half for looks, half for digests of batches.
_SHARE = 0.005
# What a step takes longer for the time that is seen here (measured).
_UNSEEN = 1.5
_SMOOTH = 0.125


class _Interval:
    """Powers of two, so that two runs have some steps both."""

    def __init__(self, steps: int, most: int) -> None:
        self.steps = steps
        self._most = most
        self._cost = 0.0  # seconds, at one of its steps
        self._last = 0.0  # at the last one

    def took(self, seconds: float) -> None:
        """One of its steps did. Of two the lesser counts: in the other one
        something else may have run."""
        self._cost = min(seconds, self._last or seconds)
        self._last = seconds

    def has(self, number: int, usual: float) -> bool:
        """`usual`: seconds of a step; 0: not known."""
        while (
            usual
            and self.steps < self._most
            and _UNSEEN * self._cost > _SHARE * self.steps * usual
        ):
            self.steps *= 2
        return number % self.steps == 0


class ComparedSteps:
    """Of one process. The first step has both."""

    def __init__(self) -> None:
        self.spent = 0.0  # seconds, of the step that goes on
        self.has_batch = True  # that step's batch gets a digest
        self._looks = _Interval(_EVERY, 1 << 16)
        # A look is one, too.
        self._batches = _Interval(1, _EVERY)
        self._usual = 0.0  # seconds of a step that is not looked at
        self._steps = 0  # that are over
        self._number = -1  # of the last one; -1: there was none
        self._over = 0.0  # when the last one was

    @property
    def every(self) -> int:
        """Steps from one look to the next."""
        return self._looks.steps

    def end(self, recorded: bool) -> None:
        """A step is over."""
        now = time.perf_counter()
        seconds, self._over = now - self._over, now
        spent, self.spent = self.spent, 0.0
        self._steps += 1
        if recorded:
            self._looks.took(spent)
            return
        if self.has_batch:
            self._batches.took(spent)
        if self._steps > _FIRST:
            self._usual = self._usual or seconds
            self._usual += _SMOOTH * (seconds - self._usual)

    def has_next(self, number: int) -> bool:
        """The next one is looked at; `number`: of the one that is over. A
        program may count samples, so the last two numbers say how far apart
        they are."""
        apart = max(number - self._number, 1) if self._number >= 0 else 1
        self._number = number
        following = number // apart + 1
        self.has_batch = (
            self._batches.has(following, self._usual) or self._steps < _BATCHES
        )
        return self._steps < _FIRST or self._looks.has(following, self._usual)
