"""What the watches of loops that own their run have in common."""

from __future__ import annotations

from typing import TypeVar

from nanwatch._run import Run

Self = TypeVar("Self", bound="WatchedRun")


class WatchedRun:
    """Closes its run at the end of a `with`, whatever ended it."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def should_stop(self) -> str:
        """Why somebody asks this training to stop; empty while nobody does."""
        return self.run.should_stop

    def close(self, timeout: float = 2.0) -> bool:
        return self.run.close(timeout)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.close()
