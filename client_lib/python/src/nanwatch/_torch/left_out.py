"""Updates that a program leaves out: it told a step, and called no optimizer.
What accumulates gradients looks the same, until its optimizer is called."""

from __future__ import annotations

import collections
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from nanwatch._checks import Checks
from nanwatch._torch.held import NO_PART, Evaluation, Held, Part
from nanwatch._torch.losses import Losses, is_bad
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.parts import Parts
from nanwatch._torch.readout import Readout
from nanwatch._torch.strangers import Strangers
from nanwatch._torch.update import Update
from nanwatch._update_faults import NO_STEP, NONE

_FEW = 8  # updates in a row, not finite, that are nobody's business
_LATELY = 8  # updates
_MANY = 1024  # parts, of which evaluations are not kept

# Tells one of them: its part, its updates, its loss, the losses that went
# backward for it, and whether to do so only if one of all this is not finite.
Tell = Callable[[Part, "list[Update]", Any, "list[Any]", bool], None]
# Tells losses that nothing was computed of, as one, if any is not finite.
TellEvaluations = Callable[["Sequence[Evaluation]", "list[Update]"], None]


class LeftOut:
    def __init__(
        self,
        followed: Sequence[Followed],
        losses: Losses,
        parts: Parts,
        checks: Checks,
        *,
        is_scaled: bool,
        readout: Callable[[], Readout],
        rows: Callable[[], int],
        tell: Tell,
        tell_evaluations: TellEvaluations,
        is_training: Callable[[], bool],
    ) -> None:
        """`losses` and `parts` are what is told and went backward since the
        last step, `readout` gives the one that this step's numbers are in,
        `rows` how many there are of modules. `is_training`: the model's
        mode."""
        self._followed = followed
        self._losses = losses
        self._parts = parts
        self._checks = checks
        self._is_scaled = is_scaled
        self._readout = readout
        self._rows = rows
        self._tell = tell
        self._tell_them = tell_evaluations
        self._is_training = is_training
        self._held = Held()
        self._strangers = Strangers()
        self._strangers.listen(followed)
        self._is_called = False  # an optimizer, for the step that goes on
        self._hears = False  # what goes backward, as of the last update
        self._are_unheard = False  # dozens of losses since
        # Gradients that were discarded without a word: since an optimizer was
        # called, of the last updates, and in a row that were not finite.
        self._discards = 0
        self._lately: collections.deque[int] = collections.deque(maxlen=_LATELY)
        self._bad_in_a_row = 0
        parts.when_discarded = self._discarded

    def close(self) -> None:
        self._parts.when_discarded = None
        self._strangers.close()

    def updated(self) -> None:
        """An optimizer was called, whether it updated or not."""
        self._strangers.forget()
        self._is_called = True
        self._are_unheard = False
        self._lately.append(self._discards)
        self._discards = self._bad_in_a_row = 0

    def replayed(self) -> None:
        """A CUDA graph of which nothing is known."""
        self._strangers.replayed()

    def applied(self) -> None:
        """The step is over: what is held is of it."""
        self._is_called = False
        self._hears = not self._parts.empty()
        if self._hears and self._held.parts:
            self._tell_evaluations()
        self._held.applied()

    def strange(self) -> None:
        """A step is told, though no optimizer was called."""
        self._held.strange()

    def may_be_part(self, loss: Any) -> bool:
        """Of a step whose optimizer is not called yet: unless others update
        the model, or it is no part (`hold`) and another thread trains it."""
        if self._is_none(loss) and not self._are_trained_here():
            return False
        heard = not self._parts.empty()
        if self._strangers.are_at_work(
            self._followed, counts=heard or not self._hears, heard=heard
        ):
            self._checks.refuse("optimizer made anew", self._strangers.why())
            return False
        return True

    def hold(self, loss: Any, number: int | None, trains: bool) -> None:
        """A part of a step, whose loss may go backward (`trains`); or an
        update that the program left out, if that is sure. Where gradients are
        accumulated the optimizer is called with what is not finite in a part,
        or there are too many of them. What is not finite and did not go
        backward is no part."""
        if self._is_none(loss):
            self._tell_one(self._anew(), loss, number)
            return
        if loss is not None:
            self._losses.waiting.append(loss)
        self._losses.keep()
        held = self._held
        held.hold(
            Part(
                len(self._losses.waiting),
                self._parts.count(),
                number,
                time.time(),
                self._rows(),
                trains,
            ),
            self._followed,
        )
        if self._hears and len(held.parts) % _MANY == 0:
            self._tell_evaluations()
        if self._strangers.have_updated() or not self._are_trained_here():
            return
        known = self._are_unheard
        if self._hears and held.are_unheard(known) and self._is_training():
            self._tell_unheard()
            return
        too_many = held.is_too_much()
        if not too_many and not held.is_alone():
            return
        bad = self._is_known_bad()
        if too_many and not bad:
            self._checks.refuse(
                "updates left out",
                f"no optimizer that watch() was given was called in "
                f"{len(held.parts)} steps in a row, though losses went "
                "backward: none of them updates the model",
            )
        if too_many or bad:
            self._tell_all(NONE if bad else NO_STEP)

    def _is_none(self, loss: Any) -> bool:
        return is_bad(loss) and self._parts.empty()

    def _discarded(self) -> None:
        """Gradients are gone that no optimizer was called for: what was told
        with them was left out; unless none ever was, and whoever updates this
        model may just have done so. What a program says nothing of is none of
        its steps, as long as there are few of them in a row; what they were is
        not known at once on a device."""
        if (
            any(f.backwards.in_closure for f in self._followed)
            or self._strangers.have_updated()
            or not self._are_trained_here()
        ):
            return
        held = self._held
        if held.parts and not self._is_called:
            self._tell_evaluations()
        if held.parts and not self._is_called:
            theirs = self._losses.waiting[: held.parts[-1].losses]
            if held.may_be_a_step(any(map(is_bad, theirs))):
                if held.adds_up() or held.are_as_many():
                    held.parts = held.parts[-1:]
                self._tell_all()
            return
        self._discards += 1
        updates = [f.update for f in self._followed if f.update is not None]
        for followed in self._followed:
            if followed.is_on_host():  # else its numbers are on their way
                followed.end()
        at_once = all(f.is_on_host() for f in self._followed)
        if at_once and not (
            self._parts.has_bad() or any(a.is_known_bad() for a in updates)
        ):
            self._bad_in_a_row = 0
            return
        self._bad_in_a_row += 1
        if self._bad_in_a_row < _FEW + max(self._lately, default=0):
            return
        backward = self._parts.take_discarded()
        self._tell_one(
            updates or self._anew(),
            next(filter(is_bad, reversed(backward)), None),
            None,
            [] if at_once else backward,
            only_if_bad=not at_once,
        )

    def _tell_evaluations(self) -> None:
        """Those of the parts that are held."""
        found = self._held.take_evaluations(self._losses.waiting)
        bad = [[each] for each in found if is_bad(each.loss)]
        later = [each for each in found if type(each.loss) is not float]
        for evaluations in [*bad, later] if later else bad:
            updates = self._anew()
            for update in updates:
                self._leave_out(update)
            self._tell_them(evaluations, updates)

    def _tell_unheard(self) -> None:
        """Whoever trains this model does so by means that are not seen."""
        self._are_unheard = True
        losses, self._losses.waiting = self._losses.waiting, []
        begun = 0
        for part in self._held.parts:
            self._losses.waiting = losses[begun : part.losses]
            loss = self._losses.take_mean(self._readout())
            self._tell(part._replace(rows=0), [], loss, [], False)
            begun = part.losses
        self._held.strange()

    def tell_last(self) -> None:
        """At the end, if something of it is not finite: one step's parts."""
        held = self._held
        if not held.parts or self._strangers.have_updated():
            return
        if all(math.isfinite(float(loss)) for loss in self._losses.waiting):
            return
        if held.adds_up():
            held.parts = held.parts[-1:]
        self._tell_all()

    def _are_trained_here(self) -> bool:
        """Whose gradients may not be looked at may well be accumulated."""
        return all(followed.is_trained_here() for followed in self._followed)

    def _is_known_bad(self) -> bool:
        """What went backward is not finite, on the host."""
        if self._parts.empty():
            return False
        if any(map(is_bad, self._losses.waiting)):
            return True
        if self._is_scaled:
            return False
        return any([self._has_bad_gradients(each) for each in self._followed])

    def _has_bad_gradients(self, followed: Followed) -> bool:
        if followed.update is None and followed.is_on_host():
            followed.measure_gradients(
                self._readout(), largest=False, zeros=False
            )
            if not followed.begin().is_known_bad():
                followed.end()  # the optimizer may come yet
        return followed.is_known_bad()

    def _anew(self) -> list[Update]:
        return [Update(followed) for followed in self._followed]

    def _tell_one(
        self,
        updates: list[Update],
        loss: Any,
        number: int | None,
        backward: Sequence[Any] = (),
        only_if_bad: bool = False,
    ) -> None:
        for update in updates:
            self._leave_out(update)
        self._strangers.were_none()
        part = Part(0, 0, number, time.time(), self._rows())
        self._tell(part, updates, loss, list(backward), only_if_bad)

    def _leave_out(self, update: Update) -> None:
        update.applied, update.lr = False, update.of.rate()
        update.left_out = True

    def _tell_all(self, fault: int = NONE) -> None:
        """What is held, each as an update of its own that was not applied."""
        losses, self._losses.waiting = self._losses.waiting, []
        backward = self._parts.take()
        begun = NO_PART
        self._strangers.were_none()
        for part in self._held.take():
            updates = []
            for followed in self._followed:
                # The first of them has what was looked at since.
                update = followed.begin()
                self._leave_out(update)
                update.fault = fault
                followed.end()
                updates.append(update)
            self._losses.waiting = losses[begun.losses : part.losses]
            self._tell(
                part._replace(rows=part.rows - begun.rows),
                updates,
                self._losses.take_mean(self._readout()),
                backward[begun.backward : part.backward],
                False,
            )
            begun = part
        self._losses.waiting = losses[begun.losses :]
