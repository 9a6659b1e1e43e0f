"""Which modules tell at a step, where all would take too long: each so many-th
one, and another one of them each turn."""

from __future__ import annotations

import math

# Where one module a step is too much, each waits for so many turns.
_TURNS = 16
_SMOOTH = 1 / 16  # of a step, where not each has one


class Stride:
    def __init__(self, modules: int) -> None:
        self.modules = modules
        self.by = 1  # each so many-th one tells
        self.turn = 0
        self._spent = 0.0  # share of a step's time, of late

    def keep_within(self, share: float, spent: float) -> None:
        """Fewer modules at a step where what they `spent` of its time is more
        than `share`, and then none at most steps but the one that is called
        first; all again where there is room. The next turn begins."""
        self.turn += 1
        if not self.is_sparse():
            self._spent = spent
            if spent > share:
                wanted = math.ceil(self.by * spent / share)
                self.by = min(self.modules, max(self.by + 1, wanted))
            elif spent < share / 2 and self.by > 1:
                self.by -= 1
            return
        self._spent += _SMOOTH * (spent - self._spent)
        step = max(1, int(_SMOOTH * self.by))
        if self._spent > share:
            self.by = min(_TURNS * self.modules, self.by + step)
        elif self._spent < share / 2:
            self.by = max(1, self.by - step)

    def is_sparse(self) -> bool:
        """At most steps it is no module's turn."""
        return self.by >= self.modules

    @property
    def turns(self) -> int:
        """For how many turns of all of them one waits, 1 to 16."""
        return max(1, self.by // self.modules)

    def has_turn(self, place: int) -> bool:
        return (place + self.turn) % self.by == 0

    def places(self) -> range:
        """Those that have."""
        return range(-self.turn % self.by, self.modules, self.by)
