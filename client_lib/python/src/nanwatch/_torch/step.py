"""A step that is over on the host, and what of it matters to those that
follow."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from nanwatch._torch import layer_scaling
from nanwatch._torch.modules import Row
from nanwatch._torch.readout import Later, Readout
from nanwatch._torch.update import Update


class Step:
    """A step that is over on the host; its numbers may be on their way."""

    __slots__ = (
        "_at_once",
        "_loss",
        "batch",
        "goes_on",
        "layers",
        "more",
        "number",
        "only_if_bad",
        "parts",
        "readout",
        "request",
        "rivals",
        "rows",
        "rows_readout",
        "sampled",
        "scale",
        "time",
        "updates",
    )

    def __init__(
        self,
        number: int,
        time: float,
        loss: Any,
        updates: list[Update],
        readout: Readout,
        rows: list[Row],
        rows_readout: Readout,
        sampled: bool,
        request: int,
        scale: float | None,
        more: dict[str, Any],
        parts: list[Any],
    ) -> None:
        """`parts`: the losses that went backward; tensors are taken to the
        readout."""
        self.number = number
        self.time = time
        self._loss = loss
        self.updates = updates
        self.readout = readout
        self.rows = rows
        self.rows_readout = rows_readout
        self.sampled = sampled  # there are modules that have no rows
        self.request = request
        self.scale = scale
        self.more = more
        self.batch: int | None = None  # the digest of its data
        self.parts = [
            part if type(part) is float else readout.add([part])
            for part in parts
        ]
        # Of layers with loss scales of their own; None: there are none.
        self.layers: layer_scaling.Told | None = None
        self.rivals = False  # each update has a loss of its own
        self.goes_on = False  # the one before has its number: an update more
        self.only_if_bad = False  # told, if anything of it is not finite
        self._at_once = readout.empty()  # nothing has to come from a device

    def take(self, loss: Any, more: dict[str, Any]) -> None:
        """What the program told with it."""
        self._loss, self.more = loss, more

    def start(self) -> None:
        self.readout.start()
        self.rows_readout.start()

    def ready(self) -> bool:
        return self.readout.ready() and self.rows_readout.ready()

    def finish(self) -> None:
        self.readout.finish()
        self.rows_readout.finish()

    def is_plain(self) -> bool:
        """All its numbers are on the host, and nothing is odd about them."""
        loss = self._loss
        odd = self.rows or self.request or self.more or self.layers is not None
        if odd or not self._at_once:
            return False
        if loss is not None and not (
            type(loss) is float and math.isfinite(loss)
        ):
            return False
        for part in self.parts:
            if type(part) is not float or not math.isfinite(part):
                return False
        return all(update.is_plain() for update in self.updates)

    @property
    def loss(self) -> float | None:
        """As the program told it; where that hides that a part of it is not
        finite, this part."""
        if isinstance(self._loss, (list, Later)):
            loss = self.readout.number(self._loss)
        else:
            loss = self._loss
        if self.parts and (loss is None or math.isfinite(loss)):
            place = self.bad_part()
            if place is not None:
                return self._part(place)
        return loss

    def losses(self) -> list[float | None]:
        """Of each update. That of the step, for the last one of an optimizer;
        or where optimizers are rivals the sum of what went backward for it,
        after the update before."""
        loss = self.loss
        if loss is None:
            return [None] * len(self.updates)
        if self.rivals and any(update.losses for update in self.updates):
            return self._own_losses(loss)
        if not math.isfinite(loss):
            return [
                loss if self.is_bad_for(each) else None for each in self.updates
            ]
        last = {id(each.of): each for each in self.updates}
        return [
            loss if last[id(each.of)] is each else None for each in self.updates
        ]

    def _own_losses(self, loss: float) -> list[float | None]:
        told: list[float | None] = []
        begin = 0
        finite = math.isfinite(loss)
        for update in self.updates:
            its = range(begin, min(update.losses, len(self.parts)))
            own = its and (finite or not self.is_bad_for(update))
            told.append(math.fsum(map(self._part, its)) if own else loss)
            begin = update.losses
        return told

    def is_bad_for(self, update: Update) -> bool:
        """The loss is not finite, and began so no later than at `update`; the
        last one has what went backward after it, too."""
        loss = self.loss
        if loss is None or math.isfinite(loss):
            return False
        if update is self.updates[-1]:
            return True
        place = self.bad_part()
        return place is None or not 0 < update.losses <= place

    def forget_after(self, update: Update) -> None:
        """What modules and weights were after it."""
        if update.rows:
            self.rows = self.rows[: update.rows]
        for later in self.updates[self.updates.index(update) + 1 :]:
            later.parameters, later.weight_sizes = [], []
            later.glances = []

    def bad_part(self) -> int | None:
        """The first that is not finite."""
        for place in range(len(self.parts)):
            if not math.isfinite(self._part(place)):
                return place
        return None

    def _part(self, place: int) -> float:
        part = self.parts[place]
        return part if type(part) is float else self.readout.number(part)

    def scale_of(self, update: Update) -> float | None:
        if isinstance(update.scale, (list, Later)):
            return self.readout.number(update.scale)
        return self.scale if update.scale is None else update.scale


class Seen(NamedTuple):
    """What of a step that was told matters to those that follow."""

    overflow: bool  # or its loss was not finite, where no optimizer is followed
    applied: bool  # though it overflowed
    loss_bad: bool
    lost: bool  # weights, to an update before
    unexplained: bool  # something was bad, and not all modules were looked at
