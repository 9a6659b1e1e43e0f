"""The parameters of a model by their tensors, and what optimizers hold beyond
them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

# Looks into a model that find nothing, in a row, after which they become rare:
# an optimizer may have new copies of all at each step.
_MISSES = 16


class Parameter:
    """One parameter tensor: what it is called, and how its gradient is told."""

    __slots__ = ("dtype", "half", "name", "place", "shape", "tensor")

    def __init__(
        self, name: str, tensor: Any, half: bool, dtype: str, place: int
    ) -> None:
        self.name = name
        self.half = half  # its gradient comes out of fp16 arithmetic
        self.dtype = dtype
        self.place = place  # among those of the model; -1: none of them
        # (No weak reference: PyTorch does not swap tensors that have one.)
        self.tensor = tensor
        self.shape = tuple(tensor.shape)

    def becomes(self, other: Parameter) -> Parameter:
        """This one, of another tensor: some programs replace them."""
        for slot in self.__slots__:
            setattr(self, slot, getattr(other, slot))
        return self

    def elements(self) -> int:
        return math.prod(self.shape)


class Parameters:
    """Of those that nobody trains any more it keeps the names alone."""

    def __init__(self, find: Callable[[], Mapping[int, Parameter]]) -> None:
        """`find`: those of the model as it is by now, by the ids of their
        tensors. Takes milliseconds."""
        self._find = find
        self._by_id: dict[int, Parameter] = {}
        # By name. All are kept: who follows one knows it by its own id.
        self._retired: dict[str, list[Parameter]] = {}
        self._numbers: Iterator[int] | None = None  # for those without a name
        # Looks into the model that found nothing, in a row; how many it does
        # without before the next one; and whether it did without the last.
        self._misses = self._waits = 0
        self._owes_a_look = False
        self.version = 0  # of what they are called
        # Ids of the tensors that are trained; whoever trains them says it.
        self.trained: Callable[[], Container[int]] = tuple

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, parameter: Parameter) -> None:
        self._by_id[id(parameter.tensor)] = parameter

    def get(self, tensor: Any) -> Parameter | None:
        """None: it is not known."""
        return self._by_id.get(id(tensor))

    def of(self, tensors: Sequence[Any]) -> list[Parameter]:
        """Of tensors that are trained. What one that is not known is in the
        model says its name, and those of the others by now; one that the model
        does not have takes the place of another such that is trained no more,
        or is called by a number."""
        if self._owes_a_look or any(
            id(tensor) not in self._by_id for tensor in tensors
        ):
            self._learn(tensors)
        return [self._by_id[id(tensor)] for tensor in tensors]

    def are_still(self, version: int) -> bool:
        """What `of` says of the same tensors is as it was then."""
        return version == self.version and not self._owes_a_look

    def doubt(self) -> None:
        """Some are trained no more: there may be fewer, of other names."""
        self._owes_a_look = True

    def retire(self) -> None:
        """Lets go of tensors that are not trained."""
        trained = self.trained()
        for key in [key for key in self._by_id if key not in trained]:
            self._retire(key)

    def _learn(self, tensors: Sequence[Any]) -> None:
        self.retire()
        self.version += 1
        new = {id(t): t for t in tensors if id(t) not in self._by_id}
        now = self._look()
        moved = {  # modules were put before it, or taken away
            key: parameter.tensor
            for key, parameter in self._by_id.items()
            if key in now and now[key].name != parameter.name
        }
        for key in moved:
            self._retire(key)
        if moved or any(key in now for key in new):
            self._misses = self._waits = 0
        for key, tensor in {**new, **moved}.items():
            found = now.get(key)
            self.add(
                self._nameless(tensor) if found is None else self._as(found)
            )

    def _look(self) -> Mapping[int, Parameter]:
        """A miss, unless it turns out that it was none."""
        self._owes_a_look = self._waits > 0
        if self._owes_a_look:
            self._waits -= 1
            return {}
        self._misses += 1
        self._waits = max(0, self._misses - _MISSES)
        return self._find()

    def _retire(self, key: int) -> None:
        parameter = self._by_id.pop(key)
        parameter.tensor = None
        name = parameter.name if parameter.place >= 0 else ""
        self._retired.setdefault(name, []).append(parameter)

    def _as(self, found: Parameter) -> Parameter:
        """One of this name that was retired, or this."""
        known = self._retired.get(found.name)
        return known.pop().becomes(found) if known else found

    def _nameless(self, tensor: Any) -> Parameter:
        known = self._retired.get("")
        name = known[-1].name if known else f"parameter {self._number()}"
        found = Parameter(name, tensor, False, "", -1)
        return known.pop().becomes(found) if known else found

    def _number(self) -> int:
        if self._numbers is None:
            named = sum(map(len, self._retired.values()))
            self._numbers = itertools.count(len(self) + named)
        return next(self._numbers)
