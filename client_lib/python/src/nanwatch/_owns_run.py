"""What opens a run for a training, and may be forgotten with it."""

from __future__ import annotations

from typing import Any

from nanwatch._run import Run
from nanwatch._shown import Shown


class OwnsRun(Shown):
    """Nobody has it any more and nobody closed it, as where a cell of a
    notebook runs again: its run ends then, and not with the process."""

    run: Run | None = None
    _followed: tuple[Any, ...] = ()  # with the model: optimizer, scaler

    def _training(self) -> Any:
        """What all callbacks of its training share, and those of no other."""
        return None

    def _follows(self, *of: Any) -> bool:
        """It follows these, in the order of `_followed`; None is anything."""
        return all(
            new is None or new is old for new, old in zip(of, self._followed)
        )

    def _tell_pending(self) -> None:
        """Steps whose numbers are on their way; waits for the device, and
        raises nothing."""

    def __del__(self) -> None:
        """The garbage collector's call, which comes at any place of any
        thread: the sender does what is left to do."""
        if self.run is not None:
            self.run.leave_to_sender(self._leave)

    def _leave(self) -> None:
        """By the sender. Lets go of all that this was made of, which would
        wait for the next collection."""
        self._tell_pending()
        if self.run is not None:
            self.run.end_by_sender()
        vars(self).clear()
