"""Whether a loss is another model's: its graph ends in parameters, and none of
them is the model's that is watched or an optimizer's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nanwatch._torch.first_graph import leaves_of

_EVERY = 64  # losses: the first of so many is looked at


class Elsewhere:
    """Of one watch."""

    def __init__(self, own: Callable[[], set[int]]) -> None:
        """`own`: ids of what is watched."""
        self._own = own
        self._losses = 0
        self._is_seen = False

    def leads(self, loss: Any) -> bool:
        """`loss`: what watch.step() is given, of which the model got no
        gradient. Reads no tensor."""
        if self._losses % _EVERY == 0:
            self._is_seen = isinstance(loss, torch.Tensor) and self._is(loss)
        self._losses += 1
        return self._is_seen

    def _is(self, loss: Any) -> bool:
        leaves = [p for p in leaves_of(loss) if _is_parameter(p)]
        return bool(leaves) and self._own().isdisjoint(map(id, leaves))


def _is_parameter(leaf: Any) -> bool:
    return isinstance(leaf, torch.nn.Parameter)
