"""Megatron-Core: two lines in a loop.

watch = nanwatch.megatron.watch(model, optimizer, run="r1")  # before the loop
...
optimizer.step()
watch.step(loss)  # in the loop
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import megatron.core
import torch
from megatron.core import parallel_state

from nanwatch import Scaler
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch import scaling
from nanwatch._torch.hooks import release, replace
from nanwatch._torch.watching import Watch
from nanwatch.torch import _silent
from nanwatch.torch import watch as _watch

__all__ = ["watch"]


class _Follower(scaling.Follower):
    """Of a MegatronOptimizer, or of several in a ChainedOptimizer. Each
    unscales its gradients, looks for overflows and moves its scale in
    `prepare_grads`; what the one that holds them decides, its `step` knows."""

    def __init__(self, optimizer: Any) -> None:
        self._outer = optimizer
        self._each = _each(optimizer)

    def _scaler(self) -> Any:
        """The first one's; None: bf16 has none."""
        for one in self._each:
            scaler = getattr(one, "grad_scaler", None)
            if scaler is not None:
                return scaler
        return None

    def declared(self) -> Scaler:
        scaler = self._scaler()
        if scaler is None:
            return Scaler(kind="none")
        if not hasattr(scaler, "growth_interval"):
            return Scaler(
                kind="static", name="megatron", init_scale=float(scaler.scale)
            )
        return Scaler(
            kind="dynamic",
            name="megatron",
            init_scale=float(scaler.scale),
            growth_factor=float(scaler.growth_factor),
            backoff_factor=float(scaler.backoff_factor),
            growth_interval=int(scaler.growth_interval),
            hysteresis=int(scaler.hysteresis),
            min_scale=float(scaler.min_scale),
        )

    def present_scale(self) -> Any:
        scaler = self._scaler()
        if scaler is None:
            return None
        return scaling.number_of(scaler.scale.reshape(()))

    def follow(
        self,
        before_step: Callable[[Any], None],
        unscaled: Callable[..., None],
        after_step: Callable[[Any], None],
    ) -> None:
        def prepares(one: Any) -> Callable[..., Any]:
            prepare = one.prepare_grads

            def new_prepare(*args: Any, **kwargs: Any) -> Any:
                before_step(one.optimizer)
                result = prepare(*args, **kwargs)
                unscaled(one.optimizer)
                return result

            return new_prepare

        for one in self._each:
            replace(one, "prepare_grads", prepares(one))
        step = self._outer.step

        def new_step(*args: Any, **kwargs: Any) -> Any:
            result = step(*args, **kwargs)
            for one in self._each:
                after_step(one.optimizer)
            return result

        replace(self._outer, "step", new_step)

    def close(self) -> None:
        release(self._outer)
        for one in self._each:
            release(one)

    def copies(self) -> Iterable[tuple[Any, Any]]:
        for one in self._each:
            model = [p for g in getattr(one, "float16_groups", ()) for p in g]
            groups = getattr(one, "fp32_from_float16_groups", ())
            yield from zip([p for g in groups for p in g], model)
            # A DistributedOptimizer's are parts of them.
            for group in getattr(one, "model_float16_groups", ()):
                for parameter in group:
                    if getattr(parameter, "main_param", None) is not None:
                        yield parameter.main_param, parameter


@or_silent(_silent)
def watch(model: Any, optimizer: Any, **options: Any) -> Watch:
    """`model`: what Megatron trains, or a list of its parts; `optimizer`: what
    `get_megatron_optimizer` gave. The rest is as for `nanwatch.torch.watch`;
    ranks and places are those of Megatron's parallel_state."""
    parts = model if isinstance(model, (list, tuple)) else [model]
    parts = [_unwrapped(part) for part in parts]
    config = optimizer.config
    half, brain = bool(config.fp16), bool(config.bf16)
    options.setdefault("framework", "megatron")
    options.setdefault("precision", "fp16" if half else "bf16" if brain else "")
    options.setdefault("clip_norm", config.clip_grad or None)
    add_settings(options, megatron=megatron.core.__version__)
    for name, place in _places().items():
        options.setdefault(name, place)
    return _watch(
        parts[0] if len(parts) == 1 else torch.nn.ModuleList(parts),
        [each.optimizer for each in _each(optimizer)],
        _Follower(optimizer),
        **options,
    )


def _each(optimizer: Any) -> list[Any]:
    """Those that hold an optimizer of torch's."""
    inner = getattr(optimizer, "chained_optimizers", [optimizer])
    return [each for each in inner if each.optimizer is not None]


def _unwrapped(model: Any) -> Any:
    """Without its DistributedDataParallel and its Float16Module."""
    while isinstance(getattr(model, "module", None), torch.nn.Module):
        model = model.module
    return model


def _places() -> dict[str, int]:
    if not parallel_state.model_parallel_is_initialized():
        return {}
    return {
        "dp": parallel_state.get_data_parallel_rank(),
        "tp": parallel_state.get_tensor_model_parallel_rank(),
        "pp": parallel_state.get_pipeline_model_parallel_rank(),
        "ep": parallel_state.get_expert_model_parallel_rank(),
        "cp": parallel_state.get_context_parallel_rank(),
    }
