"""Small tensors on a host, measured in few calls: many of one shape as one
tensor, a copy that stays in a core's cache. A call for each takes as long as
some thousand of its elements do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# Elements of a tensor that is copied: of larger ones reading is what costs
# (9,000 on a Zen 4). And how many of a shape there are at least, and the bytes
# of a copy at most.
_SMALL = 8192
_FEWEST = 8
_COPIED = 256 << 10

_USUAL = (torch.float32, torch.float64)

# Of several tensors as one, whose rows they are; and of one alone.
Together = Callable[[Any], list[float]]
Alone = Callable[[Any], float]


class Stacks:
    """Which of a list of tensors are measured together, by their places."""

    __slots__ = ("_alone", "_together")

    def __init__(self, tensors: list[Any]) -> None:
        by_kind: dict[Any, list[int]] = {}
        for place, tensor in enumerate(tensors):
            if tensor.numel() <= _SMALL and tensor.dtype in _USUAL:
                kind = (tensor.dtype, tensor.shape)
                by_kind.setdefault(kind, []).append(place)
        self._together: list[list[int]] = []
        for places in by_kind.values():
            if len(places) >= _FEWEST:
                most = max(1, _COPIED // max(1, tensors[places[0]].nbytes))
                self._together += [
                    places[i : i + most] for i in range(0, len(places), most)
                ]
        stacked = {place for places in self._together for place in places}
        self._alone = [i for i in range(len(tensors)) if i not in stacked]

    def __bool__(self) -> bool:
        """There are some."""
        return bool(self._together)

    def norms(self, tensors: list[Any]) -> list[float]:
        """Of those that it was made of, or others of the same shapes."""
        with torch.no_grad():
            found = self._each(tensors, _norms)
            alone = [tensors[i] for i in self._alone]
            if alone:
                norms = torch._foreach_norm(alone, 2.0)
                for place, norm in zip(self._alone, norms):
                    found[place] = norm.item()
        return found

    def largest(self, tensors: list[Any], of_one: Alone) -> list[float]:
        """The same; NaN, where there is one."""
        with torch.no_grad():
            found = self._each(tensors, _largest)
            for place in self._alone:
                found[place] = of_one(tensors[place])
        return found

    def _each(self, tensors: list[Any], together: Together) -> list[float]:
        found = [0.0] * len(tensors)
        for places in self._together:
            rows = torch.stack([tensors[i] for i in places])
            measured = together(rows.view(len(places), -1))
            for place, value in zip(places, measured):
                found[place] = value
        return found


def _norms(rows: Any) -> list[float]:
    norms: list[float] = torch.linalg.vector_norm(rows, 2.0, 1).tolist()
    return norms


def _largest(rows: Any) -> list[float]:
    most, least = torch.amax(rows, 1), torch.amin(rows, 1)
    largest: list[float] = torch.maximum(most, least.neg_()).tolist()
    return largest
