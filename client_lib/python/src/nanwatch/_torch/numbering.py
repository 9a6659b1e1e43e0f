"""The numbers of steps: a program gives them, or does not, and may have told
none of the last updates."""

from __future__ import annotations


class Numbering:
    def __init__(self) -> None:
        self.next = 0
        self._last: int | None = None  # that the program said was over
        self._since = 0  # updates that were told since then
        self._is_by_updates = False  # as far as is known
        # The number of those, while the program has not said that it is over.
        self.untold: int | None = None

    def of_one(self, given: int | None) -> int:
        """As `of_step`, where it has one update, as it mostly has."""
        if given is None:
            given, self._is_by_updates = self.next, True
        else:
            self._is_by_updates = self._has_one_for_each(1, given)
        self._last = given
        self.next = given + 1
        return given

    def of_step(self, given: int | None, updates: int) -> list[int]:
        """The program says that a step is over, which has so many updates more:
        the last one has its number, `given` or the next. Those before have the
        numbers before, if there is one for each update since the last step;
        else, as where it counts epochs, they have the same."""
        since = self._since + updates
        if given is None:
            last = self.next + updates - 1
            self._is_by_updates = True
        else:
            last = given
            self._is_by_updates = self._has_one_for_each(since, given)
        self._last, self._since, self.untold = last, 0, None
        self.next = last + 1
        return self._numbers(last - updates + 1, updates, last)

    def of_untold(self, updates: int) -> list[int]:
        """The program has not said so for many updates."""
        first = self.next
        self._since += updates
        if self._is_by_updates:
            self.next += updates
        self.untold = self.next - self._is_by_updates
        return self._numbers(first, updates, first)

    def _has_one_for_each(self, updates: int, given: int) -> bool:
        """Of those since the last step, up to `given`. Of a first one it is not
        known where its numbers began."""
        if self._last is None:
            return given in (updates - 1, updates)
        return given - self._last >= updates

    def _numbers(self, first: int, updates: int, shared: int) -> list[int]:
        if self._is_by_updates:
            return [*range(first, first + updates)]
        return [shared] * updates
