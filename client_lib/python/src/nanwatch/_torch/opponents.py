"""Whether the loss goes through weights of another model that somebody else
trains, for a loss of their own: as a generator's goes through a discriminator
that nobody watches, or an actor's through its critic. What they learn moves it,
up as well as down."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from nanwatch._torch.backwards import Marks, marks_of
from nanwatch._torch.first_graph import leaves_of

# Losses whose graphs are walked: these, and one in so many (an adversary may
# come late).
_FIRST = (0, 64)
_EVERY = 1024
_SOME = 4  # weights that stand for all
_SURE = 4  # passes of theirs


class Opponents:
    """Of one watch."""

    def __init__(self, own: Callable[[], set[int]]) -> None:
        """`own`: ids of what is watched."""
        self._own = own
        self._losses = 0
        # Weights that the loss goes through, and how often each was written to
        # when that was seen.
        self._others: list[tuple[weakref.ref[Any], int]] = []
        self._before: Marks = []  # of their gradients, before the pass
        self._passes = 0  # that computed theirs, and none of ours
        self.seen = False

    def step(self, loss: Any) -> None:
        """What watch.step() is given. Reads no tensor."""
        count = self._losses
        self._losses += 1
        if self.seen or self._others:
            return
        if count not in _FIRST and count % _EVERY:
            return
        if isinstance(loss, torch.Tensor) and loss.grad_fn is not None:
            self._find(loss)

    def begins(self) -> None:
        """A backward pass."""
        if self._others and not self.seen:
            self._before = marks_of(self._weights())

    def passed(self) -> None:
        """A backward pass that computed no gradient of ours is over."""
        if not self._before or self.seen:
            return
        weights = self._weights()
        self._passes += marks_of(weights) != self._before
        self._before = []
        self.seen = self._passes >= _SURE and self._are_trained()

    def _find(self, loss: Any) -> None:
        leaves = [
            p for p in leaves_of(loss) if isinstance(p, torch.nn.Parameter)
        ]
        own = self._own()
        others = [p for p in leaves if id(p) not in own]
        if len(others) < len(leaves):  # else it is not the model's loss
            step = max(1, len(others) // _SOME)
            self._others = [
                (weakref.ref(p), p._version) for p in others[::step][:_SOME]
            ]

    def _weights(self) -> list[Any]:
        found = [reference() for reference, _ in self._others]
        return [p for p in found if p is not None]

    def _are_trained(self) -> bool:
        return any(
            (p := reference()) is not None and p._version != version
            for reference, version in self._others
        )
