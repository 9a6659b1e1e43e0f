"""What a GradScaler does: which scale a step had, and whether it was skipped.

The scaler itself waits for the device where it decides (`GradScaler.step`).
Nothing is added to that: whether a step was skipped is known from whether the
optimizer was called, and the scale is copied on the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from nanwatch import Scaler
from nanwatch._torch.readout import on_host

# A growth interval that no training reaches: the scale is meant to stand.
_NEVER = 1 << 30


def is_enabled(scaler: Any) -> bool:
    return bool(scaler is not None and scaler.is_enabled())


def declared(scaler: Any) -> Scaler:
    """The scaler of a run, as the daemon is told of it."""
    if scaler is None:
        return Scaler()
    if not is_enabled(scaler):
        return Scaler(kind="none")
    interval = int(scaler.get_growth_interval())
    return Scaler(
        kind="dynamic" if interval < _NEVER else "static",
        name="pytorch",
        init_scale=float(scaler.get_scale()),
        growth_factor=float(scaler.get_growth_factor()),
        backoff_factor=float(scaler.get_backoff_factor()),
        growth_interval=interval,
    )


def present_scale(scaler: Any) -> Any:
    """A float on the host, or a copy on the device; None: there is none."""
    if not is_enabled(scaler):
        return None
    scale = getattr(scaler, "_scale", None)
    if scale is None:
        return float(getattr(scaler, "_init_scale", math.nan))
    if not isinstance(scale, torch.Tensor):
        return float(scale)
    # `update` changes it in place.
    return scale.item() if on_host(scale) else scale.clone()


class ScalerHooks:
    """Follows the `unscale_` and `step` of one scaler object, until closed."""

    def __init__(
        self,
        scaler: Any,
        unscaled: Callable[[Any], None],
        before_step: Callable[[Any], None],
        after_step: Callable[[Any], None],
    ) -> None:
        """Each is called with the optimizer: `unscaled` once its gradients
        are, before anybody clips them."""
        self._scaler = scaler
        self._unscale: Callable[..., Any] | None = scaler.unscale_
        self._step: Callable[..., Any] | None = scaler.step
        unscale, step = scaler.unscale_, scaler.step

        def new_unscale(optimizer: Any) -> Any:
            result = unscale(optimizer)
            unscaled(optimizer)
            return result

        def new_step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before_step(optimizer)
            result = step(optimizer, *args, **kwargs)
            after_step(optimizer)
            return result

        # On the object alone: other scalers are none of ours.
        scaler.unscale_ = new_unscale
        scaler.step = new_step

    def close(self) -> None:
        for name in ("unscale_", "step"):
            self._scaler.__dict__.pop(name, None)
