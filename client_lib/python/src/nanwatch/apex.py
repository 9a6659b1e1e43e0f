"""NVIDIA's Apex, its amp: two lines in a loop.

watch = nanwatch.apex.watch(model, optimizer, run="r1")  # after amp.initialize
...
with amp.scale_loss(loss, optimizer) as scaled:
    scaled.backward()
optimizer.step()
watch.step(loss)  # in the loop
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from apex.amp._amp_state import _amp_state

from nanwatch import Scaler
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch import scaling
from nanwatch._torch.given_optimizers import listed
from nanwatch._torch.hooks import release, replace
from nanwatch._torch.watching import Watch
from nanwatch.torch import _silent
from nanwatch.torch import watch as _watch

__all__ = ["watch"]


class _Follower(scaling.Follower):
    """Of amp's LossScalers. At the end of `amp.scale_loss` the gradients are
    unscaled, `update_scale` moves the scale and says whether to skip; the
    optimizer's next `step` is another function then."""

    def __init__(self, scalers: Sequence[Any], optimizers: list[Any]) -> None:
        self._scalers = scalers
        self._optimizers = optimizers

    def declared(self) -> Scaler:
        scaler = self._scalers[0]
        scale = float(scaler.loss_scale())
        if not scaler.dynamic:
            return Scaler(kind="static", name="apex", init_scale=scale)
        return Scaler(
            kind="dynamic",
            name="apex",
            init_scale=scale,
            growth_interval=int(scaler._scale_seq_len),
            min_scale=scaling.real(scaler._min_loss_scale),
            max_scale=scaling.real(scaler._max_loss_scale),
        )

    def present_scale(self) -> Any:
        return float(self._scalers[0].loss_scale())

    def follow(
        self,
        before_step: Callable[[Any], None],
        unscaled: Callable[..., None],
        after_step: Callable[[Any], None],
    ) -> None:
        def updates(scaler: Any) -> Callable[[], Any]:
            update = scaler.update_scale

            def new_update() -> Any:
                for optimizer in self._optimizers:
                    before_step(optimizer)
                    unscaled(optimizer)
                skips = update()
                if skips:
                    for optimizer in self._optimizers:
                        after_step(optimizer)
                return skips

            return new_update

        for scaler in self._scalers:
            replace(scaler, "update_scale", updates(scaler))

    def close(self) -> None:
        for scaler in self._scalers:
            release(scaler)

    def copies(self) -> Iterable[tuple[Any, Any]]:
        for optimizer in self._optimizers:
            stash = getattr(optimizer, "_amp_stash", None)
            yield from zip(
                getattr(stash, "all_fp32_from_fp16_params", ()),
                getattr(stash, "all_fp16_params", ()),
            )


@or_silent(_silent)
def watch(model: Any, optimizer: Any, **options: Any) -> Watch:
    """`model` and `optimizer` (or several, a list): what `amp.initialize` gave.
    Of several losses with scalers of their own the first one's scale is told.
    The rest is as for `nanwatch.torch.watch`."""
    options.setdefault("framework", "apex")
    properties = getattr(_amp_state, "opt_properties", None)
    level = str(getattr(properties, "opt_level", ""))
    add_settings(options, apex_opt_level=level)
    scalers = getattr(_amp_state, "loss_scalers", ())
    follower = None
    if scalers and properties is not None and properties.enabled:
        follower = _Follower(scalers, list(listed(optimizer).values()))
    return _watch(model, optimizer, follower, **options)
