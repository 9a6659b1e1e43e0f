"""Whether updates make predictions worse: what they minimise is the negative
of a cross-entropy, which nothing bounds. The graph of the loss says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nanwatch._torch.optimizers import Followed

_EVERY = 64  # steps: the first of so many is looked at
# Between the loss and its cross-entropy: casts, means, parts of accumulated
# steps.
_BETWEEN = 6
_NAMES = ("Div", "Mean", "Reshape", "Squeeze", "Sum", "ToCopy", "View")


class Climbing:
    """Of one watch."""

    def __init__(self, followed: Sequence[Followed]) -> None:
        self._followed = followed
        self._steps = 0
        self.is_seen = False

    def step(self, loss: Any) -> None:
        """`loss`: what watch.step() is given."""
        if self._steps % _EVERY == 0:
            self.is_seen = (
                len(self._followed) == 1  # rivals may climb
                and isinstance(loss, torch.Tensor)
                and is_negated(loss)
            )
        self._steps += 1


def is_negated(loss: Any) -> bool:
    """Is minus a cross-entropy of classes, and nothing else. Reads no tensor.
    (A generator may minimise minus a binary one.)"""
    node, negated = loss.grad_fn, False
    for _ in range(_BETWEEN):
        if node is None:
            return False
        name = node.name()
        if name.startswith("NllLoss"):
            return negated
        if name.startswith("Neg"):
            negated = not negated
        elif not name.startswith(_NAMES):
            return False
        used = [each for each, _ in node.next_functions if each is not None]
        node = used[0] if len(used) == 1 else None
    return False
