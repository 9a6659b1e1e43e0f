"""The numbers of steps: a program gives them, or does not, and may have told
none of the last updates."""

from __future__ import annotations


class Numbering:
    def __init__(self) -> None:
        self.next = 0
        self._last: int | None = None  # that the program said was over
        self._since = 0  # updates that were told since then
        self._is_by_updates = False  # as far as is known
        # From one update's number to the next one's: more than 1 where the
        # program counts batches of which several make an update, or samples.
        self._stride = 1
        # The number of those, while the program has not said that it is over.
        self.untold: int | None = None

    def goes_on(self) -> Numbering:
        """Of a training that another watch was of so far."""
        after = Numbering()
        after.next, after._stride = self.next, self._stride
        after._is_by_updates = self._is_by_updates
        after._last = self._last
        if self._is_by_updates:
            after._last = self.next - self._stride
        return after

    def of_one(self, given: int | None) -> int:
        """As `of_step`, where it has one update, as it mostly has."""
        if given is None:
            given, self._is_by_updates = self.next, True
        else:
            self._is_by_updates = self._stride_to(given, 1) > 0
        self._last = given
        self.next = given + 1
        return given

    def of_step(self, given: int | None, updates: int) -> list[int]:
        """The program says that a step is over, which has so many updates more:
        the last one has its number, `given` or the next. Those before have the
        numbers before, if there is one for each update since the last step;
        else, as where it counts epochs, they have the same. Without updates,
        as all of them were told: the number of the last one."""
        since = self._since + updates
        if given is None:
            if not self._is_by_updates:
                self.next += self._since  # what those should have had
            self._is_by_updates = True
            last = self.next + (updates - 1) * self._stride
        else:
            last = given
            stride = self._stride_to(given, since)
            self._is_by_updates = stride > 0
            self._stride = max(1, stride)
        self._last, self._since, self.untold = last, 0, None
        self.next = last + self._stride
        if updates < 1:
            return [last]
        return self._numbers(last - (updates - 1) * self._stride, updates, last)

    def of_untold(self, updates: int) -> list[int]:
        """The program has not said so for many updates."""
        first = self.next
        self._since += updates
        self.untold = first
        if self._is_by_updates:
            self.next += updates * self._stride
            self.untold = self.next - self._stride
        return self._numbers(first, updates, first)

    def _stride_to(self, given: int, updates: int) -> int:
        """Numbers for each update since the last step, up to `given`; 0: fewer
        than one. Of a first one it is not known where its numbers began."""
        if self._last is None:
            return 1 if given in (updates - 1, updates) else 0
        numbers = given - self._last
        if numbers < updates:
            return 0
        return numbers // updates if numbers % updates == 0 else 1

    def _numbers(self, first: int, updates: int, shared: int) -> list[int]:
        if self._is_by_updates:
            return [first + i * self._stride for i in range(updates)]
        return [shared] * updates
