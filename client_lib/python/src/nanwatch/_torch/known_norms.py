"""Norms of gradients that somebody took already."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any


class KnownNorms:
    """Of `gradients`, strided tensors of fp32 on the host. In most trainings
    these are all of one optimizer, in its order: that is seen without a table.
    For the time of a call: it holds the gradients."""

    __slots__ = ("_by_id", "_gradients", "_norms")

    def __init__(self, gradients: Sequence[Any], norms: list[float]) -> None:
        self._gradients = gradients
        self._norms = norms
        self._by_id: dict[int, float] | None = None

    def are_of(self, gradients: Sequence[Any]) -> bool:
        """Of these, in this order, and of no others."""
        return len(gradients) == len(self._gradients) and all(
            map(operator.is_, gradients, self._gradients)
        )

    def of(self, gradients: Sequence[Any]) -> list[float] | None:
        """Theirs; None where one of them is not known."""
        if self.are_of(gradients):
            return self._norms
        by_id = self.by_id()
        found = [by_id[id(g)] for g in gradients if id(g) in by_id]
        return found if len(found) == len(gradients) else None

    def by_id(self) -> dict[int, float]:
        """By the ids of the tensors."""
        if self._by_id is None:
            self._by_id = dict(zip(map(id, self._gradients), self._norms))
        return self._by_id
