"""Whether others than the optimizers that are followed update a model: one that
was made anew after `watch`, say."""

from __future__ import annotations

from collections.abc import Sequence

from nanwatch._torch.optimizers import Followed

_TENSORS = 8  # that are looked at
_UPDATES = 3  # in a row, which loading weights is not
# Parts of one step that nobody accumulates; for updates that PyTorch does not
# count (those of `tensor.data`).
_PARTS = 4096


class Strangers:
    def __init__(self) -> None:
        self._versions: list[int] = []
        self._updates = 0
        self._parts = 0

    def forget(self) -> None:
        """An optimizer that is followed was called."""
        self._versions = []
        self._updates = self._parts = 0

    def have_updated(self) -> bool:
        """Once or more since an optimizer that is followed was called."""
        return self._updates > 0

    def were_none(self) -> None:
        """Nobody updated the model: what was told was left out."""
        self._parts = 0

    def are_at_work(self, followed: Sequence[Followed]) -> bool:
        """At a call in which none of `followed` was called since the last."""
        tensors = [t for f in followed for t in f.some_tensors(_TENSORS)]
        versions = [t._version for t in tensors]
        self._parts += 1
        if self._versions and versions != self._versions:
            self._updates += 1
        self._versions = versions
        return self._updates >= _UPDATES or self._parts >= _PARTS
