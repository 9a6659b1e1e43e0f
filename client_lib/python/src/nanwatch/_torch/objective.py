"""What a loss is, as the graphs of its backward passes show it: whether it
follows rewards, and grows in health; and whether the weights of its terms, or
its samples' length, move: then it is another one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from nanwatch._torch.loss_terms import Terms, terms_of
from nanwatch._torch.readout import on_host
from nanwatch._torch.rewards import follows_rewards

# Updates whose passes are looked at: the first ones, and one in so many (where
# optimizers take turns, all have theirs); and a pass whose loss, on a host, is
# so many times that of the one that was looked at. Ours.
_FIRST = 4
_EVERY = 7
_RISE = 1.5
_PASSES = 8  # of one update; ours
# Moves a turn, at least, where somebody planned them: what goes up and down was
# drawn (mixup's) or measured. As ObjectiveKnob of the daemon has it.
_PLANNED = 4


class Objective:
    """Of one watch."""

    def __init__(self, guard: Callable[..., Any]) -> None:
        self._guard = guard
        self._updates = 0
        self._place = 0  # of the pass, among those of its update
        self._at_once = 0  # passes that the update before had
        self._found: Terms | None = None  # in the pass that is on its way
        self._is_of_rewards = False  # it is
        self._terms: dict[Any, _Terms] = {}  # by those places, and whose it is
        self._loss = math.inf  # that was looked at
        self.follows_rewards = False  # once it was seen
        self.moves = False  # from the look before to the newest

    def begins(self, tensors: Any) -> None:
        """A backward pass of these; afterwards its graph says less."""
        self._found, self._is_of_rewards = None, False
        if not isinstance(tensors, torch.Tensor) or self._place >= _PASSES:
            return
        look = self._updates % _EVERY == 0 or self._updates < _FIRST
        if on_host(tensors) and tensors.ndim == 0:
            loss = tensors.item()
            look = look or loss > _RISE * self._loss
            self._loss = loss if look else self._loss
        if look:
            self._guard("objective", self._look, tensors)

    def ended(self, reached: Sequence[int]) -> None:
        """It computed gradients of these optimizers."""
        if not reached:
            return
        found, place = self._found, self._place
        self._place += 1
        if found is None:
            return
        self.follows_rewards |= self._is_of_rewards
        numbers = found.numbers
        if self._at_once > 1:  # each pass is a term
            numbers = [*found.of_all, *numbers]
        terms = self._terms.setdefault((place, *reached), _Terms())
        terms.move(numbers, found.ends, found.size)
        self.moves = any([each.moved for each in self._terms.values()])

    def updated(self) -> None:
        """By what the passes since the last update computed."""
        self._updates += 1
        self._at_once, self._place = self._place, 0

    def _look(self, loss: Any) -> None:
        self._found = terms_of(loss)
        if not self.follows_rewards:
            self._is_of_rewards = follows_rewards(loss.grad_fn)


class _Terms:
    """Of the passes of one kind."""

    def __init__(self) -> None:
        self._numbers: list[_Number] = []
        self._count = _Number(math.nan)
        self._size = _Number(math.nan)
        self.moved = False  # by the last call

    def move(self, numbers: list[float], count: int, size: int) -> None:
        """To these, of so many terms, the largest of so many numbers."""
        self.moved = any([self._count.moves(count), self._size.moves(size)])
        if len(numbers) != len(self._numbers):
            self._numbers = [_Number(value) for value in numbers]
            return
        pairs = zip(self._numbers, numbers)
        self.moved |= any([each.moves(value) for each, value in pairs])


class _Number:
    def __init__(self, value: float) -> None:
        self._value = value
        self._moves = self._turns = 0
        self._up = False

    def moves(self, value: float) -> bool:
        """Up to `value`, as it was planned: what falls makes no loss rise."""
        before, self._value = self._value, value
        if value == before or before != before or value != value:
            return False
        up = value > before
        self._turns += self._moves > 0 and up != self._up
        self._moves += 1
        self._up = up
        grows = abs(value) > abs(before)
        return grows and self._turns * _PLANNED <= self._moves
