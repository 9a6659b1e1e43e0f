"""The numbers of steps: a program gives them, or does not, and may have told
none of the last updates."""

from __future__ import annotations

# Numbers that a program which went back catches up with unseen.
_FEW = 16


class Numbering:
    """Of what a program numbers upwards they never go back: `next` is above all
    that were told, and a step has none below them, whatever the program
    counts, unless it goes back itself."""

    def __init__(self) -> None:
        self.next = 0
        self._last: int | None = None  # that the program said was over
        self._is_own = False  # it said none, and has the next one
        self._was_own = False  # but for the last one
        self._since = 0  # updates that were told since then
        # As far as is known; None: nothing said so yet.
        self._is_by_updates: bool | None = None
        # The number of those, while the program has not said that it is over.
        self.untold: int | None = None

    def goes_on(self) -> Numbering:
        """Of a training that another watch was of so far."""
        after = Numbering()
        after.next = self.next
        after._is_by_updates = self._is_by_updates
        after._last = self.next - 1 if self._is_by_updates else self._last
        after._is_own = self._is_own
        return after

    def of_one(self, given: int | None) -> int:
        """As `of_step`, where it has one update, as it mostly has. Where a
        program counted iterations of several it may be one of those."""
        if given is None:
            self._is_by_updates = True
            return self._take(self.next, is_own=True)
        if self._last is not None and self._stride_to(given, 1) < 1:
            self._is_by_updates = False
        elif self._is_by_updates is None:
            self._is_by_updates = True
        return self._take(given)

    def of_step(self, given: int | None, updates: int) -> list[int]:
        """The program says that a step is over, which has so many updates more:
        the last one has its number, `given` or the next. Those before have
        numbers before, if there is one for each update since the last step,
        or several; else, as where it counts epochs, they have the same.
        Without updates, as all of them were told: the number of the last
        one."""
        since, stride = self._since + updates, 1
        if given is None:
            if not self._is_by_updates:
                self.next += self._since  # what those should have had
            self._is_by_updates = True
            last = self.next + updates - 1
        else:
            last = given
            stride = self._stride_to(given, since) if since > 0 else 0
            if since > 1 or (since > 0 and stride < 1):
                self._is_by_updates = stride > 0
            elif since > 0 and self._is_by_updates is None:
                self._is_by_updates = True
        first = self.next
        last = self._take(last, is_own=given is None, updates=since)
        self._since, self.untold = 0, None
        if updates < 1:
            return [last]
        if stride < 1:
            return [last] * updates
        first = min(first, last)
        return [max(first, last - i * stride) for i in reversed(range(updates))]

    def not_below(self, given: int | None) -> int | None:
        """For what no update was made of, an evaluation perhaps, which is
        numbered by epochs: `given`, or the last number that was told. A run
        does not go back for it."""
        return None if given is None else max(given, self.next - 1)

    def of_untold(self, updates: int) -> list[int]:
        """The program has not said so for many updates. Where it counts
        something of which an update has several, they may be too low."""
        first = self.next
        self._since += updates
        if not self._is_by_updates:
            self.untold = first
            return [first] * updates
        self.next += updates
        self.untold = self.next - 1
        return [*range(first, self.next)]

    def _take(
        self, given: int, *, is_own: bool = False, updates: int = 1
    ) -> int:
        """As the last one that is told: as it was given, but not below those
        that were told before, unless the program itself went back. (What it
        numbers after steps without numbers, it counts by something else, as
        evaluations by epochs; unless its updates have one after the other.)"""
        begins = (
            self._was_own
            and not is_own
            and updates > 0
            and given < self.next - _FEW
            and self._stride_to(given, updates) > 0
        )
        goes_on = self._last is not None and (
            self._is_own or given >= self._last
        )
        self._was_own = self._is_own and not is_own
        goes_on = goes_on and not begins
        self._last, self._is_own = given, is_own
        if goes_on:
            given = max(given, self.next - 1, self.untold or 0)
        self.next = given + 1
        return given

    def _stride_to(self, given: int, updates: int) -> int:
        """Numbers for each update since the last step, up to `given`: several
        where a program counts batches that are accumulated, or samples; 0:
        fewer than one. Of a first one it is not known where its numbers
        began."""
        if self._last is None:
            return 1 if given in (updates - 1, updates) else 0
        numbers = given - self._last
        if numbers < updates:
            return 0
        return numbers // updates if numbers % updates == 0 else 1
