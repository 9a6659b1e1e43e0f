"""PaddlePaddle: two lines in a loop.

watch = nanwatch.paddle.watch(model, optimizer, scaler, run="r1")
...
scaler.step(optimizer)
scaler.update()
watch.step(loss)  # before optimizer.clear_grad()
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import paddle

import nanwatch
from nanwatch import _compared_arrays, _first_steps
from nanwatch._arrivals import Arrivals, Copied, Numbers
from nanwatch._init import _silent
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._watched_models import remember, watched_already
from nanwatch._watched_run import WatchedRun

__all__ = ["Watch", "watch"]

# Steps from one look at all weights to the next.
_WEIGHTS_EVERY = 32
_TENSORS = 4  # of one call's inputs, and of its outputs


class _Step:
    """One that is over on the host; its numbers may be on their way."""

    __slots__ = (
        "arrivals",
        "batch",
        "found",
        "gradients",
        "known",
        "loss",
        "names",
        "number",
        "scale",
        "time",
        "weights",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.time = time.time()
        self.arrivals = Arrivals(_copied)
        self.loss: Numbers | None = None
        self.scale: Numbers | None = None
        self.found: Numbers | None = None  # NaN or Inf, by the scaler
        self.names: list[str] = []  # of parameters that have a gradient
        self.gradients: Numbers | None = None  # their norms
        self.weights: Numbers | None = None  # all of them
        self.batch: int | None = None  # the digest of its data
        self.known: dict[str, Any] = {}  # what is on the host

    def ready(self) -> bool:
        return self.arrivals.ready()


class Watch(WatchedRun):
    """What `watch` gives. No call raises, or waits for a device."""

    def __init__(
        self,
        run: Run,
        model: Any,
        optimizer: Any,
        scaler: Any,
        level: str = "default",
    ) -> None:
        super().__init__(run)
        self._optimizer = optimizer
        self._scaler = scaler
        self._followed = (optimizer, scaler)
        self._scale = _kept(getattr(scaler, "_scale", None))
        self._parameters = list(model.named_parameters()) if model else []
        if model is not None and not self._parameters:
            run._checks.refuse("model", "the model has no parameters")
        self._look = False  # at the weights: something was not finite
        self._was_bad = False  # so was the step before
        self._lost: set[str] = set()  # weights that were told as not finite
        self._compared = _compared_arrays.begin(level, run, _array_of)
        if self._compared is not None and model is not None:
            _Comparing(self._compared, model, scaler)
            self._compared.add_weights(self._parameters)

    def step(
        self, loss: Any = None, *, step: int | None = None, **more: Any
    ) -> None:
        """Says that a step is over: after `scaler.update()`, before
        `clear_grad()`, since the norm is of the gradients that are there.
        `more` is as for `Run.step`.

        Loss, scale and norms may be on a device: they are copied behind what
        makes them, and told when they are here."""
        try:
            self._end_step(loss, step, more)
        except Exception as error:
            self.run._failed("step", error)

    def _end_step(
        self, loss: Any, number: int | None, more: dict[str, Any]
    ) -> None:
        it = _Step(self._take_number(number))
        if loss is not None:
            it.loss = self._take_loss(it.arrivals, loss)
        # It turns itself off at its first `scale`, without auto_cast to fp16.
        if _is_on(self._scaler):
            # That of the update, not the next one's.
            it.scale = _add(it.arrivals, self._scale)
            it.found = _add(it.arrivals, self._scaler._cache_found_inf)
            self._scale = _kept(self._scaler._scale)
        it.names, norms = _norms(
            (name, p.grad)
            for name, p in self._parameters
            if p.grad is not None and not p.grad.is_sparse()
        )
        if norms is not None:
            it.gradients = _add(it.arrivals, norms)
        if self._look or it.number % _WEIGHTS_EVERY == 0:
            self._look = False
            _, norms = _norms(self._parameters)
            if norms is not None:
                it.weights = _add(it.arrivals, norms)
        if self._optimizer is not None:
            it.known["lr"] = float(self._optimizer.get_lr())
        it.known.update(more)
        if self._compared is not None:
            self._compared.add_gradients(
                (name, p.grad)
                for name, p in self._parameters
                if p.grad is not None and not p.grad.is_sparse()
            )
            it.batch = self._compared.end(
                it.number, it.time, lambda: self._parameters
            )
        it.arrivals.start()
        self._pending.add(it)

    def _take_loss(self, arrivals: Arrivals, loss: Any) -> Numbers | None:
        if isinstance(loss, paddle.Tensor) and loss.size == 1:
            return _add(arrivals, loss)
        number = self.run._checks.real("loss", loss)
        return None if number is None else [number]

    def _tell_entry(self, it: _Step) -> None:
        it.arrivals.finish()
        loss = it.arrivals.number(it.loss)
        numbers: dict[str, Any] = {}
        if it.found is not None:
            found = bool(it.arrivals.number(it.found))
            numbers = {
                "scale": it.arrivals.number(it.scale),
                "overflow": found,
                "skipped": found,
            }
        bad = loss is not None and not math.isfinite(loss)
        if it.gradients is not None:
            norms = it.arrivals.numbers(it.gradients)
            numbers["grad_norm"] = math.hypot(*norms)
            if it.found is None:
                finite = math.isfinite(numbers["grad_norm"])
                numbers.update(overflow=not finite, skipped=False)
            if not bad:  # a loss that is not finite makes all of them so
                self._tell_gradients(it, norms)
        if it.weights is not None:
            self._tell_weights(it, it.arrivals.numbers(it.weights))
        bad = bad or bool(numbers.get("overflow"))
        self._look = self._look or (bad and not self._was_bad)
        self._was_bad = bad
        if it.batch is not None:
            numbers["batch_digest"] = it.batch
        numbers.update(it.known)
        self.run.step(it.number, loss, **{"time": it.time, **numbers})

    def _tell_gradients(self, it: _Step, norms: Sequence[float]) -> None:
        places = {name: i for i, (name, _) in enumerate(self._parameters)}
        for name, norm in zip(it.names, norms):
            if not math.isfinite(norm):
                op = self._gradient(name, places[name], len(places))
                self._tell_bad(op, it, "grad_input", norm)

    def _tell_weights(self, it: _Step, norms: Sequence[float]) -> None:
        """Those that are not finite, and once they are so again; all of them
        are what an update of NaN leaves behind, and name nothing."""
        bad = [not math.isfinite(norm) for norm in norms]
        if all(bad) and len(bad) > 1:
            return
        for (name, _), norm, its_bad in zip(self._parameters, norms, bad):
            if its_bad:
                self._lost.add(name)
                self._tell_bad(name, it, "parameter", norm)
            elif name in self._lost:
                self._lost.discard(name)
                self.run.op(name, step=it.number, slot="parameter", nan=0)

    def _tell_bad(
        self, op: int | str, it: _Step, slot: str, norm: float
    ) -> None:
        self.run.op(
            op,
            step=it.number,
            slot=slot,
            nan=int(math.isnan(norm)),
            pos_inf=int(math.isinf(norm)),
        )


class _Comparing:
    """Hooks on a model's layers, of what they get and make."""

    def __init__(self, compared: Any, model: Any, scaler: Any) -> None:
        self._compared = compared
        self._scaler = scaler
        model.register_forward_pre_hook(self._begins)
        for name, layer in model.named_sublayers(include_self=True):
            layer.register_forward_post_hook(self._hook(name or "model"))

    def _begins(self, layer: Any, given: Any) -> None:
        if layer.training and paddle.is_grad_enabled():
            self._compared.take_batch(_tensors(given))

    def _hook(self, name: str) -> Any:
        def hook(layer: Any, given: Any, made: Any) -> None:
            on = self._compared.on and layer.training
            if not on or not paddle.is_grad_enabled():
                return
            kind = type(layer).__name__
            given, made = _tensors(given), _tensors(made)
            self._compared.add(name, kind, "input", *given)
            self._compared.add(name, kind, "output", *made)
            for slot, tensors in ("grad_output", made), ("grad_input", given):
                for tensor in tensors:
                    if not tensor.stop_gradient and not tensor.is_leaf:
                        tensor.register_hook(self._gradient(name, kind, slot))

        return hook

    def _gradient(self, name: str, kind: str, slot: str) -> Any:
        def hook(gradient: Any) -> None:
            scaler = self._scaler
            scale = float(scaler._scale.item()) if _is_on(scaler) else 1.0
            self._compared.add_backward(name, kind, slot, scale, gradient)

        return hook


def _tensors(value: Any) -> list[Any]:
    of = value if isinstance(value, (list, tuple)) else [value]
    return [x for x in of if isinstance(x, paddle.Tensor)][:_TENSORS]


def _array_of(tensor: Any) -> tuple[Any, str]:
    if not _on_host(tensor):
        return None, ""
    # NumPy has no such format: its bits come as integers.
    bf16 = tensor.dtype == paddle.bfloat16
    return tensor.detach().numpy(), "bf16" if bf16 else ""


def _on_host(tensor: Any) -> bool:
    return bool(tensor.place.is_cpu_place())


def _add(arrivals: Arrivals, value: Any) -> Numbers:
    """A number, a flag, or a tensor, whose elements are taken."""
    if not isinstance(value, paddle.Tensor):
        return [float(value)]
    value = value.detach().flatten()
    if _on_host(value):
        numbers: list[float] = value.tolist()
        return numbers
    return arrivals.add(value.astype("float32"), int(value.size))


def _kept(scale: Any) -> Any:
    """As it is now: a float, or a copy on the device."""
    if scale is None or not _on_host(scale):
        return scale if scale is None else scale.clone()
    return float(scale.item())


def _copied(tensors: Sequence[Any]) -> Copied:
    """Into memory that a device reaches by itself."""
    with paddle.no_grad():
        flat = paddle.concat(list(tensors))
    return Copied(flat, *_start(flat), lambda host: host.tolist())


def _start(flat: Any) -> tuple[Any, Any]:
    """The host's copy, and the event after which it is there."""
    if not (flat.place.is_gpu_place() or flat.place.is_custom_place()):
        return flat, None
    host = (
        flat.pin_memory(blocking=False)
        if flat.place.is_gpu_place()
        else flat._copy_to(paddle.CPUPlace(), False)
    )
    event = paddle.device.Event(flat.place)
    event.record()
    return host, event


def _norms(named: Any) -> tuple[list[str], Any]:
    """Of tensors by name; None: there are none."""
    with paddle.no_grad():
        found = {
            name: paddle.linalg.norm(tensor.astype("float32").flatten())
            for name, tensor in named
        }
        if not found:
            return [], None
        return list(found), paddle.stack(list(found.values()))


@or_silent(lambda checks: Watch(_silent(checks), None, None, None))
def watch(
    model: Any = None,
    optimizer: Any = None,
    scaler: Any = None,
    *,
    level: str = "default",
    **init: Any,
) -> Watch:
    """`scaler`: a `paddle.amp.GradScaler`; Paddle itself turns it off on a CPU.
    `level`: "compare" adds to "default" what two runs are compared by, of
    tensors on the host. The rest is as for `nanwatch.init`."""
    before = watched_already(model, Watch, optimizer, scaler)
    if before is not None:
        return before
    init.setdefault("framework", "paddle")
    init.setdefault("scaler", _declared(scaler))
    init.setdefault("overflow_mode", "inf_nan")
    init.setdefault("device", str(paddle.device.get_device()))
    add_settings(init, paddle=paddle.__version__)
    run = nanwatch.init(**init)
    level = _compared_arrays.level_of(level, run)
    it = Watch(run, model, optimizer, scaler, level)
    if model is not None:
        remember(model, it)
    _first_steps.limit(it)
    return it


def _is_on(scaler: Any) -> bool:
    return scaler is not None and bool(scaler.is_enable())


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
