"""Steps that are over on the host, whose numbers are still on a device."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

_MOST = 64


class Entry(Protocol):
    """One step."""

    def ready(self) -> bool:
        """Whether its numbers are on the host. Asks; does not wait."""


E = TypeVar("E", bound=Entry)


class Pending(Generic[E]):
    """They are told in their order, once their numbers are there. Of more than
    64 the oldest is waited for, so that memory has an end."""

    def __init__(self, tell: Callable[[E], None]) -> None:
        self._tell = tell
        self._entries: collections.deque[E] = collections.deque()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: E) -> None:
        self._entries.append(entry)
        self.tell()

    def tell(self, wait: bool = False) -> None:
        """What is ready; with `wait`, everything."""
        entries = self._entries
        while entries and (wait or len(entries) > _MOST or entries[0].ready()):
            self._tell(entries.popleft())

    def settle(self, failed: Callable[[Exception], None]) -> None:
        """Everything; waits for the device. Of what cannot be told `failed` is
        called, and the others are told."""
        while self._entries:
            try:
                self.tell(wait=True)
            except Exception as error:
                failed(error)
