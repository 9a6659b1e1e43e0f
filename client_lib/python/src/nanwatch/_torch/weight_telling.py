"""What of the weights at a step is worth its rows, and the digest by which
replicas are compared."""

from __future__ import annotations

import math
from typing import Any

from nanwatch._torch.glances import Glance
from nanwatch._torch.op_names import OpNames
from nanwatch._torch.optimizers import total
from nanwatch._torch.replicas import Digest
from nanwatch._torch.rows import Rows
from nanwatch._torch.spoiling import Spoiling
from nanwatch._torch.statistics import WIDE, Read
from nanwatch._torch.step import Step
from nanwatch._torch.update import Update

# Beyond all ops of a run: which weight of a replica differs is not said of one
# that came later, whose op may have another index on each rank.
_NO_OP = 1 << 17


class WeightTeller:
    """Adds what was measured of an update's weights to what is told."""

    def __init__(
        self, names: OpNames, spoiling: Spoiling, replica: bool
    ) -> None:
        """`replica`: all ranks hold the same weights."""
        self._names = names
        self._spoiling = spoiling
        self._replica = replica
        self._digests: dict[int, Digest] = {}  # by the id of the Followed
        self._wild: set[int] = set()  # ids of those that have such a weight

    def add(
        self, step: Step, update: Update, rows: Rows, told: dict[str, Any]
    ) -> None:
        norms: list[float] = []
        for parameters, sizes in zip(update.parameters, update.weight_sizes):
            norms.extend(sizes.norms(step.readout))
            reads = sizes.read(step.readout, [1.0] * len(parameters))
            for parameter, status in zip(parameters, reads):
                if not self._spoiling.tells(parameter, step):
                    continue
                rows.add(self._names.weight(parameter), "parameter", status)
        if norms:
            told["param_norm"] = total(norms)
        if update.glances:
            self._add_glances(step, update, rows, told)

    def _add_glances(
        self, step: Step, update: Update, rows: Rows, told: dict[str, Any]
    ) -> None:
        digest = self._digest_of(update) if self._replica else None
        for glance in update.glances:
            norms = step.readout.numbers(glance.norms)
            if digest is not None:
                if digest.lacks_places():
                    self._place(digest, glance)
                digest.take(glance.which, norms)
            if update.weight_sizes:
                continue
            wild = self._is_news(update, glance, norms)
            if not wild and not math.isnan(sum(norms)):
                continue
            for parameter, norm in zip(glance.parameters, norms):
                nan = math.isnan(norm)
                if (nan or wild) and self._spoiling.tells(parameter, step):
                    most = norm if math.isfinite(norm) else None
                    status = Read(
                        parameter.elements(), int(nan), 0, 0, None, most, None
                    )
                    rows.add(self._names.weight(parameter), "parameter", status)
        if digest is not None and update.comparable:
            told["replica_digest"] = digest.value

    def _is_news(
        self, update: Update, glance: Glance, norms: list[float]
    ) -> bool:
        """One that no training made so large is told once, beside all others:
        the looks at weights see what becomes of it."""
        wild = glance.largest and WIDE < max(norms) < math.inf
        known = id(update.of) in self._wild
        if wild != known:
            self._wild ^= {id(update.of)}
        return wild and not known

    def _digest_of(self, update: Update) -> Digest:
        known = self._digests.get(id(update.of))
        if known is None or known.weights != update.weights:
            known = Digest(update.weights)
            self._digests[id(update.of)] = known
        return known

    def _place(self, digest: Digest, glance: Glance) -> None:
        for i, parameter in zip(glance.which, glance.parameters):
            place = self._names.place_on_all_ranks(parameter)
            digest.place(i, place if place is not None else _NO_OP + i)
