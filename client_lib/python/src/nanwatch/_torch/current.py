"""The step that goes on: what was seen of it so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nanwatch._torch.numbering import Numbering
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.readout import Readout
from nanwatch._torch.update import Update

_MOST = 64  # updates of each optimizer


class Current:
    """`readout` has the numbers of `updates`, and of those of its optimizers
    that are not over yet."""

    def __init__(self, optimizers: int, *, together: bool) -> None:
        """`together`: so many optimizers are told as one."""
        self._most = _MOST * max(1, optimizers)
        self._together = together
        self.numbering = Numbering()
        self.count = 0  # of the steps that are over, as nobody else counts
        self.updates: list[Update] = []
        self._ahead: dict[int, int] = {}  # by the id of the Followed
        self.readout = Readout()

    def ahead(self, followed: Followed) -> int:
        """Updates of an optimizer that are over, in this step: so many are its
        next one's numbers ahead."""
        return self._ahead.get(id(followed), 0)

    @property
    def number(self) -> int:
        """The next one's, if the program gives no other."""
        return self.numbering.next

    def add(self, update: Update) -> None:
        self.updates.append(update)
        self._ahead[id(update.of)] = self._ahead.get(id(update.of), 0) + 1

    def is_full(self) -> bool:
        """The program does not say that a step is over."""
        return len(self.updates) >= self._most

    def take_one(self) -> list[Update]:
        """Of one update, or none."""
        taken, self.updates, self._ahead = self.updates, [], {}
        return taken

    def take(self) -> list[list[Update]]:
        """By update, where all optimizers that were called updated in turns,
        several times: programs may well tell each tenth step alone. One that
        updates more often than others, as a critic does, does so in a step;
        what is told as one cannot."""
        taken = self.take_one()
        if len(taken) < 2:
            return [taken]
        if self._together:
            return list(_by_turns(taken))
        turn = len({id(update.of) for update in taken})
        if (
            turn == len(taken)
            or len(taken) % turn
            or any(a.of is not taken[i % turn].of for i, a in enumerate(taken))
        ):
            return [taken]
        return [taken[i : i + turn] for i in range(0, len(taken), turn)]

    @contextlib.contextmanager
    def aside(self, updates: list[Update]) -> Iterator[None]:
        """Within it another step goes on, which these are of; what it makes of
        the numbers stays."""
        ours = self.put_aside(Readout())
        self.updates = updates
        try:
            yield
        finally:
            self.take_back(ours)

    def put_aside(self, readout: Readout) -> Any:
        """What `take_back` wants: another step goes on from here, with its own
        `readout`."""
        ours = self.updates, self.readout, self._ahead
        self.updates, self.readout, self._ahead = [], readout, {}
        return ours

    def take_back(self, ours: Any) -> list[Update]:
        """The updates of the other one."""
        others = self.updates
        self.updates, self.readout, self._ahead = ours
        return others


def _by_turns(updates: list[Update]) -> Iterator[list[Update]]:
    """Up to the next update of the same optimizer."""
    turn: list[Update] = []
    seen: set[int] = set()
    for update in updates:
        if id(update.of) in seen:
            yield turn
            turn, seen = [], set()
        turn.append(update)
        seen.add(id(update.of))
    yield turn
