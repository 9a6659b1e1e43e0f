"""Weights in 16 bits that stay as they are under their updates: a sample of
them, from some updates to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import HALF, local

EVERY = 16  # updates
_ELEMENTS = 1 << 16  # of each tensor
# What optimizers call that in which they keep what rounding loses.
_KEPT = ("master", "kahan", "comp", "shift", "fp32", "residual")


class Stuck:
    """Of one optimizer."""

    def __init__(self, optimizer: Any, some: Callable[[], list[Any]]) -> None:
        """`some` of its tensors stand for all."""
        self._optimizer = optimizer
        self._some = some
        self._before: list[tuple[Any, Any]] = []  # tensor, and its copy

    def measure(self, ordinal: int, readout: Readout) -> Any:
        """Before the update of that number. Places of two counts in the
        readout: elements that had a gradient and are as they were, and that had
        one; None: it is not due."""
        if ordinal % EVERY:
            return None
        before, self._before = self._before, []
        now = [
            p
            for p in self._some()
            if p.dtype in HALF
            and p.grad is not None
            and p.grad.layout is torch.strided
            and not self._keeps_more(p)
        ]
        if not now:
            return None
        with torch.no_grad():
            self._before = [(p, _sample(p).clone()) for p in now]
            known = [(p, old) for p, old in before if any(p is q for q in now)]
            if not known:
                return None
            counts = [_count(p, old) for p, old in known]
            device = counts[0].device
            return readout.add(list(sum(c.to(device) for c in counts)))

    def _keeps_more(self, parameter: Any) -> bool:
        state = self._optimizer.state.get(parameter) or {}
        return any(
            isinstance(key, str) and any(word in key for word in _KEPT)
            for key in state
        )


def _sample(tensor: Any) -> Any:
    return local(tensor).reshape(-1)[:_ELEMENTS]


def _count(parameter: Any, old: Any) -> Any:
    new, gradient = _sample(parameter), _sample(parameter.grad)
    if new.shape != old.shape or gradient.shape != old.shape:
        return torch.zeros(2, device=old.device)
    had = gradient != 0
    return torch.stack([(had & (new == old)).sum(), had.sum()]).float()
