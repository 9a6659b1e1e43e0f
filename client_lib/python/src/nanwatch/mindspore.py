"""MindSpore: one line for `Model.train`, two for a loop of functions.

model.train(epochs, data, callbacks=[nanwatch.mindspore.Callback(run="r1")])

    watch = nanwatch.mindspore.watch(loss_scaler, optimizer, run="r1")
    ...
    loss_scaler.adjust(finite)
    watch.step(loss, finite, grads)

    watch = nanwatch.mindspore.watch(cell, run="r1")  # of a loss scale
    ...
    watch.step(cell(x, y))
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mindspore

from nanwatch import _compared_arrays, _first_steps, _mindspore_comparing
from nanwatch._arrivals import Arrivals, Copied, Numbers
from nanwatch._init import _silent
from nanwatch._mindspore_run import (
    count_of,
    declared,
    is_cell,
    norm_of,
    number_of,
    open_run,
)
from nanwatch._owns_run import OwnsRun
from nanwatch._pending import Pending
from nanwatch._run import Run
from nanwatch._silent_watch import or_silent
from nanwatch._watched_models import (
    is_told_by_another,
    remember,
    watched_already,
)
from nanwatch._watched_run import WatchedRun

__all__ = ["Callback", "Watch", "watch"]

_mindspore_comparing.prepare()


class _Step(NamedTuple):
    """One that is over on the host; its numbers may be on their way."""

    number: int
    time: float
    arrivals: Arrivals
    loss: Numbers | None
    scale: Numbers | None
    finite: Numbers | None
    gradients: Numbers | None  # their norms
    # Those that there are, with their places. On a host it can be counted what
    # in them is not finite.
    of: Sequence[tuple[int, Any]]
    known: dict[str, Any]
    overflow: Numbers | None = None  # in place of `finite`
    batch: int | None = None  # the digest of its data

    def ready(self) -> bool:
        return self.arrivals.ready()


class Watch(WatchedRun):
    """What `watch` gives. No call raises, or waits for an NPU or a GPU."""

    def __init__(
        self,
        run: Run,
        scaler: Any,
        parameters: Sequence[Any],
        network: Any = None,
        level: str = "default",
    ) -> None:
        super().__init__(run)
        self._parameters = parameters
        # Of the gradients, in their order.
        self._names = [str(p.name) for p in parameters]
        self._scaler = scaler
        self._followed = (scaler,)
        self._scale = _kept(getattr(scaler, "scale_value", None))
        self._compared = _mindspore_comparing.begin(
            level, run, network, parameters, lambda: float(self._scale or 1.0)
        )

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
        finite. `more` is as for `Run.step`. Of a TrainOneStepWithLossScaleCell
        `loss` is all that it returned.

        What is on an NPU or a GPU is copied behind what makes it, and told
        when it is here; on a CPU it is read at once."""
        try:
            self._end_step(loss, finite, grads, step, more)
        except Exception as error:
            self.run._failed("step", error)

    def _end_step(
        self,
        loss: Any,
        finite: Any,
        grads: Sequence[Any] | None,
        step: int | None,
        more: dict[str, Any],
    ) -> None:
        number = self._take_number(step)
        arrivals = Arrivals(_copied)
        used, overflow = self._scale, None
        self._scale = _kept(getattr(self._scaler, "scale_value", None))
        if is_cell(self._scaler) and isinstance(loss, (tuple, list)):
            loss, overflow, used = loss[:3]
        gradients = [(i, g) for i, g in enumerate(grads or ()) if g is not None]
        now = time.time()
        it = _Step(
            number,
            now,
            arrivals,
            self._take_loss(arrivals, loss),
            None if used is None else _add(arrivals, used),
            None if finite is None else _add(arrivals, finite),
            _add_norms(arrivals, [g for _, g in gradients]),
            [(i, g if _on_host(g) else None) for i, g in gradients],
            more,
            None if overflow is None else _add(arrivals, overflow),
            self._end_comparing(number, now, gradients),
        )
        arrivals.start()
        self._pending.add(it)

    def _end_comparing(
        self, number: int, now: float, gradients: Sequence[tuple[int, Any]]
    ) -> int | None:
        if self._compared is None:
            return None
        self._compared.add_gradients(
            (self._names[i], g) for i, g in gradients if i < len(self._names)
        )
        return self._compared.end(number, now, lambda: _named(self._parameters))

    def _take_loss(self, arrivals: Arrivals, loss: Any) -> Numbers | None:
        if isinstance(loss, mindspore.Tensor) and loss.size == 1:
            return _add(arrivals, loss)
        number = self.run._checks.real("loss", loss)
        return None if number is None else [number]

    def _tell_entry(self, it: _Step) -> None:
        it.arrivals.finish()
        told = it.arrivals.number(it.loss)
        numbers: dict[str, Any] = {"scale": it.arrivals.number(it.scale)}
        finite = it.arrivals.number(it.finite)
        overflow = None if finite is None else not finite
        if it.overflow is not None:
            overflow = bool(it.arrivals.number(it.overflow))
        if overflow is not None:
            numbers["overflow"] = overflow
            numbers["skipped"] = overflow and self._scaler is not None
        if it.gradients is not None:
            norms = it.arrivals.numbers(it.gradients)
            numbers["grad_norm"] = norm = math.hypot(*norms)
            if overflow is None:  # nobody looked
                overflow = numbers["overflow"] = not math.isfinite(norm)
                if self._scaler is None:
                    numbers["skipped"] = False
            # A loss that is not finite makes all of them so.
            if overflow and (told is None or math.isfinite(told)):
                self._tell_gradients(it, norms)
        if it.batch is not None:
            numbers["batch_digest"] = it.batch
        numbers.update(it.known)
        self.run.step(it.number, told, **{"time": it.time, **numbers})

    def _tell_gradients(self, it: _Step, norms: Sequence[float]) -> None:
        for (i, gradient), norm in zip(it.of, norms):
            if math.isfinite(norm):
                continue
            counts: dict[str, Any] = (
                count_of(gradient.asnumpy())
                if gradient is not None
                else {"nan": int(norm != norm), "pos_inf": int(norm == norm)}
            )
            named = i < len(self._names)
            self.run.op(
                self._gradient(self._names[i], i, len(self._names))
                if named
                else f"gradient {i}",
                step=it.number,
                slot="grad_input",
                **counts,
            )


def _named(parameters: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(str(p.name), p) for p in parameters]


def _on_host(tensor: Any) -> bool:
    return bool(mindspore.get_context("device_target") == "CPU")


def _add(arrivals: Arrivals, value: Any) -> Numbers:
    """A number, a flag, or a tensor of one element."""
    if not isinstance(value, mindspore.Tensor):
        return [float(value)]
    if _on_host(value):
        return [number_of(value)]
    value = value.reshape(-1)[:1].astype(mindspore.float32)
    return arrivals.add(value, 1)


def _add_norms(arrivals: Arrivals, grads: Sequence[Any]) -> Numbers | None:
    if not grads:
        return None
    if _on_host(grads[0]):
        return [norm_of(g.asnumpy()) for g in grads]
    norms = [
        mindspore.ops.norm(g.astype(mindspore.float32).reshape(-1))
        for g in grads
    ]
    return arrivals.add(mindspore.ops.stack(norms).reshape(-1), len(norms))


def _kept(scale: Any) -> Any:
    """As it is now: a float, or a copy on the device."""
    if not isinstance(scale, mindspore.Tensor):
        return None if scale is None else float(scale)
    # copy() of a Parameter goes by way of the host.
    return number_of(scale) if _on_host(scale) else scale + 0.0


def _copied(tensors: Sequence[Any]) -> Copied:
    """To the host, behind what makes the numbers."""
    flat = mindspore.ops.concat(tuple(tensors))
    return Copied(flat, *_start(flat), lambda host: host.asnumpy().tolist())


def _start(flat: Any) -> tuple[Any, Any]:
    """The host's copy, and the event after which it is there."""
    host = flat.move_to("CPU", blocking=False)
    event = mindspore.runtime.Event()
    event.record()
    return host, event


@or_silent(lambda checks: Watch(_silent(checks), None, []))
def watch(
    scaler: Any = None,
    optimizer: Any = None,
    network: Any = None,
    *,
    level: str = "default",
    **init: Any,
) -> Watch:
    """For a loop of functions (`mindspore.value_and_grad`). `scaler`: a
    DynamicLossScaler or StaticLossScaler of `mindspore.amp`, or the
    TrainOneStepWithLossScaleCell that the loop calls; `optimizer`: its
    parameters are what gradients are called after. `level`: "compare" adds to
    "default" what two runs are compared by, of tensors on the host; in PyNative
    mode of the cells of `network`, too. The rest is as for `nanwatch.init`."""
    if optimizer is None and is_cell(scaler):
        optimizer = scaler.optimizer
    if network is None and is_cell(scaler):
        network = scaler.network
    before = watched_already(optimizer, Watch, scaler)
    if before is not None:
        return before
    init.setdefault("scaler", declared(scaler))
    parameters = getattr(optimizer, "parameters", None) or ()
    run = open_run(init)
    level = _compared_arrays.level_of(level, run)
    it = Watch(run, scaler, list(parameters), network, level)
    if optimizer is not None:
        remember(optimizer, it)
        if not parameters:
            it.run._checks.refuse("optimizer", "it has no parameters")
    _first_steps.limit(it)
    return it


class _Batch(NamedTuple):
    """One of `Model.train`."""

    number: int
    time: float
    arrivals: Arrivals
    found: dict[str, Numbers]
    digest: int | None  # of its data

    def ready(self) -> bool:
        return self.arrivals.ready()


class Callback(OwnsRun, mindspore.train.Callback):  # type: ignore[misc]
    """Tells the loss of each step of `Model.train` and, where the training
    network is a TrainOneStepWithLossScaleCell, its scale and whether it
    skipped the update. With `dataset_sink_mode=True` MindSpore calls it once an
    epoch.

    `level`: "compare" adds to "default" what two runs are compared by, of
    tensors on the host: weights, and in PyNative mode batches, what cells get
    and make, and its gradients.

    `stop`: training stops, in MindSpore's own way, when nanwatch is asked to
    stop the run. The rest is as for `nanwatch.init`."""

    def __init__(
        self, *, stop: bool = False, level: str = "default", **init: Any
    ) -> None:
        super().__init__()
        self._stop = stop
        self._level = level
        self._compared: _compared_arrays.ComparedArrays | None = None
        self._parameters: list[Any] = []
        self._batches = _first_steps.Counted(self)
        self._init = init
        self._pending: Pending[_Batch] = Pending(self._tell_batch)
        self._context: Callable[[], Any] = lambda: None

    def _training(self) -> Any:
        return self._context()

    def on_train_begin(self, run_context: Any) -> None:
        self._context = weakref.ref(run_context)
        if self.run is None or self.run.is_closed:
            network = getattr(
                run_context.original_args(), "train_network", None
            )
            if is_told_by_another(network, run_context):
                return
            init = dict(self._init)
            cell = network if is_cell(network) else None
            init.setdefault("scaler", declared(cell))
            self._tell_pending()
            self.run = open_run(init)
            self._pending.end_with(self.run, self._tell_pending)
            remember(network, self)
            self._begin_comparing(self.run, network)

    def _begin_comparing(self, run: Run, network: Any) -> None:
        try:
            level = _compared_arrays.level_of(self._level, run)
            if network is not None:
                self._parameters = network.trainable_params()
            # Within it: the optimizer's cell is not the model's.
            self._compared = _mindspore_comparing.begin(
                level, run, getattr(network, "network", None), self._parameters
            )
        except Exception as error:
            run._failed("on_train_begin", error)

    def on_train_step_end(self, run_context: Any) -> None:
        if self.run is None:
            return
        try:
            self._end_batch(run_context.original_args())
        except Exception as error:
            self.run._failed("on_train_step_end", error)
        if self._stop and self.run.should_stop:
            run_context.request_stop()

    def _end_batch(self, args: Any) -> None:
        outputs = args.net_outputs
        if not isinstance(outputs, (tuple, list)):
            outputs = [outputs]
        arrivals = Arrivals(_copied)
        found = {"loss": _add(arrivals, outputs[0])}
        if len(outputs) >= 3 and is_cell(args.train_network):
            found["overflow"] = _add(arrivals, outputs[1])
            found["scale"] = _add(arrivals, outputs[2])
        rate = getattr(args.optimizer, "learning_rate", None)
        if isinstance(rate, mindspore.Parameter) and rate.size == 1:
            found["lr"] = _add(arrivals, rate)
        arrivals.start()
        number, now, digest = args.cur_step_num - 1, time.time(), None
        if self._compared is not None:
            digest = self._compared.end(
                number, now, lambda: _named(self._parameters)
            )
        self._pending.add(_Batch(number, now, arrivals, found, digest))
        self._batches.add()

    def _tell_batch(self, it: _Batch) -> None:
        assert self.run is not None
        it.arrivals.finish()
        numbers: dict[str, Any] = {
            name: it.arrivals.numbers(at)[0] for name, at in it.found.items()
        }
        if "overflow" in numbers:
            numbers["overflow"] = bool(numbers["overflow"])
            numbers["skipped"] = numbers["overflow"]
        if it.digest is not None:
            numbers["batch_digest"] = it.digest
        self.run.step(it.number, time=it.time, **numbers)

    def _tell_pending(self) -> None:
        """Tells of all steps that are over; waits for the device."""
        run = self.run
        if run is not None:
            self._pending.settle(
                lambda error: run._failed("on_train_end", error)
            )

    def on_train_end(self, run_context: Any) -> None:
        if self.run is not None:
            self.run.close()
