"""Hugging Face Trainer, and those that are built on it (TRL's): one line.

trainer = Trainer(..., callbacks=[nanwatch.transformers.Callback(run="r1")])
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from nanwatch._torch.watching import Watch
from nanwatch.torch import watch

__all__ = ["Callback"]


class Callback(TrainerCallback):  # type: ignore[misc]
    """Watches what a Trainer trains. Steps are the Trainer's global steps; the
    loss is the one that the model gives out.

    `stop`: the Trainer stops, in its own way, when nanwatch is asked to stop
    the run. The rest is as for `nanwatch.torch.watch`."""

    def __init__(self, *, stop: bool = False, **options: Any) -> None:
        self._stop = stop
        self._options = options
        self._hook: Any = None
        self.watch: Watch | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        model, optimizer = more.get("model"), more.get("optimizer")
        options = dict(self._options)
        # Accelerate keeps the scaler with the optimizer that it wraps.
        scaler = getattr(optimizer, "scaler", None)
        options.setdefault("job", getattr(state, "run_name", "") or "")
        options.setdefault("clip_norm", args.max_grad_norm or None)
        options.setdefault("seed", args.seed)
        if args.bf16:
            options.setdefault("precision", "bf16")
        self.watch = watch(model, optimizer, scaler, **options)
        if model is not None:
            self._hook = model.register_forward_hook(self._see_loss)

    def _see_loss(self, module: Any, args: Any, output: Any) -> None:
        loss = getattr(output, "loss", None)
        if self.watch is not None and module.training and loss is not None:
            self.watch.add_loss(loss)

    def on_step_end(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        if self.watch is None:
            return
        self.watch.step(step=state.global_step)
        if self._stop and self.watch.should_stop:
            control.should_training_stop = True

    def on_train_end(
        self, args: Any, state: Any, control: Any, **more: Any
    ) -> None:
        if self._hook is not None:
            self._hook.remove()
        if self.watch is not None:
            self.watch.close()
