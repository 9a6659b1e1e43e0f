"""Keras 3, on any of its back ends: one line.

model.fit(..., callbacks=[nanwatch.keras.Callback(run="r1")])
"""

from __future__ import annotations

from typing import Any

import keras
import numpy

import nanwatch
from nanwatch._fit_callback import FitCallback
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


class Callback(FitCallback, keras.callbacks.Callback):  # type: ignore[misc]
    """Tells each batch's loss, the scale of a LossScaleOptimizer and whether
    it skipped the batch, and at the end of an epoch which weights are lost.
    Gradients stay inside the compiled step: they are not seen.

    `stop`: training stops, in Keras's own way, when nanwatch is asked to stop
    the run. The rest is as for `nanwatch.init`."""

    def on_train_begin(self, logs: Any = None) -> None:
        init = dict(self._init)
        init.setdefault("framework", "keras")
        init.setdefault("overflow_mode", "inf_nan")
        policy = keras.mixed_precision.dtype_policy().name
        init.setdefault("precision", _PRECISIONS.get(policy, ""))
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
        add_settings(
            init,
            keras=keras.__version__,
            backend=keras.backend.backend(),
        )
        self._open(init)

    def _tell(self, run: Run, batch: int, logs: dict[str, Any]) -> None:
        if hasattr(self.model, "jax_state_sync"):
            self.model.jax_state_sync()
        optimizer = self.model.optimizer
        scaling = _scaling(optimizer)
        numbers: dict[str, Any] = {"loss": self._loss.of(batch, logs)}
        if scaling is not None:
            used, self._scale = self._scale, _number(scaling.dynamic_scale)
            if used is not None:
                skipped = self._scale < used
                numbers.update(scale=used, overflow=skipped, skipped=skipped)
            optimizer = scaling.inner_optimizer
        numbers["lr"] = _number(optimizer.learning_rate)
        run.step(self._number, **numbers)
        self._number += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.run is None:
            return
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
