"""PyTorch on an Ascend NPU: two lines in a loop.

watch = nanwatch.torch_npu.watch(model, optimizer, scaler, run="r1")
...
watch.step(loss)  # in the loop, after optimizer.step()
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

import torch
import torch_npu

from nanwatch import _overflow_mode
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch import scaling
from nanwatch._torch.watching import Watch
from nanwatch.torch import _silent
from nanwatch.torch import watch as _watch

__all__ = ["watch"]


class _Follower(scaling.GradScaler):
    """Of `torch_npu.npu.amp.GradScaler`: where the chip saturates, no gradient
    shows an overflow. The scaler has read the float status by then; it is not
    read again, since that clears nothing but waits."""

    name = "torch_npu"

    def __init__(self, scaler: Any, mode: str) -> None:
        super().__init__(scaler)
        self._saturates = mode == "saturation"

    def float_status(self, optimizer: Any) -> tuple[int, ...]:
        found = getattr(self._scaler, "_has_overflow", None)
        if not self._saturates or found is None:
            return ()
        return (int(bool(found)),)


def overflow_mode() -> str:
    """As the chip and its driver are set; else as the environment says."""
    with contextlib.suppress(Exception):
        supported = torch_npu.npu.utils.is_support_inf_nan()
        return "inf_nan" if supported else "saturation"
    return _overflow_mode.of_environment(os.environ)


@or_silent(_silent)
def watch(
    model: Any, optimizer: Any = None, scaler: Any = None, **options: Any
) -> Watch:
    """As `nanwatch.torch.watch`, with the float status and the overflow mode
    of an NPU."""
    mode = options.setdefault("overflow_mode", overflow_mode())
    options.setdefault("framework", "torch_npu")
    add_settings(
        options,
        torch_npu=torch_npu.__version__,
        torch=torch.__version__,
    )
    follower = _Follower(scaler, mode) if scaling.is_enabled(scaler) else scaler
    return _watch(model, optimizer, follower, **options)
