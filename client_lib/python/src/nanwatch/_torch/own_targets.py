"""Whether what a loss compares with was made by the model itself, without a
graph, or by a copy of it, as by the target network of Q-learning or a teacher
that follows. What it learns moves it, up as well as down."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn.modules.module import register_module_forward_hook

from nanwatch._torch.found_tensors import some_tensors
from nanwatch._torch.loss_terms import Terms
from nanwatch._torch.tracing import has_compiled, is_traced, weakly

# Modules are followed for so many passes, from the first one on that has an
# aim; again after so many times as many looks as the last time; ours.
_FOLLOWED = 8
_AGAIN = 8
_OF_COPIES = 2  # of those passes; ours
_PART = 1 / 4  # of the weights, that such a module has at least; ours


class _Run(NamedTuple):
    module: int  # its id
    training: bool
    samples: int  # that it gave


class OwnTargets:
    """Of one watch."""

    def __init__(
        self, guard: Callable[..., Any], own: Callable[[], set[int]]
    ) -> None:
        """`own`: ids of what is watched."""
        self._guard = guard
        self._own = own
        self._looks = 0  # at passes
        self._next = 1
        self.left = 0  # of those that are followed
        self._handle: Any = None
        # What ran since the last pass: with a graph, and without one.
        self._with: dict[_Run, weakref.ref[Any]] = {}
        self._without: dict[_Run, weakref.ref[Any]] = {}
        self.is_on = False  # not within a pass
        self._of_copies = self._of_itself = 0
        self.seen = False

    def ended(self, terms: Terms | None, *, reached: bool) -> None:
        """It computed gradients of what is watched, or none."""
        if reached and self.left:
            self._guard("own targets", self._look)
        elif reached and terms is not None and terms.has_aim:
            self._follow()
        self.is_on = self.left > 0

    def _follow(self) -> None:
        self._looks += 1
        if self.seen or self._looks < self._next or has_compiled():
            return
        self._next = self._looks * _AGAIN
        self.left = _FOLLOWED
        self._of_copies = self._of_itself = 0
        self._handle = register_module_forward_hook(weakly(self._ran))
        weakref.finalize(self, self._handle.remove)

    def close(self) -> None:
        self.left, self.is_on = 0, False
        self._with, self._without = {}, {}
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def _ran(self, module: Any, args: Any, output: Any) -> None:
        if self.is_on and not is_traced():
            made = some_tensors(output)
            has_graph = torch.is_grad_enabled() and (
                not made or any(t.grad_fn is not None for t in made)
            )
            ran = self._with if has_graph else self._without
            samples = next((len(t) for t in made if t.ndim), 0)
            run = _Run(id(module), module.training, samples)
            ran[run] = weakref.ref(module)

    def _look(self) -> None:
        """At what ran before the pass that is over."""
        own = self._own()
        there = [(r, m) for r, ref in self._with.items() if (m := ref())]
        trained = {
            (_shapes(m), run.samples)
            for run, m in there
            if any(id(p) in own for p in m.parameters())
        }
        least = _PART * max([_size(m) for _, m in there], default=0)
        alike = [
            run
            for run, ref in self._without.items()
            if (m := ref())
            and (_shapes(m), run.samples) in trained
            and _size(m) >= least > 0
        ]
        # A look at how good it is takes it out of training, or other samples.
        itself = [run for run in alike if run in self._with]
        known = {run.module for run, _ in there}
        self._of_copies += any(run.module not in known for run in alike)
        self._of_itself += bool(itself)
        self._with, self._without = {}, {}
        self.left -= 1
        self.seen = (
            self._of_copies >= _OF_COPIES or self._of_itself >= _FOLLOWED
        )
        if self.seen or self.left == 0:
            self.close()


def _shapes(module: Any) -> tuple[Any, ...]:
    return tuple(p.shape for p in module.parameters())


def _size(module: Any) -> int:
    return sum(p.numel() for p in module.parameters())
