"""What of the weights at a step is worth its rows, and the digest by which
replicas are compared."""

from __future__ import annotations

import math
from typing import Any

from nanwatch._torch.op_names import OpNames
from nanwatch._torch.optimizers import Attempt, Followed, total
from nanwatch._torch.replicas import Digest
from nanwatch._torch.rows import Rows
from nanwatch._torch.spoiling import Spoiling
from nanwatch._torch.statistics import Read
from nanwatch._torch.step import Step


class WeightTeller:
    """Adds what was measured of an attempt's weights to what is told."""

    def __init__(
        self, names: OpNames, spoiling: Spoiling, replica: bool
    ) -> None:
        """`replica`: all ranks hold the same weights."""
        self._names = names
        self._spoiling = spoiling
        self._replica = replica
        self._digests: dict[int, Digest] = {}  # by the id of the Followed

    def add(
        self, step: Step, attempt: Attempt, rows: Rows, told: dict[str, Any]
    ) -> None:
        norms: list[float] = []
        for parameters, sizes in zip(attempt.parameters, attempt.weight_sizes):
            norms.extend(sizes.norms(step.readout))
            reads = sizes.read(step.readout, [1.0] * len(parameters))
            for parameter, status in zip(parameters, reads):
                if not self._spoiling.tells(parameter):
                    continue
                rows.add(self._names.weight(parameter), "parameter", status)
        if norms:
            told["param_norm"] = total(norms)
        if attempt.glances:
            self._add_glances(step, attempt, rows, told)

    def _add_glances(
        self, step: Step, attempt: Attempt, rows: Rows, told: dict[str, Any]
    ) -> None:
        digest = self._digest_of(attempt.of) if self._replica else None
        for glance in attempt.glances:
            norms = step.readout.numbers(glance.norms)
            if digest is not None:
                digest.take(glance.which, norms)
            if attempt.weight_sizes or not math.isnan(sum(norms)):
                continue
            weights = attempt.of.weights()
            for place, norm in zip(glance.which, norms):
                parameter = weights[place]
                if math.isnan(norm) and self._spoiling.tells(parameter):
                    elements = parameter.elements()
                    status = Read(elements, 1, 0, 0, None, None, None)
                    rows.add(self._names.weight(parameter), "parameter", status)
        if digest is not None and attempt.comparable:
            told["replica_digest"] = digest.value

    def _digest_of(self, followed: Followed) -> Digest:
        known = self._digests.get(id(followed))
        weights = followed.weights()
        if known is None or known.weights != len(weights):
            known = Digest([self._names.weight(p) + 1 for p in weights])
            self._digests[id(followed)] = known
        return known
