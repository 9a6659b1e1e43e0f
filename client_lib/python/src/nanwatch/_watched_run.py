"""What the watches of loops that own their run have in common."""

from __future__ import annotations

from typing import Any, TypeVar

from nanwatch._owns_run import OwnsRun
from nanwatch._pending import Pending
from nanwatch._run import Run

Self = TypeVar("Self", bound="WatchedRun")


class WatchedRun(OwnsRun):
    """Closes its run at the end of a `with`, whatever ended it. Steps whose
    numbers are on their way are told, in their order, by `_tell_entry`."""

    run: Run

    def __init__(self, run: Run) -> None:
        self.run = run
        self._pending: Pending[Any] = Pending(self._tell_entry)
        self._gradients: dict[str, int] = {}  # ops by name
        self._number = 0  # of the next step, if the program gives no other
        self._pending.end_with(run, self._tell_pending)

    def _take_number(self, given: Any) -> int:
        """Of a step. One that is no number is refused, once, and counts like
        one that is not given."""
        number = None if given is None else self.run._checks.step(given)
        taken = self._number if number is None else number
        self._number = taken + 1
        return taken

    def _tell_entry(self, entry: Any) -> None:
        raise NotImplementedError

    def _gradient(self, name: str, place: int, of: int) -> int:
        """The op of the gradient of a parameter, in its place of so many.
        Models mostly list them as they use them: the backward pass comes to
        the last one first."""
        op = self._gradients.get(name)
        if op is None:
            op = self.run.register_op(
                name, type="Parameter", order=of - 1 - place
            )
            self._gradients[name] = op
        return op

    def _tell_pending(self) -> None:
        """Before the run is flushed or closed; waits for the device."""
        self._pending.settle(lambda error: self.run._failed("flush", error))

    @property
    def should_stop(self) -> str:
        """Why somebody asks this training to stop; empty while nobody does."""
        return self.run.should_stop

    def close(self, timeout: float = 2.0) -> bool:
        """Waits for what is on its way, and closes the run."""
        return self.run.close(timeout)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.close()
