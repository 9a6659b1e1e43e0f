"""Numbers of one step on their way to the host, for frameworks that have no
way of their own to ask for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union


class Copied:
    """A copy on the host, behind an event of the device."""

    def __init__(
        self,
        source: Any,
        host: Any,
        event: Any,
        numbers_of: Callable[[Any], list[float]],
    ) -> None:
        """`source` is kept until the copy is there. `event`: None where it is
        already. `numbers_of` reads what is on the host."""
        self._source = source
        self._host = host
        self._event = event
        self._numbers_of = numbers_of

    def ready(self) -> bool:
        """Whether it is there. Asks; does not wait."""
        return bool(self._event is None or self._event.query())

    def read(self) -> list[float]:
        if self._event is not None:
            self._event.synchronize()
        return self._numbers_of(self._host)


class Place(NamedTuple):
    """Of numbers in the copy."""

    begin: int
    elements: int


# What is on the host already, or where it will be.
Numbers = Union[list[float], Place]


class Arrivals:
    """Collects tensors of one element each, or vectors, and takes all of them
    to the host by one copy."""

    def __init__(self, copy: Callable[[Sequence[Any]], Copied]) -> None:
        """`copy` joins flat tensors and starts to copy them."""
        self._start = copy
        self._tensors: list[Any] = []
        self._elements = 0
        self._copy: Copied | None = None
        self._read: list[float] = []

    def add(self, tensor: Any, elements: int) -> Place:
        """A flat one of so many elements."""
        place = Place(self._elements, elements)
        self._tensors.append(tensor)
        self._elements += elements
        return place

    def start(self) -> None:
        """Nothing is added afterwards."""
        if self._tensors:
            tensors, self._tensors = self._tensors, []
            self._copy = self._start(tensors)

    def ready(self) -> bool:
        return self._copy is None or self._copy.ready()

    def finish(self) -> None:
        """Waits where it is not there yet."""
        if self._copy is not None:
            self._read = self._copy.read()
            self._copy = None

    def numbers(self, at: Numbers) -> list[float]:
        if isinstance(at, Place):
            return self._read[at.begin : at.begin + at.elements]
        return at

    def number(self, at: Numbers | None) -> float | None:
        """The first of them; None: there is nothing."""
        return None if at is None else self.numbers(at)[0]
