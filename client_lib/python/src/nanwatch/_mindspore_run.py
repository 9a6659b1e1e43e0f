"""What a run says of a training in MindSpore: its scaler, device and place; and
numbers of arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import mindspore
import numpy

import nanwatch
from nanwatch._run import Run
from nanwatch._settings import add_settings


def is_cell(scaler: Any) -> bool:
    """A TrainOneStepWithLossScaleCell: it returns the loss, whether there was
    an overflow, and the scale that the step had."""
    return hasattr(scaler, "scale_sense")


def open_run(init: dict[str, Any]) -> Run:
    init = dict(init)
    init.setdefault("framework", "mindspore")
    target = mindspore.get_context("device_target")
    init.setdefault("device", str(target).lower())
    if target != "Ascend":
        init.setdefault("overflow_mode", "inf_nan")
    add_settings(init, mindspore=mindspore.__version__)
    with contextlib.suppress(Exception):  # no such context in this version
        init = {**_places(mindspore.get_auto_parallel_context), **init}
    return nanwatch.init(**init)


def _places(said: Callable[[str], Any]) -> dict[str, int]:
    """Of the context of parallel training. Which part of a tensor a rank has
    is each operator's own there; not its place in one group."""
    mode, rank = said("parallel_mode"), int(said("global_rank"))
    if mode == "stand_alone":
        return {}
    if mode == "data_parallel":
        return {"dp": rank}
    ranks, stages = int(said("device_num")), int(said("pipeline_stages"))
    each = ranks // max(1, stages)
    return {"pp": rank // each} if stages > 1 and each > 0 else {}


def declared(scaler: Any) -> nanwatch.Scaler:
    """Of an amp scaler, or of a cell that has the one of a loss scale
    manager."""
    if is_cell(scaler):
        scaler = getattr(scaler, "loss_scaling_manager", None)
    if scaler is None:
        return nanwatch.Scaler()
    window = getattr(scaler, "scale_window", None)
    factor = getattr(scaler, "scale_factor", None)
    initial = _scale_of(scaler)
    if initial is None and hasattr(scaler, "get_loss_scale"):
        initial = float(scaler.get_loss_scale())
    if window is None or factor is None:
        return nanwatch.Scaler(
            kind="static", name="mindspore", init_scale=initial
        )
    return nanwatch.Scaler(
        kind="dynamic",
        name="mindspore",
        init_scale=initial,
        growth_factor=float(factor),
        backoff_factor=1.0 / float(factor),
        growth_interval=int(window),
        min_scale=1.0,
    )


def _scale_of(scaler: Any) -> float | None:
    value = getattr(scaler, "scale_value", None)
    return None if value is None else number_of(value)


def number_of(value: Any) -> float:
    if isinstance(value, mindspore.Tensor):
        return float(value.asnumpy().reshape(-1)[0])
    return float(value)


def count_of(array: Any) -> dict[str, Any]:
    return {
        "elements": array.size,
        "nan": int(numpy.isnan(array).sum()),
        "pos_inf": int(numpy.isposinf(array).sum()),
        "neg_inf": int(numpy.isneginf(array).sum()),
    }


def norm_of(array: Any) -> float:
    """In the range of a double."""
    return float(numpy.linalg.norm(array.astype(numpy.float64)))
