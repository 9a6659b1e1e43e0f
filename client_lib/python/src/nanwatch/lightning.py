"""Lightning (2.x, also as pytorch_lightning): one line.

    trainer = Trainer(..., callbacks=[nanwatch.lightning.Callback(run="r1")])

With Fabric, which leaves the loop to you, use nanwatch.torch.watch.
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch.callbacks import Callback as _Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback as _Callback

from nanwatch._torch.agreement import Agreement
from nanwatch._torch.watching import Watch
from nanwatch.torch import watch

__all__ = ["Callback"]

_PRECISIONS = {"16": "fp16", "bf16": "bf16", "32": "fp32", "64": "fp64"}


class Callback(_Callback):  # type: ignore[misc]
    """Watches what a Trainer fits. The loss is the one that goes backward.

    `stop`: the Trainer stops, in its own way, when nanwatch is asked to stop
    the run; several ranks at the same step. The rest is as for
    `nanwatch.torch.watch`."""

    def __init__(self, *, stop: bool = False, **options: Any) -> None:
        super().__init__()
        self._stop = stop
        self._options = options
        self._agreement: Agreement | None = None
        self.watch: Watch | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._close()  # of a training that was interrupted
        options = dict(self._options)
        precision = str(trainer.precision).partition("-")[0]
        options.setdefault("precision", _PRECISIONS.get(precision, ""))
        options.setdefault("clip_norm", trainer.gradient_clip_val or None)
        self.watch = watch(
            pl_module,
            trainer.optimizers,
            getattr(trainer.precision_plugin, "scaler", None),
            **options,
        )
        self._agreement = Agreement() if self._stop else None

    def on_before_backward(
        self, trainer: Any, pl_module: Any, loss: Any
    ) -> None:
        if self.watch is not None:
            self.watch.add_loss(loss)

    def on_train_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        if self.watch is None:
            return
        self.watch.step()
        if self._agreement is not None and self._agreement.stops(
            bool(self.watch.should_stop)
        ):
            trainer.should_stop = True

    def on_exception(
        self, trainer: Any, pl_module: Any, exception: BaseException
    ) -> None:
        self._close()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._close()

    def _close(self) -> None:
        if self._agreement is not None:
            self._agreement.close()
        if self.watch is not None:
            self.watch.close()
