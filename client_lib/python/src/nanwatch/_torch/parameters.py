"""The parameters of a model by their tensors, and what optimizers hold beyond
them."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

# Tensors that the model does not have, of those that are looked for in there:
# an optimizer may hold copies of all.
_MISSES = 16


class Parameter:
    """One parameter tensor: what it is called, and how its gradient is told.
    It does not keep the tensor alive: some programs put others into its
    place."""

    __slots__ = ("_tensor", "dtype", "half", "name", "place", "shape")

    def __init__(
        self, name: str, tensor: Any, half: bool, dtype: str, place: int
    ) -> None:
        self.name = name
        self.half = half  # its gradient comes out of fp16 arithmetic
        self.dtype = dtype
        self.place = place  # among those of the model; -1: none of them
        self.is_now(tensor)

    def is_now(self, tensor: Any) -> None:
        self._tensor = weakref.ref(tensor)
        self.shape = tuple(tensor.shape)

    @property
    def tensor(self) -> Any:
        """None: it is gone."""
        return self._tensor()

    def elements(self) -> int:
        return math.prod(self.shape)


class Parameters:
    def __init__(self, name_of: Callable[[Any], str | None]) -> None:
        """`name_of` a tensor: what the model calls it by now."""
        self._name_of = name_of
        self._by_id: dict[int, Parameter] = {}
        self._misses = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, tensor: Any, parameter: Parameter) -> None:
        self._by_id[id(tensor)] = parameter

    def get(self, tensor: Any) -> Parameter | None:
        """None: it is not known."""
        parameter = self._by_id.get(id(tensor))
        # An id may be that of a tensor that is gone.
        return parameter if parameter and parameter.tensor is tensor else None

    def of(self, tensor: Any) -> Parameter:
        """One that is not known has taken another's place, by its name or
        because that is gone; or is called after how many there are."""
        parameter = self.get(tensor)
        if parameter is not None:
            return parameter
        parameter = self._replaced_by(tensor)
        if parameter is None:
            name = f"parameter {len(self)}"
            parameter = Parameter(name, tensor, False, "", -1)
        self.add(tensor, parameter)
        return parameter

    def _replaced_by(self, tensor: Any) -> Parameter | None:
        name = None
        if self._misses < _MISSES:
            name = self._name_of(tensor)
            self._misses += name is None
        for key, parameter in self._by_id.items():
            if (
                parameter.place < 0 and parameter.tensor is None
                if name is None
                else parameter.name == name
            ):
                del self._by_id[key]
                parameter.is_now(tensor)
                return parameter
        return None
