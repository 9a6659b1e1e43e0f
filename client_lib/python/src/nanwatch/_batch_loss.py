"""Keras gives the mean of the losses since its epoch began."""

from __future__ import annotations

import math
from typing import Any


class BatchLoss:
    """The loss of each batch, from those means."""

    def __init__(self) -> None:
        self._sum, self._batches = 0.0, 0

    def begin_epoch(self) -> None:
        self._sum, self._batches = 0.0, 0

    def of(self, batch: int, logs: dict[str, Any]) -> float | None:
        """None: there is none, or a NaN before it hides it."""
        mean = logs.get("loss")
        if mean is None:
            return None
        before, batches = self._sum, self._batches
        self._batches = batch + 1
        self._sum = float(mean) * self._batches
        if not math.isfinite(before):
            return None
        return (self._sum - before) / max(1, self._batches - batches)
