"""PaddlePaddle: two lines in a loop.

watch = nanwatch.paddle.watch(model, optimizer, scaler, run="r1")
...
scaler.step(optimizer)
scaler.update()
watch.step(loss)  # before optimizer.clear_grad()
"""

from __future__ import annotations

import math
from typing import Any

import paddle

import nanwatch
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._watched_run import WatchedRun

__all__ = ["Watch", "watch"]


class Watch(WatchedRun):
    """What `watch` gives. No call raises."""

    def __init__(self, run: Run, model: Any, optimizer: Any, scaler: Any):
        super().__init__(run)
        self._optimizer = optimizer
        self._scaler = scaler
        self._scale = _scale_of(scaler)
        self._number = 0
        self._parameters = list(model.named_parameters()) if model else []

    def step(
        self, loss: Any = None, *, step: int | None = None, **more: Any
    ) -> None:
        """Says that a step is over: after `scaler.update()`, before
        `clear_grad()`, since the norm is of the gradients that are there.
        `more` is as for `Run.step`.

        Loss, scale and norms are read here: that waits for the device as
        printing them does."""
        try:
            self._tell(loss, step, more)
        except Exception as error:
            self.run._failed("step", error)

    def _tell(self, loss: Any, step: int | None, more: dict[str, Any]) -> None:
        number = self._number if step is None else step
        self._number = number + 1
        told = None if loss is None else _number(loss)
        numbers: dict[str, Any] = {}
        # It turns itself off at its first `scale`, without auto_cast to fp16.
        scaled = _is_on(self._scaler)
        if scaled:
            # The scaler has decided by now; asking again waits for nothing.
            found = bool(self._scaler._cache_found_inf)
            used, self._scale = self._scale, _scale_of(self._scaler)
            numbers = {"scale": used, "overflow": found, "skipped": found}
        norms = self._norms()
        if norms:
            numbers["grad_norm"] = math.hypot(*norms.values())
            if not scaled:
                bad = not math.isfinite(numbers["grad_norm"])
                numbers.update(overflow=bad, skipped=False)
            # A loss that is not finite makes all of them so.
            if told is None or math.isfinite(told):
                self._tell_gradients(norms, number)
        if self._optimizer is not None:
            numbers["lr"] = float(self._optimizer.get_lr())
        numbers.update(more)
        self.run.step(number, told, **numbers)

    def _norms(self) -> dict[str, float]:
        """Of gradients, by the name of the parameter; read all at once."""
        with paddle.no_grad():
            found = {
                name: paddle.linalg.norm(p.grad.astype("float32").flatten())
                for name, p in self._parameters
                if p.grad is not None and not p.grad.is_sparse()
            }
            if not found:
                return {}
            read = paddle.stack(list(found.values())).tolist()
        return dict(zip(found, read))

    def _tell_gradients(self, norms: dict[str, float], number: int) -> None:
        for name, norm in norms.items():
            if not math.isfinite(norm):
                self.run.op(
                    name,
                    step=number,
                    slot="grad_input",
                    nan=int(math.isnan(norm)),
                    pos_inf=int(math.isinf(norm)),
                )


def watch(
    model: Any = None, optimizer: Any = None, scaler: Any = None, **init: Any
) -> Watch:
    """`scaler`: a `paddle.amp.GradScaler`; Paddle itself turns it off on a CPU.
    The rest is as for `nanwatch.init`."""
    init.setdefault("framework", "paddle")
    init.setdefault("scaler", _declared(scaler))
    init.setdefault("overflow_mode", "inf_nan")
    init.setdefault("device", str(paddle.device.get_device()))
    add_settings(init, paddle=paddle.__version__)
    return Watch(nanwatch.init(**init), model, optimizer, scaler)


def _number(value: Any) -> float:
    return float(value.item() if hasattr(value, "item") else value)


def _is_on(scaler: Any) -> bool:
    return scaler is not None and bool(scaler.is_enable())


def _scale_of(scaler: Any) -> float | None:
    value = getattr(scaler, "_scale", None)
    return None if value is None else float(value.item())


def _declared(scaler: Any) -> nanwatch.Scaler:
    if scaler is None:
        return nanwatch.Scaler()
    if not scaler.is_enable():
        return nanwatch.Scaler(kind="none")
    dynamic = scaler.is_use_dynamic_loss_scaling()
    return nanwatch.Scaler(
        kind="dynamic" if dynamic else "static",
        name="paddle",
        init_scale=float(scaler.get_init_loss_scaling()),
        growth_factor=float(scaler.get_incr_ratio()),
        backoff_factor=float(scaler.get_decr_ratio()),
        growth_interval=int(scaler.get_incr_every_n_steps()),
        hysteresis=int(scaler.get_decr_every_n_nan_or_inf()),
    )
