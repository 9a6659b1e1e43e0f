"""A part of the model that an optimizer holds and that no backward pass reaches
may well be meant: forward() leaves it out, or what it makes is looked at alone.
It is cut off where it runs with a graph of its own, and what is trained runs
behind it, on what may be its results, detached: on tensors without a graph that
are as wide as these, and of another shape than what it was given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from nanwatch._torch.found_tensors import some_tensors
from nanwatch._torch.hooked import Hooked
from nanwatch._torch.tracing import has_compiled, is_traced

_UPDATES = 8  # in a row: each has to show it; ours


class CutOff:
    """Of one watch: its hooks are there for a few updates."""

    def __init__(self, guard: Callable[..., Any]) -> None:
        self._guard = guard
        self._hooked = Hooked()
        self._ids: frozenset[int] = frozenset()  # who was asked about last
        self._updates = 0  # that showed it
        self._runs = self._is_in_front = False  # in this update
        # Shapes of the arguments of its first modules: what else is called with
        # such, as with another view of a batch, stands beside it.
        self._given: set[tuple[int, ...]] = set()
        self._widths: set[int] = set()  # of what its newest module made

    def ask(self, model: Any, part: list[Any], trained: list[Any]) -> None:
        """Whether `part` is; `trained` are tensors that have gradients."""
        ids = frozenset(map(id, part))
        if ids == self._ids:
            return
        self.close()
        self._ids, self._updates = ids, 0
        if has_compiled():
            return
        reached = set(map(id, trained))
        for place, module in enumerate(model.modules()):
            own = set(map(id, module.parameters(recurse=False)))
            if own & ids:
                self._hooked.add(place, module, self._hook(self._in_part))
            elif own & reached:
                self._hooked.add(place, module, self._hook(self._behind))
        self._hooked.put_on_all()

    def updated(self) -> None:
        """The forward passes of an update are over."""
        if not self._hooked:
            return
        self._updates += 1
        if not self._is_in_front:
            self._updates = 0
        if not self._is_in_front or self._updates == _UPDATES:
            self.close()
        self._runs = self._is_in_front = False
        self._given.clear()

    def is_seen(self) -> bool:
        """Of whom was asked last."""
        return self._updates == _UPDATES

    def close(self) -> None:
        self._hooked.close()

    def _hook(self, look: Callable[..., None]) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if torch.is_grad_enabled() and not is_traced():
                self._guard("cut off", look, args, kwargs, output)

        return hook

    def _in_part(self, args: Any, kwargs: Any, output: Any) -> None:
        inputs, made = _inputs(args, kwargs), some_tensors(output)
        if not any(t.grad_fn is not None for t in made):
            return
        self._widths = set().union(*map(_widths, made))
        if not any(t.requires_grad for t in inputs):  # its first
            self._runs = True
            self._given.update(tuple(t.shape) for t in inputs)

    def _behind(self, args: Any, kwargs: Any, output: Any) -> None:
        if not self._runs or self._is_in_front:
            return
        inputs = _inputs(args, kwargs)
        self._is_in_front = not any(t.requires_grad for t in inputs) and any(
            tuple(t.shape) not in self._given and _widths(t) & self._widths
            for t in inputs
        )


def _inputs(args: Any, kwargs: Any) -> list[Any]:
    return [*some_tensors(args), *some_tensors(kwargs)]


def _widths(tensor: Any) -> set[int]:
    """Numbers of a sample, and of a place of it: what pools, or flattens, keeps
    one of them."""
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        return set(shape)
    return {shape[1] if len(shape) > 3 else shape[-1], math.prod(shape[1:])}
