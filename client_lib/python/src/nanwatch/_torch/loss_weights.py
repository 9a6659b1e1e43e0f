"""Whether the weights of a loss's terms move, as they do where a term is
annealed: the loss is another one then, and may rise in health."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_EVERY = 8  # backward passes: one of so many is looked at; ours
_MOST = 32  # nodes of a graph, from the loss on; ours
# Ops between a loss and its terms.
_BETWEEN = ("Add", "Div", "Mean", "Mul", "Neg", "Sub", "Sum", "ToCopy")
# Numbers of Python are these in a graph, whatever the rest of it is.
_OF_PYTHON = (torch.float64, torch.int64)
# Moves a turn, at least, where somebody planned them: what goes up and down was
# drawn (mixup's) or measured. As ObjectiveKnob of the daemon has it.
_PLANNED = 4


class LossWeights:
    """Of one watch."""

    def __init__(self) -> None:
        self._passes = 0
        self._found: list[float] = []  # of the pass that is on its way
        self._weights: list[_Weight] = []
        self.move = False  # from the look before to the newest

    def begins(self, tensors: Any) -> None:
        """A backward pass of these; afterwards its graph says nothing more."""
        look = self._passes % _EVERY == 0
        self._passes += 1
        self._found = []
        if look and isinstance(tensors, torch.Tensor):
            self._found = list(_numbers(tensors.grad_fn))

    def reached(self) -> None:
        """It computed gradients of what is watched."""
        if not self._found:
            return
        if len(self._found) != len(self._weights):
            self._weights = [_Weight(value) for value in self._found]
            self.move = False
            return
        pairs = zip(self._weights, self._found)
        self.move = any([weight.moves(value) for weight, value in pairs])


class _Weight:
    def __init__(self, value: float) -> None:
        self._value = value
        self._moves = self._turns = 0
        self._up = False

    def moves(self, value: float) -> bool:
        """Up to `value`, as it was planned: what falls makes no loss rise."""
        before, self._value = self._value, value
        if value == before:
            return False
        up = value > before
        self._turns += self._moves > 0 and up != self._up
        self._moves += 1
        self._up = up
        grows = abs(value) > abs(before)
        return grows and self._turns * _PLANNED <= self._moves


def _numbers(root: Any) -> Iterator[float]:
    """Numbers that terms are multiplied by, in the order of the graph."""
    waiting, seen = [root], 0
    while waiting and seen < _MOST:
        node = waiting.pop(0)
        name = "" if node is None else node.name()
        if not name.startswith(_BETWEEN):
            continue
        seen += 1
        if name.startswith("Mul"):
            for name in ("_saved_self", "_saved_other"):
                factor = getattr(node, name, None)
                if isinstance(factor, (int, float)):
                    yield factor
                elif factor is not None and _is_of_python(factor):
                    yield factor.item()
        waiting += [used for used, _ in node.next_functions]


def _is_of_python(factor: torch.Tensor) -> bool:
    return (
        factor.dim() == 0
        and factor.dtype in _OF_PYTHON
        and factor.device.type == "cpu"
        and not factor.requires_grad
    )
