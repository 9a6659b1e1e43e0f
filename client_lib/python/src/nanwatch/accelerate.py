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

from typing import Any

import torch
from accelerate.tracking import GeneralTracker

import nanwatch
from nanwatch._run import Run
from nanwatch._torch.readout import on_host
from nanwatch._torch.watching import Watch
from nanwatch.torch import watch

__all__ = ["Tracker"]

# What people call the numbers that they log.
_NAMES = {
    "loss": ("loss", "train_loss", "training_loss", "step_loss", "train/loss"),
    "grad_norm": ("grad_norm", "train/grad_norm"),
    "lr": ("lr", "learning_rate", "train/lr", "train/learning_rate"),
}


class Tracker(GeneralTracker):  # type: ignore[misc]
    """Of every process, since each rank has numbers of its own. Options are as
    for `nanwatch.init`. Without `watch`, what is logged is all that is told;
    with it, the loss alone is taken from there."""

    name = "nanwatch"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = options
        self._run: Run | None = None
        self._watch: Watch | None = None
        self._number = 0

    @property
    def tracker(self) -> Run | None:
        return self._run

    def start(self) -> None:
        self._open()

    def _open(self) -> Run:
        if self._run is None:
            self._run = nanwatch.init(**self._options)
        return self._run

    def watch(
        self, accelerator: Any, model: Any, optimizer: Any, **options: Any
    ) -> Watch:
        """Of a model and an optimizer that `accelerator.prepare` gave."""
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
            self._open()._checks.refuse(
                "log",
                "log() has none of the numbers that a tracker knows (loss, "
                f"grad_norm, lr): {', '.join(map(str, values))[:200]}",
            )
        if not numbers:
            return
        if self._watch is not None:
            # Updates are seen without it: what has no loss ends no step.
            if "loss" in numbers:
                self._watch.step(numbers["loss"], step=step)
            return
        run = self._open()
        checked = None if step is None else run._checks.step(step)
        number = self._number if checked is None else checked
        self._number = number + 1
        run.step(number, **{k: _on_host(v) for k, v in numbers.items()})

    def finish(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._run is not None:
            self._run.close()


def _on_host(value: Any) -> Any:
    """What a step takes: a tensor of a device is left where it is, and
    refused."""
    if isinstance(value, torch.Tensor) and on_host(value):
        return value.detach().item() if value.numel() == 1 else value
    return value
