"""TensorFlow on an Ascend NPU.

With sessions (npu_bridge: NPULossScaleOptimizer with a manager of its own):

    hook = nanwatch.ascend_tf.Hook(loss, manager, run="r1")
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session: ...

With Keras of TensorFlow 2 (npu_device: NpuLossScaleOptimizer):

    model.fit(..., callbacks=[nanwatch.ascend_tf.Callback(run="r1")])
"""

from __future__ import annotations

import os
from typing import Any

import numpy
import tensorflow as tf

import nanwatch
from nanwatch import _overflow_mode
from nanwatch._fit_callback import FitCallback
from nanwatch._run import Run
from nanwatch._settings import add_settings

__all__ = ["Callback", "Hook"]

_v1 = tf.compat.v1

# What NPULossScaleOptimizer puts into a graph: whether all float status words
# are 0, and the op that reads them.
_FINITE = "overflow_status_reduce_all"
_STATUS = ("NpuGetFloatStatusV2", "NpuGetFloatStatus")


class Hook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
    """Tells each run of a session that has the loss in its graph: all of it is
    fetched with what the training runs, nothing is run beside it. The scale is
    read in the same run in which it may move, so it can be the next step's.

    `manager`: a FixedLossScaleManager, an ExponentialUpdateLossScaleManager or
    what has their `get_loss_scale`. `loss`: a tensor. `optimizer`: an
    NPULossScaleOptimizer, for what else it is set to. `stop`: the session is
    asked to stop when nanwatch is. The rest is as for `nanwatch.init`."""

    def __init__(
        self,
        loss: Any = None,
        manager: Any = None,
        *,
        stop: bool = False,
        **init: Any,
    ) -> None:
        self._loss = loss
        self._manager = manager
        self._stop = stop
        self._init = init
        self._fetches: dict[str, Any] = {}
        self._number = 0
        self.run: Run | None = None

    def begin(self) -> None:
        graph = _v1.get_default_graph()
        fetches = {"loss": self._loss, "finite": None, "status": None}
        for op in graph.get_operations():
            if op.name.rpartition("/")[2].startswith(_FINITE):
                fetches["finite"] = op.outputs[0] if op.outputs else None
            elif op.type in _STATUS:
                fetches["status"] = op.outputs[0]
        fetches["step"] = _v1.train.get_global_step(graph)
        if self._manager is not None:
            fetches["scale"] = self._manager.get_loss_scale()
        self._fetches = {k: v for k, v in fetches.items() if v is not None}

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self.run is not None:
            return
        init = dict(self._init)
        scale = None
        if "scale" in self._fetches:
            scale = float(session.run(self._fetches["scale"]))
        _describe(init, _declared(self._manager, scale))
        self.run = nanwatch.init(**init)

    def before_run(self, run_context: Any) -> Any:
        return _v1.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self.run is None:
            return
        try:
            self._tell(self.run, run_values.results)
        except Exception as error:
            self.run._failed("after_run", error)
        if self._stop and self.run.should_stop:
            run_context.request_stop()

    def _tell(self, run: Run, values: dict[str, Any]) -> None:
        numbers: dict[str, Any] = {}
        if "loss" in values:
            numbers["loss"] = float(values["loss"])
        if "scale" in values:
            numbers["scale"] = float(values["scale"])
        if "finite" in values:
            overflow = not bool(values["finite"])
            numbers.update(overflow=overflow, skipped=overflow)
        if "status" in values:
            words = numpy.asarray(values["status"]).reshape(-1)
            numbers["float_status"] = [int(w) for w in words]
        # A global step stands still where the step was skipped.
        number = self._number
        self._number += 1
        run.step(number, **numbers)

    def end(self, session: Any) -> None:
        if self.run is not None:
            self.run.close()


class Callback(FitCallback, tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Tells each batch's loss, the scale of a LossScaleOptimizer, and whether
    the step was applied: an NpuLossScaleOptimizer says so, of others it is
    known from the scale.

    `stop`: training stops, in Keras's own way, when nanwatch is asked to stop
    the run. The rest is as for `nanwatch.init`."""

    def on_train_begin(self, logs: Any = None) -> None:
        optimizer = self.model.optimizer
        self._scale = _scale_of(optimizer)
        init = dict(self._init)
        _describe(init, _declared_by(optimizer, self._scale))
        self._open(init)

    def _tell(self, run: Run, batch: int, logs: dict[str, Any]) -> None:
        optimizer = self.model.optimizer
        numbers: dict[str, Any] = {"loss": self._loss.of(batch, logs)}
        used, self._scale = self._scale, _scale_of(optimizer)
        if used is not None and self._scale is not None:
            skipped = _skipped(optimizer, used, self._scale)
            numbers.update(scale=used, overflow=skipped, skipped=skipped)
        run.step(self._number, **numbers)
        self._number += 1


def _describe(init: dict[str, Any], scaler: nanwatch.Scaler) -> None:
    init.setdefault("framework", "ascend_tf")
    init.setdefault("overflow_mode", _overflow_mode.of_environment(os.environ))
    init.setdefault("scaler", scaler)
    add_settings(init, tensorflow=tf.__version__)


def _declared(manager: Any, scale: float | None) -> nanwatch.Scaler:
    """Of a manager of npu_bridge."""
    if manager is None:
        return nanwatch.Scaler()
    every = getattr(manager, "_incr_every_n_steps", None)
    if every is None:
        check = getattr(manager, "get_enable_overflow_check", None)
        return nanwatch.Scaler(
            kind="static",
            name="ascend_tf_fixed",
            init_scale=scale,
            overflow_check=None if check is None else bool(check()),
        )
    return nanwatch.Scaler(
        kind="dynamic",
        name="ascend_tf",
        init_scale=scale,
        growth_factor=float(manager._incr_ratio),
        backoff_factor=float(manager._decr_ratio),
        growth_interval=int(every),
        hysteresis=int(manager._decr_every_n_nan_or_inf),
        min_scale=1.0,
    )


def _declared_by(optimizer: Any, scale: float | None) -> nanwatch.Scaler:
    """Of a LossScaleOptimizer of Keras's."""
    if scale is None:
        return nanwatch.Scaler(kind="none")
    if not getattr(optimizer, "dynamic", False):
        return nanwatch.Scaler(kind="static", name="keras", init_scale=scale)
    return nanwatch.Scaler(
        kind="dynamic",
        name="keras",
        init_scale=scale,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=int(optimizer.dynamic_growth_steps),
    )


def _skipped(optimizer: Any, used: float, scale: float) -> bool | None:
    """Whether the last step was; None: a fixed scale does not show it."""
    finite = getattr(optimizer, "last_step_finite", None)
    if finite is not None:
        return not bool(finite)
    # At 1 the scale falls no more, but the steps are counted anew.
    good = getattr(optimizer, "dynamic_counter", None)
    return None if good is None else int(good) == 0 and scale <= used


def _scale_of(optimizer: Any) -> float | None:
    scale = getattr(optimizer, "loss_scale", None)
    return None if scale is None else float(scale)
