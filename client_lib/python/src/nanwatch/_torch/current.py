"""The step that goes on: what was seen of it so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nanwatch._torch.optimizers import Attempt
from nanwatch._torch.readout import Readout

_MOST = 64  # attempts of each optimizer


class Current:
    """`readout` has the numbers of `attempts`, and of those of its optimizers
    that are not over yet."""

    def __init__(self, optimizers: int) -> None:
        self._most = _MOST * max(1, optimizers)
        self.number = 0  # as the program counts; it may give another
        self.count = 0  # of the steps that are over, as nobody else counts
        self.attempts: list[Attempt] = []
        self.readout = Readout()

    def is_full(self) -> bool:
        """The program does not say that a step is over."""
        return len(self.attempts) >= self._most

    def take(self) -> list[list[Attempt]]:
        """By update, where all optimizers that were called updated in turns,
        several times: programs may well tell each tenth step alone. One that
        updates more often than others, as a critic does, does so in a step."""
        taken, self.attempts = self.attempts, []
        if len(taken) < 2:
            return [taken]
        turn = len({id(attempt.of) for attempt in taken})
        if (
            turn == len(taken)
            or len(taken) % turn
            or any(a.of is not taken[i % turn].of for i, a in enumerate(taken))
        ):
            return [taken]
        return [taken[i : i + turn] for i in range(0, len(taken), turn)]

    @contextlib.contextmanager
    def aside(self, attempts: list[Attempt]) -> Iterator[None]:
        """Within it another step goes on, which these are of; what it makes of
        the numbers stays."""
        ours = self.attempts, self.readout
        self.attempts, self.readout = attempts, Readout()
        try:
            yield
        finally:
            self.attempts, self.readout = ours
