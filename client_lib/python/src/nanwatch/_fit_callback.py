"""What the callbacks of Keras' `fit` have in common, whichever Keras it is."""

from __future__ import annotations

from typing import Any

import nanwatch
from nanwatch._batch_loss import BatchLoss
from nanwatch._owns_run import OwnsRun
from nanwatch._run import Run
from nanwatch._watched_models import is_told_by_another, remember


class FitCallback(OwnsRun):
    """Beside Keras' own Callback, which brings `model`. Tells each batch by
    `_tell`, and stops the training, in Keras's own way, if it may."""

    model: Any

    def __init__(self, *, stop: bool = False, **init: Any) -> None:
        super().__init__()
        self._stop = stop
        self._init = init
        self._number = 0
        self._scale: float | None = None
        self._loss = BatchLoss()

    def _training(self) -> Any:
        return getattr(self, "params", None)  # that Keras gives to all of them

    def _tell(self, run: Run, batch: int, logs: dict[str, Any]) -> None:
        raise NotImplementedError

    def _open(self, init: dict[str, Any]) -> bool:
        """Each `fit` is an attempt of its own. False: another callback tells of
        this one."""
        if self.run is None or self.run.is_closed:
            self.run = None
            if is_told_by_another(self.model, self._training()):
                return False
            self.run = nanwatch.init(**init)
            self._number = 0
            self._loss = BatchLoss()
            remember(self.model, self)
        return True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._loss.begin_epoch()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.run is None:
            return
        try:
            self._tell(self.run, batch, logs or {})
        except Exception as error:
            self.run._failed("on_train_batch_end", error)
        if self._stop and self.run.should_stop:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.run is not None:
            self.run.close()
