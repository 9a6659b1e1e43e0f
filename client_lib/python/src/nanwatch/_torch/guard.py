"""What goes wrong in a watch stays in it: nothing of ours ends a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from nanwatch._run import Run

_T = TypeVar("_T")

_FAILURES = 100  # of one kind, after which it is given up


class Guard:
    """Called with what is to be done, and the name it has in a log. For the
    training's thread and the sender's."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._failures: dict[str, int] = {}  # by what failed

    def __call__(
        self, what: str, work: Callable[..., _T], *of: Any
    ) -> _T | None:
        """What `work` gives, called with `of`; None where it failed, or is not
        let. (No lambda, and no call that can be spared: in a hook each of them
        is out of the processor's caches.)"""
        if self._failures.get(what, 0) >= _FAILURES or self.run._silent:
            return None
        try:
            return work(*of)
        except Exception as error:
            self.failed(what, error)
            return None

    def lets(self, what: str) -> bool:
        """It is neither given up, nor is it a silent run's."""
        return not self.run._silent and self._failures.get(what, 0) < _FAILURES

    def failed(self, what: str, error: Exception) -> None:
        failures = self._failures[what] = self._failures.get(what, 0) + 1
        self.run._checks.refuse(
            "torch " + what, f"{what} could not be measured: {error!r:.300}"
        )
        if failures == _FAILURES:
            self.run._checks.refuse(
                f"torch {what}, for good",
                f"{what} could not be measured {failures} times, and is left "
                "out from here on",
            )
