"""What a loss scaler does: which scale a step had, and whether it was skipped.

The scaler itself waits for the device where it decides (`GradScaler.step`).
Nothing is added to that: whether a step was skipped is known from whether the
optimizer was called, and the scale is copied on the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch

from nanwatch import Scaler
from nanwatch._torch.hooks import release, replace
from nanwatch._torch.readout import on_host

# A growth interval that no training reaches: the scale is meant to stand.
_NEVER = 1 << 30


def real(value: Any) -> float | None:
    """Of a scaler's bound; None: it has none."""
    return None if value is None else float(value)


def is_enabled(scaler: Any) -> bool:
    return bool(scaler is not None and scaler.is_enabled())


class Follower:
    """What a Watch wants of a loss scaler; one for each kind of them."""

    def declared(self) -> Scaler:
        """The scaler of a run, as it is reported to the daemon."""
        raise NotImplementedError

    def present_scale(self) -> Any:
        """A float on the host, or a copy on the device; None: there is
        none."""
        raise NotImplementedError

    def follow(
        self,
        before_step: Callable[[Any], None],
        unscaled: Callable[..., None],
        after_step: Callable[[Any], None],
    ) -> None:
        """Puts hooks on one scaler object. Each function is called with the
        optimizer: `before_step` while the scale is the one that its gradients
        have; `unscaled` once they are unscaled and before anybody clips them
        (or earlier, with what `Followed.measure_gradients` takes), `anew`
        where that begins an update, whatever became of the one before; and
        `after_step` when it is over, whether the optimizer was called or
        not."""
        raise NotImplementedError

    def follow_losses(self, scaled: Callable[[Any, Any], None]) -> None:
        """`scaled` is called with each loss that was multiplied by the scale,
        or with a list of them, and with what that made; never, where nobody
        asks the scaler to do that."""

    def close(self) -> None:
        """Takes them off."""
        raise NotImplementedError

    def copies(self) -> Iterable[tuple[Any, Any]]:
        """Tensors that an optimizer has in the place of a model's parameters,
        with those."""
        return ()

    def float_status(self, optimizer: Any) -> tuple[int, ...]:
        """Of an NPU, for the step that is over; (): nobody looks at it."""
        return ()


def can_be_followed(scaler: Any) -> bool:
    """Or there is none."""
    return (
        scaler is None
        or isinstance(scaler, Follower)
        or callable(getattr(scaler, "is_enabled", None))
    )


def of(scaler: Any) -> Follower | None:
    """None: nothing is scaled."""
    if isinstance(scaler, Follower):
        return scaler
    return GradScaler(scaler) if is_enabled(scaler) else None


def declared(scaler: Any) -> Scaler:
    if scaler is None:
        return Scaler()
    follower = of(scaler)
    return Scaler(kind="none") if follower is None else follower.declared()


def number_of(scale: Any) -> Any:
    """A scale as `Follower.present_scale` has it."""
    if not isinstance(scale, torch.Tensor):
        return float(scale)
    # Scalers change it in place.
    return scale.item() if on_host(scale) else scale.clone()


class GradScaler(Follower):
    """`torch.amp.GradScaler`, and what is made from it."""

    name = "pytorch"

    def __init__(self, scaler: Any) -> None:
        self._scaler = scaler

    def declared(self) -> Scaler:
        scaler = self._scaler
        interval = int(scaler.get_growth_interval())
        dynamic = interval < _NEVER and getattr(scaler, "_dynamic", True)
        return Scaler(
            kind="dynamic" if dynamic else "static",
            name=self.name,
            init_scale=float(scaler.get_scale()),
            growth_factor=float(scaler.get_growth_factor()),
            backoff_factor=float(scaler.get_backoff_factor()),
            growth_interval=interval,
        )

    def present_scale(self) -> Any:
        scale = getattr(self._scaler, "_scale", None)
        if scale is None:
            return float(getattr(self._scaler, "_init_scale", math.nan))
        return number_of(scale)

    def follow(
        self,
        before_step: Callable[[Any], None],
        unscaled: Callable[..., None],
        after_step: Callable[[Any], None],
    ) -> None:
        scaler = self._scaler
        unscale, step = scaler.unscale_, scaler.step

        def new_unscale(optimizer: Any) -> Any:
            result = unscale(optimizer)
            unscaled(optimizer, anew=True)  # it raises where it was done
            return result

        def new_step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before_step(optimizer)
            result = step(optimizer, *args, **kwargs)
            after_step(optimizer)
            return result

        # On the object alone: other scalers are none of ours.
        replace(scaler, "unscale_", new_unscale)
        replace(scaler, "step", new_step)

    def follow_losses(self, scaled: Callable[[Any, Any], None]) -> None:
        scale = self._scaler.scale

        def new_scale(outputs: Any) -> Any:
            result = scale(outputs)
            scaled(outputs, result)
            return result

        replace(self._scaler, "scale", new_scale)

    def close(self) -> None:
        release(self._scaler)
