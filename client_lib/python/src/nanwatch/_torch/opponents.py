"""Whether weights that somebody else trains for a loss of their own, and ours,
are in one graph: as a generator's loss goes through a discriminator that nobody
watches, or an actor's through its critic. What they learn moves our loss, up as
well as down."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from nanwatch._torch.backwards import Marks, marks_of
from nanwatch._torch.first_graph import leaves_of
from nanwatch._torch.loss_terms import linear

# Passes whose graphs are walked: the first ones, and one in so many (an
# adversary may come late).
_FIRST = 4
_EVERY = 1025
_SOME = 4  # weights that stand for all
_SURE = 4  # passes of theirs, either way; ours


class Opponents:
    """Of one watch."""

    def __init__(self, own: Callable[[], set[int]]) -> None:
        """`own`: ids of what is watched."""
        self._own = own
        self._passes = 0
        # Weights in a graph with ours, and how often each was written to when
        # that was seen.
        self._others: list[tuple[weakref.ref[Any], int]] = []
        self._before: Marks = []  # of their gradients, before the pass
        self._aim: list[Any] = []  # of the pass
        self._of_both: list[Any] = []  # of the newest that computed ours, too
        # The newest pass did, and no update followed so far; its marks of ours.
        self._is_of_both = False
        self._left: list[Marks] = []
        # Passes that computed theirs: for another aim than ours, and for ours.
        self._against = self._beside = 0
        self.seen = False

    def begins(self, tensors: Any, marks: list[Marks]) -> None:
        """A backward pass of these; `marks`: of our gradients."""
        if self.seen:
            return
        if self._is_of_both and _are_others(self._left, marks):
            self._is_of_both = False
            self._count(is_against=True)  # ours were thrown away
        count = self._passes
        self._passes += 1
        if not self._others and (count < _FIRST or count % _EVERY == 0):
            self._find(tensors)
        if self._others:
            self._before = marks_of(self._weights())
            self._aim = list(_aim(tensors))

    def ended(self, marks: list[Marks], *, reached: bool) -> None:
        """It computed gradients of ours, or none."""
        if not self._others or self.seen:
            return
        both = marks_of(self._weights()) != self._before
        if reached:
            self._is_of_both, self._left = both, marks
            self._of_both = self._aim if both else self._of_both
        elif both and self._of_both:
            self._count(is_against=self._aim != self._of_both)

    def updated(self) -> None:
        """With what the newest pass computed."""
        self._is_of_both = False

    def _count(self, *, is_against: bool) -> None:
        if is_against:
            self._against += 1
            self.seen = self._against >= _SURE and self._are_trained()
        else:
            self._beside += 1
        if self._beside >= _SURE and not self._against:
            self._others, self._beside = [], 0

    def _find(self, loss: Any) -> None:
        if not isinstance(loss, torch.Tensor) or loss.grad_fn is None:
            return
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


def _are_others(before: list[Marks], now: list[Marks]) -> bool:
    return any(len(a) == len(b) and a != b for a, b in zip(before, now))


def _aim(loss: Any) -> Iterator[Any]:
    """What it is made of, and what that is to become. Two are alike, if they
    are the same."""
    for node, name in linear(getattr(loss, "grad_fn", None)):
        yield name
        try:
            target = getattr(node, "_saved_target", None)
        except RuntimeError:  # written to since
            target = loss
        if target is None:
            continue
        if not target.is_cpu:  # nobody knows: another one
            yield object()
            continue
        low, high = target.aminmax()
        yield float(low) if low == high else "several"
