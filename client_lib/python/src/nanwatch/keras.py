"""Keras 3, on any of its back ends: one line.

model.fit(..., callbacks=[nanwatch.keras.Callback(run="r1")])
"""

from __future__ import annotations

import time
from typing import Any

import keras
import numpy

import nanwatch
from nanwatch import (
    _compared_arrays,
    _first_steps,
    _keras_comparing,
    _update_faults,
)
from nanwatch._fit_callback import FitCallback
from nanwatch._keras_numbers import Numbers, Taker, taker
from nanwatch._pending import Pending
from nanwatch._run import Run
from nanwatch._settings import add_settings

__all__ = ["Callback"]

_PRECISIONS = {
    "mixed_float16": "fp16",
    "float16": "fp16",
    "mixed_bfloat16": "bf16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
}


_keras_comparing.prepare()
_Schedule = keras.optimizers.schedules.LearningRateSchedule


_CROSS_ENTROPIES = (
    "binarycrossentropy",
    "categoricalcrossentropy",
    "sparsecategoricalcrossentropy",
)


def _kind_of_loss(model: Any) -> dict[str, str]:
    """That it is a cross-entropy, where Keras itself makes it of what compile()
    was given: a string, a function or an object."""
    own = any(
        getattr(type(model), name, None) is not getattr(keras.Model, name, None)
        for name in ("train_step", "compute_loss")
    )
    loss = getattr(model, "loss", None)
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", None)
    name = str(name or type(loss).__name__).replace("_", "").lower()
    known = not own and name in _CROSS_ENTROPIES
    return {"loss": "cross_entropy"} if known else {}


class _Batch:
    """One that is over on the host, or several with `steps_per_execution`. Its
    loss comes from Keras, which may bring it from a thread of its own once the
    device has it."""

    __slots__ = ("_first", "_logs", "_next", "digest", "numbers", "time")

    def __init__(
        self,
        numbers: Numbers | None,
        first: int,
        following: float,
        logs: dict[int, dict[str, Any]],
    ) -> None:
        self.time = time.time()
        self.numbers = numbers
        self.digest: int | None = None  # of its data
        self._first = first
        self._next = following  # where the next one begins
        self._logs = logs  # of batches, as they come

    def _key(self) -> int | None:
        # A list is made of them at once, though another thread adds some.
        for batch in list(self._logs):
            if self._first <= batch < self._next:
                return batch
        return None

    def ready(self) -> bool:
        return self._key() is not None and (
            self.numbers is None or self.numbers.ready()
        )

    def take_logs(self) -> tuple[int, dict[str, Any]]:
        key = self._key()
        return (self._first, {}) if key is None else (key, self._logs.pop(key))


class Callback(FitCallback, keras.callbacks.Callback):  # type: ignore[misc]
    """Tells each batch's loss, the scale of a LossScaleOptimizer and whether
    it skipped the batch, and at the end of an epoch which weights are lost.
    Gradients stay inside the compiled step: they are not seen.

    Nothing waits for a device within an epoch: Keras brings the losses from a
    thread of its own where its back end can (`async_safe`), the scale is copied
    behind the batch that made it, and both are told when they are there.

    `level`: "compare" adds to "default" what two runs are compared by, of
    tensors on the host: weights, and with `run_eagerly=True`, and always on
    PyTorch, also batches, gradients and what layers get and make.

    `stop`: training stops, in Keras's own way, when nanwatch is asked to stop
    the run. The rest is as for `nanwatch.init`."""

    # Keras waits for each batch on the training's thread unless all callbacks
    # say so.
    async_safe = True

    def __init__(
        self, *, stop: bool = False, level: str = "default", **init: Any
    ) -> None:
        super().__init__(stop=stop, **init)
        self._level = level
        self._comparing: _keras_comparing.Comparing | None = None
        self._batches = _first_steps.Counted(self)
        self._first: int | None = None  # the batch that is going on
        self._before = 0  # batches of the epochs before
        self._fixed_scale: float | None = None
        # Of batches; Keras's thread adds, the training's takes.
        self._logs: dict[int, dict[str, Any]] = {}
        self._pending: Pending[_Batch] = Pending(self._tell_batch)
        self._taker: Taker | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        init = dict(self._init)
        init.setdefault("framework", "keras")
        init.setdefault("overflow_mode", "inf_nan")
        policy = keras.mixed_precision.dtype_policy().name
        init.setdefault("precision", _PRECISIONS.get(policy, ""))
        self._taker = None
        scaling = _scaling(self.model.optimizer)
        if scaling is not None:
            self._scale = float(scaling.initial_scale)
            init.setdefault(
                "scaler",
                nanwatch.Scaler(
                    kind="dynamic",
                    name="keras",
                    init_scale=self._scale,
                    growth_factor=2.0,
                    backoff_factor=0.5,
                    growth_interval=int(scaling.dynamic_growth_steps),
                ),
            )
            if scaling.built:
                self._scale = _number(scaling.dynamic_scale)
        factor = getattr(self.model.optimizer, "loss_scale_factor", None)
        self._fixed_scale = None if factor is None else float(factor)
        if self._fixed_scale is not None:
            init.setdefault(
                "scaler",
                nanwatch.Scaler(
                    kind="static", name="keras", init_scale=self._fixed_scale
                ),
            )
        add_settings(
            init,
            keras=keras.__version__,
            backend=keras.backend.backend(),
            **_kind_of_loss(self.model),
        )
        self._tell_pending()
        before = self.run
        if not self._open(init):
            return
        if self.run is not None and self.run is not before:
            self._pending.end_with(self.run, self._tell_pending)
            if not self.model.trainable_variables:
                self.run._checks.refuse("model", "it has no parameters")
            self._begin_comparing(self.run)
        self._begin_epoch()

    def _begin_comparing(self, run: Run) -> None:
        self._end_comparing()
        level = _compared_arrays.level_of(self._level, run)
        try:
            self._comparing = _keras_comparing.begin(level, run, self.model)
        except Exception as error:
            run._failed("on_train_begin", error)

    def _end_comparing(self) -> None:
        if self._comparing is not None:
            self._comparing.close()
            self._comparing = None

    def on_train_end(self, logs: Any = None) -> None:
        self._end_comparing()
        super().on_train_end(logs)

    def _tell_pending(self) -> None:
        """Tells of all batches that are over."""
        run = self.run
        if run is not None:
            self._pending.settle(
                lambda error: run._failed("on_epoch_end", error)
            )

    def _begin_epoch(self) -> None:
        self._first = None
        self._before = self._number
        self._logs.clear()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_begin(epoch, logs)
        self._begin_epoch()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """The one before is over, on the host."""
        self._end_batch(batch)
        self._first = batch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """On a thread of Keras's own, perhaps, and in another order."""
        run = self.run
        if run is None:
            return
        self._logs[batch] = logs or {}
        if self._stop and run.should_stop:
            self.model.stop_training = True

    def _end_batch(self, following: float) -> None:
        if self.run is None or self._first is None:
            return
        try:
            numbers = self._take_numbers()
        except Exception as error:
            self.run._failed("on_train_batch_begin", error)
            numbers = None
        entry = _Batch(numbers, self._first, following, self._logs)
        if self._comparing is not None:
            several = int(getattr(self.model, "steps_per_execution", 1) or 1)
            last = self._before + self._first + several - 1
            entry.digest = self._comparing.end(last, entry.time)
        try:
            self._pending.add(entry)
        except Exception as error:
            self.run._failed("on_train_batch_begin", error)
        self._batches.add()

    def _take_numbers(self) -> Numbers:
        if self._taker is None:
            optimizer = self.model.optimizer
            scaling = _scaling(optimizer)
            variables = []
            if scaling is not None:
                variables.append(scaling.dynamic_scale)
                optimizer = scaling.inner_optimizer
            rate = getattr(optimizer, "_learning_rate", None)
            schedule = None
            if isinstance(rate, keras.Variable):
                variables.append(rate)
            elif isinstance(rate, _Schedule):
                variables.append(optimizer.iterations)
                schedule = rate
            self._taker = taker(self.model, variables, schedule)
        return self._taker()

    def _tell_batch(self, batch: _Batch) -> None:
        assert self.run is not None
        end, logs = batch.take_logs()
        self._number = self._before + end
        numbers: dict[str, Any] = {"loss": self._loss.of(end, logs)}
        read = [] if batch.numbers is None else batch.numbers.read()
        if read and self._scale is not None:
            used, self._scale = self._scale, read.pop(0)
            skipped = self._scale < used
            numbers.update(scale=used, overflow=skipped, skipped=skipped)
        if read:
            numbers["lr"] = read[0]
        if self._fixed_scale is not None:
            numbers["scale"] = self._fixed_scale
        fault = _update_faults.of_numbers(None, numbers.get("lr"))
        if fault:
            numbers["update_fault"] = fault
        if batch.digest is not None:
            numbers["batch_digest"] = batch.digest
        self.run.step(self._number, time=batch.time, **numbers)
        self._number += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keras has waited for all of it."""
        if self.run is None:
            return
        self._end_batch(float("inf"))
        self._first = None
        self._tell_pending()
        try:
            for variable in self.model.trainable_variables:
                self._tell_weight(self.run, variable)
        except Exception as error:
            self.run._failed("on_epoch_end", error)

    def _tell_weight(self, run: Run, variable: Any) -> None:
        """Of healthy ones nothing: gradients are not seen, and a run that tells
        weights alone would look as if its ops were watched."""
        array = keras.ops.convert_to_numpy(variable).astype(numpy.float32)
        nan = int(numpy.isnan(array).sum())
        positive = int(numpy.isposinf(array).sum())
        negative = int(numpy.isneginf(array).sum())
        if nan + positive + negative:
            run.op(
                variable.path,
                step=self._number,
                slot="parameter",
                elements=array.size,
                nan=nan,
                pos_inf=positive,
                neg_inf=negative,
            )


def _scaling(optimizer: Any) -> Any:
    kind = keras.optimizers.LossScaleOptimizer
    return optimizer if isinstance(optimizer, kind) else None


def _number(variable: Any) -> float:
    return float(keras.ops.convert_to_numpy(variable))
