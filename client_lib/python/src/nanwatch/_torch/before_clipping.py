"""Looks at gradients before they are clipped, for a watch. Those of a scaler
are looked at when it unscales them: who clips before that is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from nanwatch._checks import Checks
from nanwatch._torch.clipping import Cuts
from nanwatch._torch.known_norms import KnownNorms
from nanwatch._torch.optimizers import Followed

# Looks at gradients; with their norms, where known.
Measure = Callable[[Followed, "KnownNorms | None"], None]


class BeforeClipping:
    """A listener of `clipping`, for the thread that trains."""

    def __init__(
        self,
        followed: Sequence[Followed],
        checks: Checks,
        guard: Callable[..., Any],
        measure: Measure,
        *,
        is_scaled: bool,
    ) -> None:
        """`guard` runs a function and keeps what it raises from training."""
        self._followed = followed
        self._checks = checks
        self._guard = guard
        self._measure = measure
        self._is_scaled = is_scaled
        # Whose norms were taken, for the clip that is about to be.
        self._taken: list[Followed] = []
        self.scales_others = False  # the scaler: optimizers not followed

    def before_clipping(self, parameters: Any = None) -> None:
        """Whose gradients are clipped; None: all."""
        self._guard("clipping", self._look_at_those, parameters)

    def _look_at_those(self, parameters: Any) -> None:
        self._look(self._whose(parameters))

    def before_clipping_of(self, gradients: Any, cuts: Cuts) -> None:
        """Of these, lists of tensors."""
        self._guard("clipping", self._look_at_gradients, gradients, cuts)

    def _look_at_gradients(self, gradients: Any, cuts: Cuts) -> None:
        here = [f for f in self._followed if f.is_trained_here()]
        taken = self._taken
        self._taken = [f for f in taken if f not in here]
        # Whose norms were taken are seen.
        unseen = [f for f in here if f not in taken and f.is_unseen(clips=True)]
        if unseen:
            ids = {id(g) for each in gradients for g in each}
            its = [f for f in unseen if f.holds_gradients(ids)]
            self._look(its, cuts)

    def takes_norms(self) -> bool:
        return not self._is_scaled

    def take_norms(self, norms: KnownNorms) -> None:
        """Of gradients that are about to be clipped; `before_clipping_of` is
        called for them, too."""
        self._guard("clipping", self._take_norms, norms)

    def _take_norms(self, norms: KnownNorms) -> None:
        for followed in self._followed:
            if not followed.holds_of(norms):
                continue
            if not followed.backwards.are_old() and self._is_unseen(followed):
                self._look_at(followed, norms)
            self._taken.append(followed)

    def _is_unseen(self, followed: Followed) -> bool:
        return followed.is_unseen(clips=followed not in self._taken)

    def _look(self, of: Sequence[Followed], cuts: Cuts | None = None) -> None:
        for followed in of:
            if followed.backwards.are_old() or not self._is_unseen(followed):
                continue
            if not self._is_scaled:
                self._guard("gradients", self._look_at, followed)
            elif not self.scales_others:
                if cuts is not None and followed.clipped is None:
                    followed.clipped = cuts()
                self._checks.refuse(
                    "clipping",
                    "gradients are clipped before they are unscaled, so that "
                    "the limit is divided by the loss scale: call "
                    "scaler.unscale_(optimizer) first",
                )

    def _look_at(
        self, followed: Followed, norms: KnownNorms | None = None
    ) -> None:
        self._measure(followed, norms)
        followed.backwards.about_to_clip()

    def _whose(self, parameters: Any) -> Sequence[Followed]:
        if parameters is None:
            return self._followed
        if isinstance(parameters, torch.Tensor):
            parameters = [parameters]
        ids = {id(p) for p in parameters}
        return [f for f in self._followed if f.holds(ids)]
