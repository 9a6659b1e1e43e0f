"""DeepSpeed: two lines in a loop.

watch = nanwatch.deepspeed.watch(engine, run="r1")
...
engine.backward(loss)
engine.step()
watch.step(loss)
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import deepspeed
import torch
from deepspeed.utils import groups

import nanwatch
from nanwatch._init import _silent
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch.readout import Readout
from nanwatch._watched_run import WatchedRun

__all__ = ["Watch", "watch"]


class _Step(NamedTuple):
    number: int
    time: float
    numbers: dict[str, Any]
    readout: Readout
    later: dict[str, Any]  # places in it

    def ready(self) -> bool:
        return self.readout.ready()


class Watch(WatchedRun):
    """What `watch` gives. No call raises, or waits for a device."""

    def __init__(self, run: Run, engine: Any) -> None:
        super().__init__(run)
        self._engine = engine
        self._steps = self._skipped = 0
        self._scale: float | None = None
        self._losses: list[Any] = []
        if engine is not None:  # else it is silent
            self._steps = engine.global_steps
            self._skipped = engine.skipped_steps
            self._scale = _scale_of(engine)

    def step(self, loss: Any = None, **more: Any) -> None:
        """After each `engine.step()`; the parts of an accumulated step become
        one, and its loss is their mean. `more` is as for `Run.step`.

        Loss and norm may be on a device: they are read some steps later, once
        they are here."""
        try:
            self._end_step(loss, more)
        except Exception as error:
            self.run._failed("step", error)

    def _end_step(self, loss: Any, more: dict[str, Any]) -> None:
        engine = self._engine
        if engine is None:
            return
        self._take_loss(loss)
        if engine.global_steps == self._steps:
            return  # a part of a step
        self._steps = engine.global_steps
        losses, self._losses = self._losses, []
        used, self._scale = self._scale, _scale_of(engine)
        skipped = engine.skipped_steps > self._skipped
        self._skipped = engine.skipped_steps
        rates = engine.get_lr()
        numbers: dict[str, Any] = {
            "scale": used,
            "overflow": skipped,
            "skipped": skipped,
            "lr": float(rates[0]) if rates else None,
        }
        found: dict[str, Any] = {}
        if losses:
            found["loss"] = _mean(losses)
        norm = engine.get_global_grad_norm()
        # Of a skipped step DeepSpeed still has the last one's.
        if norm is not None and not skipped:
            found["grad_norm"] = norm
        readout = Readout()
        later = {}
        for name, value in found.items():
            if isinstance(value, torch.Tensor):
                later[name] = readout.add([value.detach().reshape(())])
            else:
                numbers[name] = float(value)
        readout.start()
        numbers.update(more)
        self._pending.add(
            _Step(self._steps - 1, time.time(), numbers, readout, later)
        )

    def _take_loss(self, loss: Any) -> None:
        if isinstance(loss, torch.Tensor) and loss.numel() == 1:
            loss = loss.detach().reshape(()).float()
        else:
            loss = self.run._checks.real("loss", loss)
        if loss is not None and len(self._losses) < 4096:
            self._losses.append(loss)

    def _tell_entry(self, step: _Step) -> None:
        step.readout.finish()
        numbers = {k: step.readout.number(v) for k, v in step.later.items()}
        self.run.step(
            step.number, **{"time": step.time, **numbers, **step.numbers}
        )


def _mean(losses: list[Any]) -> Any:
    """A float, or a tensor where they are."""
    tensors = [x for x in losses if isinstance(x, torch.Tensor)]
    if len(tensors) < len(losses):
        return sum(map(float, losses)) / len(losses)
    return tensors[0] if len(tensors) == 1 else torch.stack(tensors).mean()


@or_silent(lambda checks: Watch(_silent(checks), None))
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
    for name, place in _places(engine).items():
        init.setdefault(name, place)
    add_settings(
        init,
        deepspeed=deepspeed.__version__,
        torch=torch.__version__,
        zero_stage=str(engine.zero_optimization_stage()),
    )
    return Watch(nanwatch.init(**init), engine)


def _places(engine: Any) -> dict[str, int]:
    """In the groups that DeepSpeed made for the engine, of its pipeline's grid,
    and of the object that Megatron and others hand over as `mpu`."""
    mpu: Any = groups.mpu
    grid: Any = getattr(engine, "grid", None)
    experts = getattr(engine, "expert_parallel_group", None) or {}
    # Called ep_size_2; the largest is that of most layers.
    largest = max(experts, key=lambda n: int(n.rsplit("_", 1)[-1]), default="")
    ways: list[tuple[str, Callable[[], Any]]] = [
        ("pp", lambda: grid.get_pipe_parallel_rank()),
        ("pp", lambda: mpu.get_pipeline_model_parallel_rank()),
        ("tp", lambda: grid.get_slice_parallel_rank()),
        ("tp", lambda: mpu.get_tensor_model_parallel_rank()),
        ("tp", lambda: mpu.get_model_parallel_rank()),
        ("tp", groups.get_tensor_model_parallel_rank),
        ("dp", lambda: _rank_in(engine.data_parallel_group)),
        ("ep", lambda: _rank_in(experts[largest])),
        ("cp", lambda: _rank_in(engine.seq_parallel_group)),
    ]
    places: dict[str, int] = {}
    for kind, way in ways:
        with contextlib.suppress(Exception):  # there is no such group
            if kind not in places:
                places[kind] = int(way())
    return {kind: place for kind, place in places.items() if place >= 0}


def _rank_in(group: Any) -> int:
    if group is None:
        raise LookupError("no such group")
    return int(torch.distributed.get_rank(group))


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
