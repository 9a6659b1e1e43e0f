"""A part of the model that an optimizer holds and that no backward pass reaches
may well be meant: forward() leaves it out, or nobody uses what it makes. It is
cut off where it runs with a graph of its own, and what is trained runs behind
it, on other tensors that have no graph: its results, detached."""

from __future__ import annotations

import collections
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
        # Where the arguments of its first modules lie: what else is called with
        # them stands beside it.
        self._given: set[int] = set()

    def ask(self, model: Any, part: list[Any], trained: list[Any]) -> None:
        """Whether `part` is; `trained` are tensors that have gradients. A copy
        of some of them, as a target network is, is meant."""
        ids = frozenset(map(id, part))
        if ids == self._ids:
            return
        self.close()
        self._ids, self._updates = ids, 0
        if has_compiled() or _shapes(part) <= _shapes(trained):
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
        inputs = _inputs(args, kwargs)
        if any(t.requires_grad for t in inputs):  # not its first
            return
        if any(t.grad_fn is not None for t in some_tensors(output)):
            self._runs = True
            self._given.update(map(_place, inputs))

    def _behind(self, args: Any, kwargs: Any, output: Any) -> None:
        if not self._runs or self._is_in_front:
            return
        inputs = _inputs(args, kwargs)
        self._is_in_front = not any(t.requires_grad for t in inputs) and any(
            _place(t) not in self._given for t in inputs
        )


def _inputs(args: Any, kwargs: Any) -> list[Any]:
    return [*some_tensors(args), *some_tensors(kwargs)]


def _place(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _shapes(tensors: list[Any]) -> collections.Counter[tuple[int, ...]]:
    return collections.Counter(tuple(t.shape) for t in tensors)
