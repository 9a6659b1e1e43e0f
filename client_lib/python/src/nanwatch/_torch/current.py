"""The step that goes on: what was seen of it so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nanwatch._torch.optimizers import Attempt
from nanwatch._torch.readout import Readout

_MOST = 64  # attempts of a step


class Current:
    """`readout` has the numbers of `attempts`, and of those of its optimizers
    that are not over yet."""

    def __init__(self) -> None:
        self.number = 0
        self.attempts: list[Attempt] = []
        self.readout = Readout()

    def add(self, attempt: Attempt) -> None:
        if len(self.attempts) < _MOST:
            self.attempts.append(attempt)
        else:  # who never says that a step is over
            self.attempts = [attempt]
            self.readout = Readout()

    def take(self) -> list[Attempt]:
        taken, self.attempts = self.attempts, []
        return taken

    @contextlib.contextmanager
    def aside(self, attempts: list[Attempt]) -> Iterator[None]:
        """Within it another step goes on, which these are of; what it makes of
        the number stays."""
        ours = self.attempts, self.readout
        self.attempts, self.readout = attempts, Readout()
        try:
            yield
        finally:
            self.attempts, self.readout = ours
