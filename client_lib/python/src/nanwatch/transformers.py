"""Hugging Face Trainer, and those that are built on it (TRL's): one line.

trainer = Trainer(..., callbacks=[nanwatch.transformers.Callback(run="r1")])
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from accelerate import Accelerator
from transformers import TrainerCallback

from nanwatch._torch.agreement import Agreement
from nanwatch._torch.watching import Watch
from nanwatch.torch import watch

__all__ = ["Callback"]


class Callback(TrainerCallback):  # type: ignore[misc]
    """Watches what a Trainer trains. Steps are the Trainer's global steps; the
    loss is the one that goes backward, whoever computes it.

    `stop`: the Trainer stops, in its own way, when nanwatch is asked to stop
    the run; several ranks at the same step. The rest is as for
    `nanwatch.torch.watch`."""

    def __init__(self, *, stop: bool = False, **options: Any) -> None:
        self._stop = stop
        self._options = options
        self._undo: Callable[[], None] | None = None
        self._parts: list[Any] = []
        self._agreement: Agreement | None = None
        self.watch: Watch | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        model, optimizer = more.get("model"), more.get("optimizer")
        options = dict(self._options)
        # Accelerate keeps the scaler with the optimizer that it wraps.
        scaler = getattr(optimizer, "scaler", None)
        options.setdefault("job", getattr(args, "run_name", "") or "")
        options.setdefault("clip_norm", args.max_grad_norm or None)
        options.setdefault("seed", args.seed)
        if args.bf16:
            options.setdefault("precision", "bf16")
        self._close()  # of a training that was interrupted
        self._parts = []
        self.watch = watch(model, optimizer, scaler, **options)
        self._agreement = Agreement() if self._stop else None
        self._undo = _follow_backward(weakref.WeakMethod(self._see_loss))
        weakref.finalize(self, self._undo)

    def _see_loss(self, loss: Any) -> None:
        if isinstance(loss, torch.Tensor) and len(self._parts) < 4096:
            self._parts.append(loss.detach())

    def _take_loss(self, watch: Watch) -> None:
        """A Trainer divides each part of an accumulated step before it goes
        backward: the step's loss is their sum."""
        parts, self._parts = self._parts, []
        if parts:
            watch.add_loss(parts[0] if len(parts) == 1 else sum(parts))

    def on_step_end(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        if self.watch is None:
            return
        self._take_loss(self.watch)
        self.watch.step(step=state.global_step)
        if self._agreement is not None and self._agreement.stops(
            bool(self.watch.should_stop)
        ):
            control.should_training_stop = True

    def on_train_end(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._undo is not None:
            self._undo()
        if self._agreement is not None:
            self._agreement.close()
        if self.watch is not None:
            self.watch.close()


def _follow_backward(
    see: weakref.WeakMethod[Callable[[Any], None]],
) -> Callable[[], None]:
    """Calls `see` with what goes backward through any Accelerator: a callback
    does not get its Trainer's. Returns what ends that."""
    before = Accelerator.backward
    listening = [see]

    @functools.wraps(before)
    def backward(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        for each in listening:
            seen = each()
            if seen is not None:
                seen(loss)
        return before(self, loss, *args, **kwargs)

    def undo() -> None:
        listening.clear()
        if Accelerator.backward is backward:
            Accelerator.backward = before

    Accelerator.backward = backward
    return undo
