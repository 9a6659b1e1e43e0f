"""MindSpore: one line for `Model.train`, two for a loop of functions.

model.train(epochs, data, callbacks=[nanwatch.mindspore.Callback(run="r1")])

    watch = nanwatch.mindspore.watch(loss_scaler, optimizer, run="r1")
    ...
    loss_scaler.adjust(finite)
    watch.step(loss, finite, grads)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mindspore
import numpy

import nanwatch
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._watched_run import WatchedRun

__all__ = ["Callback", "Watch", "watch"]


class Watch(WatchedRun):
    """What `watch` gives. No call raises."""

    def __init__(self, run: Run, scaler: Any, names: list[str]) -> None:
        super().__init__(run)
        self._names = names  # of the gradients, in their order
        self._scaler = scaler
        self._scale = _scale_of(scaler)
        self._number = 0

    def step(
        self,
        loss: Any = None,
        finite: Any = None,
        grads: Sequence[Any] | None = None,
        *,
        step: int | None = None,
        **more: Any,
    ) -> None:
        """Says that a step is over, after `adjust`. `finite`: what
        `all_finite(grads)` gave; where it is not True the update is taken to be
        skipped, if there is a scaler; not given, `grads` say whether they are.
        `grads`: unscaled, not clipped; looked at one by one where they are not
        finite. `more` is as for `Run.step`.

        Loss, `finite` and the scale are read here: that waits for the device
        as printing them does, so on an NPU call it as often as you print."""
        try:
            self._tell(loss, finite, grads, step, more)
        except Exception as error:
            self.run._failed("step", error)

    def _tell(
        self,
        loss: Any,
        finite: Any,
        grads: Sequence[Any] | None,
        step: int | None,
        more: dict[str, Any],
    ) -> None:
        number = self._number if step is None else step
        self._number = number + 1
        told = _optional(loss)
        used, self._scale = self._scale, _scale_of(self._scaler)
        numbers: dict[str, Any] = {"scale": used}
        overflow = None if finite is None else not _number(finite)
        if overflow is not None:
            numbers["overflow"] = overflow
            numbers["skipped"] = overflow and self._scaler is not None
        if grads is not None:
            grads = list(grads)
            numbers["grad_norm"] = norm = _norm(grads)
            if overflow is None:  # nobody looked
                overflow = numbers["overflow"] = not math.isfinite(norm)
                if self._scaler is None:
                    numbers["skipped"] = False
            # A loss that is not finite makes all of them so.
            if overflow and (told is None or math.isfinite(told)):
                self._tell_gradients(grads, number)
        numbers.update(more)
        self.run.step(number, told, **numbers)

    def _tell_gradients(self, grads: Sequence[Any], number: int) -> None:
        for i, gradient in enumerate(grads):
            array = gradient.asnumpy()
            bad = array.size - int(numpy.isfinite(array).sum())
            if bad:
                nan = int(numpy.isnan(array).sum())
                negative = int(numpy.isneginf(array).sum())
                named = i < len(self._names)
                self.run.op(
                    self._names[i] if named else f"gradient {i}",
                    step=number,
                    slot="grad_input",
                    elements=array.size,
                    nan=nan,
                    pos_inf=bad - nan - negative,
                    neg_inf=negative,
                )


def watch(scaler: Any = None, optimizer: Any = None, **init: Any) -> Watch:
    """For a loop of functions (`mindspore.value_and_grad`). `scaler`: a
    DynamicLossScaler or StaticLossScaler of `mindspore.amp`; `optimizer`: its
    parameters are what gradients are called after. The rest is as for
    `nanwatch.init`."""
    init.setdefault("scaler", _declared(scaler))
    parameters = getattr(optimizer, "parameters", None) or ()
    return Watch(_open(init), scaler, [str(p.name) for p in parameters])


class Callback(mindspore.train.Callback):  # type: ignore[misc]
    """Tells the loss of each step of `Model.train` and, where the training
    network is a TrainOneStepWithLossScaleCell, its scale and whether it
    skipped the update. With `dataset_sink_mode=True` MindSpore calls it once an
    epoch.

    `stop`: training stops, in MindSpore's own way, when nanwatch is asked to
    stop the run. The rest is as for `nanwatch.init`."""

    def __init__(self, *, stop: bool = False, **init: Any) -> None:
        super().__init__()
        self._stop = stop
        self._init = init
        self.run: Run | None = None

    def on_train_begin(self, run_context: Any) -> None:
        if self.run is None or self.run.is_closed:
            network = getattr(run_context.original_args(), "train_network", 0)
            manager = getattr(network, "loss_scaling_manager", None)
            init = dict(self._init)
            init.setdefault("scaler", _declared(manager))
            self.run = _open(init)

    def on_train_step_end(self, run_context: Any) -> None:
        if self.run is None:
            return
        try:
            self._tell(self.run, run_context.original_args())
        except Exception as error:
            self.run._failed("on_train_step_end", error)
        if self._stop and self.run.should_stop:
            run_context.request_stop()

    def _tell(self, run: Run, args: Any) -> None:
        outputs = args.net_outputs
        if not isinstance(outputs, (tuple, list)):
            outputs = [outputs]
        numbers: dict[str, Any] = {}
        # Of a TrainOneStepWithLossScaleCell: loss, whether it overflowed, the
        # scale that this step had.
        if len(outputs) >= 3 and hasattr(args.train_network, "scale_sense"):
            overflow = bool(_number(outputs[1]))
            numbers = {
                "overflow": overflow,
                "skipped": overflow,
                "scale": _number(outputs[2]),
            }
        rate = getattr(args.optimizer, "learning_rate", None)
        if isinstance(rate, mindspore.Parameter) and rate.size == 1:
            numbers["lr"] = _number(rate)
        run.step(args.cur_step_num - 1, _optional(outputs[0]), **numbers)

    def on_train_end(self, run_context: Any) -> None:
        if self.run is not None:
            self.run.close()


def _open(init: dict[str, Any]) -> Run:
    init = dict(init)
    init.setdefault("framework", "mindspore")
    target = mindspore.get_context("device_target")
    init.setdefault("device", str(target).lower())
    if target != "Ascend":
        init.setdefault("overflow_mode", "inf_nan")
    add_settings(init, mindspore=mindspore.__version__)
    return nanwatch.init(**init)


def _declared(scaler: Any) -> nanwatch.Scaler:
    """Of an amp scaler, or of the update cell of a loss scale manager."""
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
    return None if value is None else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, mindspore.Tensor):
        return float(value.asnumpy().reshape(-1)[0])
    return float(value)


def _optional(value: Any) -> float | None:
    return None if value is None else _number(value)


def _norm(grads: Sequence[Any]) -> float:
    """In the range of a double."""
    return math.hypot(
        *(
            float(numpy.linalg.norm(g.asnumpy().astype(numpy.float64)))
            for g in grads
        )
    )
