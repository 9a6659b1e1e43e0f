"""Accelerate: a tracker, and through it the hooks of nanwatch.torch.

tracker = nanwatch.accelerate.Tracker(run="r1")
accelerator = Accelerator(log_with=tracker)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
accelerator.init_trackers("job")
tracker.watch(accelerator, model, optimizer)  # optional
...
accelerator.log({"loss": loss}, step=step)  # in the loop
"""

from __future__ import annotations

import time
from typing import Any

import torch
from accelerate.tracking import GeneralTracker

import nanwatch
from nanwatch._pending import Pending
from nanwatch._run import Run
from nanwatch._torch.readout import Readout
from nanwatch._torch.watching import Watch
from nanwatch.torch import watch

__all__ = ["Tracker"]

# What people call the numbers that they log.
_NAMES = {
    "loss": ("loss", "train_loss", "training_loss", "step_loss", "train/loss"),
    "grad_norm": ("grad_norm", "train/grad_norm"),
    "lr": ("lr", "learning_rate", "train/lr", "train/learning_rate"),
}

# Calls of log() in a row, at first, after which it is said that they have none.
_UNKNOWN = 8


class _Logged:
    """A step whose numbers may be on a device."""

    __slots__ = ("number", "numbers", "places", "readout", "time")

    def __init__(self, number: int, values: dict[str, Any]) -> None:
        self.number = number
        self.time = time.time()
        self.numbers: dict[str, Any] = {}
        self.places: dict[str, Any] = {}  # in the readout
        self.readout = Readout()
        for name, value in values.items():
            if isinstance(value, torch.Tensor) and value.numel() == 1:
                one = value.detach().reshape(()).clone()
                self.places[name] = self.readout.add([one])
            else:
                self.numbers[name] = value
        self.readout.start()

    def ready(self) -> bool:
        return self.readout.ready()

    def tell(self, run: Run) -> None:
        self.readout.finish()
        for name, place in self.places.items():
            self.numbers[name] = self.readout.number(place)
        run.step(self.number, time=self.time, **self.numbers)


class Tracker(GeneralTracker):  # type: ignore[misc]
    """Of every process, since each rank has numbers of its own. Options are as
    for `nanwatch.init`. Without `watch`, what is logged is all that is told;
    with it, the loss alone is taken from there. Nothing waits for a device."""

    name = "nanwatch"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = options
        self._run: Run | None = None
        self._watch: Watch | None = None
        self._number = 0
        self._logs_losses = False
        # Logs without a number that is known, as an evaluation's; -1: others
        # have some.
        self._unknown = 0
        self._pending: Pending[_Logged] = Pending(
            lambda logged: logged.tell(self._open())
        )

    @property
    def tracker(self) -> Run | None:
        return self._run

    def start(self) -> None:
        self._open()

    def _open(self) -> Run:
        if self._run is None:
            self._run = nanwatch.init(**self._options)
            self._pending.end_with(self._run, self._tell_pending)
        return self._run

    def _tell_pending(self) -> None:
        run = self._run
        if run is not None:
            self._pending.settle(lambda error: run._failed("log", error))

    def watch(
        self, accelerator: Any, model: Any, optimizer: Any, **options: Any
    ) -> Watch:
        """Watches `model` and `optimizer`, which `accelerator.prepare` gave.
        `options` are those of `nanwatch.torch.watch`."""
        options = {**self._options, **options}
        if self._run is not None:
            options["run"] = self._run
        self._watch = watch(model, optimizer, accelerator.scaler, **options)
        self._run = self._watch.run
        return self._watch

    def log(
        self, values: dict[str, Any], step: int | None = None, **more: Any
    ) -> None:
        numbers = {
            name: values[given]
            for name, all_given in _NAMES.items()
            for given in all_given
            if given in values
        }
        if not numbers:
            self._note_unknown(values)
            return
        self._unknown = -1
        if self._watch is not None:
            # Where losses are logged, what has none ends no step: updates are
            # seen without it.
            self._logs_losses |= "loss" in numbers
            if "loss" in numbers or not self._logs_losses:
                self._watch.step(numbers.get("loss"), step=step)
            return
        run = self._open()
        checked = None if step is None else run._checks.step(step)
        number = self._number if checked is None else checked
        self._number = number + 1
        try:
            self._pending.add(_Logged(number, numbers))
        except Exception as error:
            run._failed("log", error)

    def _note_unknown(self, values: dict[str, Any]) -> None:
        if self._unknown < 0 or self._watch is not None:
            return
        self._unknown += 1
        if self._unknown == _UNKNOWN:
            self._open()._checks.refuse(
                "log",
                f"{_UNKNOWN} calls of log() had none of the numbers that a "
                "tracker knows (loss, grad_norm, lr), the last one: "
                f"{', '.join(map(str, values))[:200]}",
            )

    def finish(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._run is not None:
            self._run.close()
