"""DeepSpeed: two lines in a loop.

watch = nanwatch.deepspeed.watch(engine, run="r1")
...
engine.backward(loss)
engine.step()
watch.step(loss)
"""

from __future__ import annotations

from typing import Any

import deepspeed
import torch

import nanwatch
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._watched_run import WatchedRun

__all__ = ["Watch", "watch"]


class Watch(WatchedRun):
    """What `watch` gives. No call raises."""

    def __init__(self, run: Run, engine: Any) -> None:
        super().__init__(run)
        self._engine = engine
        self._steps = engine.global_steps
        self._skipped = engine.skipped_steps
        self._scale = _scale_of(engine)
        self._losses: list[Any] = []

    def step(self, loss: Any = None, **more: Any) -> None:
        """After each `engine.step()`; the parts of an accumulated step become
        one, and its loss is their mean. `more` is as for `Run.step`.

        Loss and norm are read once an optimizer step: that waits for the device
        as DeepSpeed's own look for an overflow does."""
        try:
            self._tell(loss, more)
        except Exception as error:
            self.run._failed("step", error)

    def _tell(self, loss: Any, more: dict[str, Any]) -> None:
        if loss is not None and len(self._losses) < 4096:
            kept = isinstance(loss, torch.Tensor)
            self._losses.append(loss.detach() if kept else float(loss))
        engine = self._engine
        if engine.global_steps == self._steps:
            return  # a part of a step
        self._steps = engine.global_steps
        losses, self._losses = self._losses, []
        used, self._scale = self._scale, _scale_of(engine)
        skipped = engine.skipped_steps > self._skipped
        self._skipped = engine.skipped_steps
        rates = engine.get_lr()
        numbers: dict[str, Any] = {
            "loss": sum(map(float, losses)) / len(losses) if losses else None,
            "scale": used,
            "overflow": skipped,
            "skipped": skipped,
            "lr": float(rates[0]) if rates else None,
        }
        norm = engine.get_global_grad_norm()
        # Of a skipped step DeepSpeed still has the last one's.
        if norm is not None and not skipped:
            numbers["grad_norm"] = float(norm)
        numbers.update(more)
        self.run.step(self._steps - 1, **numbers)


def watch(engine: Any, **init: Any) -> Watch:
    """`engine`: what `deepspeed.initialize` gave first. The rest is as for
    `nanwatch.init`."""
    half, brain = engine.fp16_enabled(), engine.bfloat16_enabled()
    init.setdefault("framework", "deepspeed")
    init.setdefault("precision", "fp16" if half else "bf16" if brain else "")
    init.setdefault("overflow_mode", "inf_nan")
    init.setdefault("scaler", _declared(engine))
    init.setdefault("clip_norm", engine.gradient_clipping() or None)
    init.setdefault("rank", engine.global_rank)
    init.setdefault("world_size", engine.world_size)
    add_settings(
        init,
        deepspeed=deepspeed.__version__,
        torch=torch.__version__,
        zero_stage=str(engine.zero_optimization_stage()),
    )
    return Watch(nanwatch.init(**init), engine)


def _scaler_of(engine: Any) -> Any:
    return getattr(engine.optimizer, "loss_scaler", None)


def _scale_of(engine: Any) -> float | None:
    """None: nothing is scaled."""
    if not engine.fp16_enabled():
        return None
    optimizer = engine.optimizer
    for name in ("cur_scale", "loss_scale"):
        scale = getattr(optimizer, name, None)
        if scale is not None:
            return float(scale)
    return None


def _declared(engine: Any) -> nanwatch.Scaler:
    scale = _scale_of(engine)
    if scale is None:
        return nanwatch.Scaler(kind="none")
    if not engine.dynamic_loss_scale():
        return nanwatch.Scaler(
            kind="static", name="deepspeed", init_scale=scale
        )
    own = _scaler_of(engine)
    given = engine.dynamic_loss_scale_args() or {}
    return nanwatch.Scaler(
        kind="dynamic",
        name="deepspeed",
        init_scale=scale,
        growth_interval=_whole(
            getattr(own, "scale_window", given.get("scale_window"))
        ),
        hysteresis=_whole(
            getattr(own, "delayed_shift", given.get("delayed_shift"))
        ),
        min_scale=_real(getattr(own, "min_scale", given.get("min_scale"))),
    )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _real(value: Any) -> float | None:
    return None if value is None else float(value)
