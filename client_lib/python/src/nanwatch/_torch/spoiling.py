"""Weights that are lost to an update which was made of gradients that were not
finite: all that is seen from then on follows from that, and says nothing of
where it began."""

from __future__ import annotations

import math

from nanwatch._torch.parameters import Parameter
from nanwatch._torch.step import Step


class Spoiling:
    """Of one model, step by step."""

    def __init__(self) -> None:
        self._updated = False  # by such gradients, at the last step
        # The parameters whose gradients those were, where that is known.
        self._named: set[int] = set()
        self.lost = False

    def begin(self, step: Step) -> None:
        """Its weights were looked at before they were updated. What follows
        from an update of a step with the same number would be taken for what
        was before."""
        readout, updates = step.readout, step.updates
        seen = [s for update in updates for s in update.weight_sizes]
        glances = [g for update in updates for g in update.glances]
        bad = any(
            math.isnan(sum(readout.numbers(glance.norms))) for glance in glances
        ) or (
            not all(sizes.healthy(readout) for sizes in seen)
            and any(
                read.bad
                for sizes in seen
                for read in sizes.read(readout, [1.0] * len(sizes.elements))
            )
        )
        if bad:
            self.lost = self.lost or self._updated
        elif seen or (
            glances and all(update.glanced_at_all for update in updates)
        ):
            self.lost = False
        if step.goes_on and self._updated:
            self.lost = True

    def end(self, updated: bool, named: set[int]) -> None:
        """`updated`: with gradients that were not finite, of the parameters
        with the ids `named`; empty: it is not known whose were the first."""
        if updated and not (self.lost or self._updated):
            self._named = named
        self._updated = updated

    def tells(self, parameter: Parameter, step: Step) -> bool:
        """Whether to tell of its weights; another one that is lost would be
        taken for where it began."""
        return not self.lost or (
            id(parameter) in self._named and not step.goes_on
        )
