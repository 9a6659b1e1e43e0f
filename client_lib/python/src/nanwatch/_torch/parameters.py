"""The parameters of a model by their tensors, and what optimizers hold beyond
them."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from typing import Any

# Tensors that the model does not have, of those that are looked for in there:
# an optimizer may hold copies of all.
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
        self.is_now(tensor)

    def is_now(self, tensor: Any) -> None:
        """Some programs put others into its place. (No weak reference: PyTorch
        does not swap tensors that have one.)"""
        self.tensor = tensor
        self.shape = tuple(tensor.shape)

    def elements(self) -> int:
        return math.prod(self.shape)


class Parameters:
    """Of those that nobody trains any more it keeps the names alone."""

    def __init__(self, find: Callable[[Any], Parameter | None]) -> None:
        """`find`: what a tensor is in the model by now."""
        self._find = find
        self._by_id: dict[int, Parameter] = {}
        self._retired: dict[str, Parameter] = {}
        self._misses = 0
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
        """Of tensors that are trained. One that is not known is new in the
        model, or has taken another's place: of the same name, or of one that is
        trained no more. Else it is called after how many there are."""
        found = [self.get(tensor) for tensor in tensors]
        if None in found:
            self.retire()
        return [
            parameter or self._of_new(tensor)
            for tensor, parameter in zip(tensors, found)
        ]

    def retire(self) -> None:
        """Lets go of tensors that are not trained."""
        trained = self.trained()
        for key in [key for key in self._by_id if key not in trained]:
            parameter = self._by_id.pop(key)
            parameter.tensor = None
            self._retired[parameter.name] = parameter

    def _of_new(self, tensor: Any) -> Parameter:
        parameter = self.get(tensor)  # it was twice among those
        if parameter is None:
            parameter = self._take_place(tensor)
            self.add(parameter)
        return parameter

    def _take_place(self, tensor: Any) -> Parameter:
        found = None
        if self._misses < _MISSES:
            found = self._find(tensor)
            self._misses += found is None
        if found is None:
            without = (p for p in self._retired.values() if p.place < 0)
            found = next(without, None)
        if found is None:
            # All that ever had a name: none is given twice.
            name = f"parameter {len(self) + len(self._retired)}"
            found = Parameter(name, tensor, False, "", -1)
        known = self._retired.pop(found.name, found)
        known.is_now(tensor)
        return known
