"""The losses that a program tells of a step, which are parts of one where it
accumulates gradients."""

from __future__ import annotations

import math
from typing import Any

import torch

from nanwatch._checks import Checks
from nanwatch._torch.readout import Readout, on_host

_PARTS = 4096  # of one step; more are not kept


def is_bad(loss: Any) -> bool:
    """Known not to be finite: on the host."""
    return type(loss) is float and not math.isfinite(loss)


class Losses:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self.waiting: list[Any] = []  # floats, and tensors of a device

    def add(self, loss: Any) -> None:
        """A number of a device is what it is when the step is over, unless it
        is kept."""
        if isinstance(loss, torch.Tensor):
            loss = self._of_tensor(loss)
        elif type(loss) is not float:
            loss = self._checks.real("loss", loss)
        if loss is not None and len(self.waiting) < _PARTS:
            self.waiting.append(loss)

    def keep(self) -> None:
        """The newest, as it is now: programs add to what they told."""
        if self.waiting and isinstance(self.waiting[-1], torch.Tensor):
            self.waiting[-1] = self.waiting[-1].clone()

    def _of_tensor(self, loss: Any) -> Any:
        if on_host(loss):  # read at once: it costs no wait
            try:
                value = loss.item()  # raises where there are more elements
            except (RuntimeError, ValueError):
                value = None
            if value is not None and type(value) is not complex:
                return float(value)
        elif loss.is_meta:
            self._checks.refuse(
                "loss",
                "loss= takes one real element that has a value, not a tensor "
                "of the meta device",
            )
            return None
        elif loss.numel() == 1 and not loss.is_complex():
            return loss.detach().reshape(()).float()
        self._checks.refuse(
            "loss",
            f"loss= takes one real element, not {tuple(loss.shape)} of "
            f"{loss.dtype}",
        )
        return None

    def take_mean(self, readout: Readout) -> Any:
        """A float, a place in the readout, or None."""
        losses = self.waiting
        if not losses:
            return None
        self.waiting = []
        if len(losses) == 1 and type(losses[0]) is float:
            return losses[0]
        if all(isinstance(loss, float) for loss in losses):
            return math.fsum(losses) / len(losses)
        tensors = [x for x in losses if isinstance(x, torch.Tensor)]
        mean = tensors[0] if len(tensors) == 1 else torch.stack(tensors).mean()
        return readout.add([mean])
