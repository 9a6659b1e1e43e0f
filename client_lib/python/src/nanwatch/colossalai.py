"""Colossal-AI: two lines in a loop.

watch = nanwatch.colossalai.watch(model, optimizer, run="r1")
...
optimizer.step()
watch.step(loss)  # in the loop
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import colossalai
import torch

from nanwatch import Scaler
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch import scaling
from nanwatch._torch.hooks import release, replace
from nanwatch._torch.watching import Watch
from nanwatch.torch import _silent
from nanwatch.torch import watch as _watch

__all__ = ["watch"]

# What its optimizers call the object that scales: of MixedPrecisionOptimizer,
# LowLevelZeroOptimizer and GeminiOptimizer.
_MIXINS = ("mixed_precision", "mixed_precision_mixin", "mix_precision_mixin")


class _Follower(scaling.Follower):
    """Of an OptimizerWrapper: it looks for overflows and moves its scale in
    the mixin's `should_skip_step`, before it unscales and clips."""

    def __init__(self, optimizer: Any, mixin: Any) -> None:
        self._outer = optimizer
        self._mixin = mixin
        # By the id of the copy in fp32; ZeRO's lie in buckets.
        self._working = dict(
            (id(copy), parameter)
            for copy, parameter in self.copies()
            if hasattr(optimizer, "master_to_working_map")
        )

    def declared(self) -> Scaler:
        scaler = getattr(self._mixin, "grad_scaler", None)
        if scaler is None:  # bf16
            return Scaler(kind="none")
        scale = float(scaler.scale)
        if not hasattr(scaler, "_growth_interval"):
            return Scaler(kind="static", name="megatron", init_scale=scale)
        # Its DynamicGradScaler was made after Megatron's.
        return Scaler(
            kind="dynamic",
            name="megatron",
            init_scale=scale,
            growth_factor=float(scaler._growth_factor),
            backoff_factor=float(scaler._backoff_factor),
            growth_interval=int(scaler._growth_interval),
            hysteresis=int(scaler._hysteresis),
            min_scale=scaling.real(scaler._min_scale),
            max_scale=scaling.real(scaler._max_scale),
        )

    def present_scale(self) -> Any:
        scaler = getattr(self._mixin, "grad_scaler", None)
        if scaler is None:
            return None
        return scaling.number_of(scaler.scale.reshape(()))

    def follow(
        self,
        before_step: Callable[[Any], None],
        unscaled: Callable[..., None],
        after_step: Callable[[Any], None],
    ) -> None:
        inner = self._outer.optim
        if self._mixin is not None:
            skips = self._mixin.should_skip_step

            def new_skips(*args: Any, **kwargs: Any) -> Any:
                before_step(inner)
                if self._working:
                    unscaled(
                        inner,
                        divide_by=self.present_scale(),
                        gradient_of=self._gradient_of,
                    )
                return skips(*args, **kwargs)

            replace(self._mixin, "should_skip_step", new_skips)
        step = self._outer.step

        def new_step(*args: Any, **kwargs: Any) -> Any:
            result = step(*args, **kwargs)
            after_step(inner)
            return result

        replace(self._outer, "step", new_step)

    def _gradient_of(self, copy: Any) -> Any:
        return self._working.get(id(copy), copy).grad

    def close(self) -> None:
        release(self._outer)
        if self._mixin is not None:
            release(self._mixin)

    def copies(self) -> Iterable[tuple[Any, Any]]:
        known = self._outer.get_master_to_working_map()
        for group in self._outer.optim.param_groups:
            for copy in group["params"]:
                parameter = known.get(id(copy)) if known else None
                if parameter is not None:
                    yield copy, parameter


@or_silent(_silent)
def watch(model: Any, optimizer: Any, **options: Any) -> Watch:
    """`model` and `optimizer`: what `Booster.boost` gave, or an optimizer of
    `colossalai.amp`. The rest is as for `nanwatch.torch.watch`."""
    mixin = None
    for name in _MIXINS:
        mixin = mixin or getattr(optimizer, name, None)
    options.setdefault("framework", "colossalai")
    if mixin is not None:
        scaled = hasattr(mixin, "grad_scaler")
        options.setdefault("precision", "fp16" if scaled else "bf16")
    for name, place in _places(model).items():
        options.setdefault(name, place)
    add_settings(options, colossalai=colossalai.__version__)
    unwrap = getattr(model, "unwrap", None)
    inner = getattr(optimizer, "optim", optimizer)
    follower = None if inner is optimizer else _Follower(optimizer, mixin)
    return _watch(
        unwrap() if callable(unwrap) else model, inner, follower, **options
    )


def _places(model: Any) -> dict[str, int]:
    """Of what HybridParallelPlugin and the plugins made of it gave; those of
    the others have data parallelism alone, which is found as PyTorch's is."""
    places: dict[str, int] = {}
    for kind, name in (
        ("dp", "dp_group"),
        ("tp", "tp_group"),
        ("cp", "sp_group"),
        ("ep", "ep_group"),
    ):
        group = getattr(model, name, None)
        if isinstance(group, torch.distributed.ProcessGroup):
            places[kind] = torch.distributed.get_rank(group)
    stage = getattr(getattr(model, "stage_manager", None), "stage", None)
    if stage is not None:
        places["pp"] = int(stage)
    return {kind: place for kind, place in places.items() if place >= 0}
