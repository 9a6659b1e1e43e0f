"""Looks at gradients, weights and updates of the step that goes on: as closely
as the level says, the daemon asks, or the training's state makes worth it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from nanwatch import _update_faults
from nanwatch._steps import Seen
from nanwatch._torch import faults, underflow
from nanwatch._torch.backwards import count_trained
from nanwatch._torch.climbing import Climbing
from nanwatch._torch.comparing import Comparing, NotComparing
from nanwatch._torch.current import Current
from nanwatch._torch.detail import WEIGHTS_EVERY, Detail
from nanwatch._torch.elsewhere import Elsewhere
from nanwatch._torch.guard import Guard
from nanwatch._torch.known_norms import KnownNorms
from nanwatch._torch.modules import Modules
from nanwatch._torch.objective import Objective
from nanwatch._torch.op_names import OpNames
from nanwatch._torch.opponents import Opponents
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.parts import Parts
from nanwatch._torch.readout import Readout
from nanwatch._torch.rivals import Rivals
from nanwatch._torch.telling import LAYERS_EVERY, ROWS_EVERY
from nanwatch._torch.tracing import is_recorded
from nanwatch._torch.untrained import Untrained
from nanwatch._torch.update import Update

# Updates from one look at their size to the next, by level. (By an optimizer's
# own count: a program's numbers may go by epochs, or by parts.)
_UPDATE_EVERY = {"default": 256, "layers": 16, "ops": 16}
# The first of them, when the norms of rows and weights are not due.
_UPDATE_FIRST = 8
_SENT = 0.5  # s, after which what was seen has been sent; ours


class Looks:
    def __init__(
        self,
        current: Current,
        followed: Sequence[Followed],
        guard: Guard,
        modules: Modules,
        detail: Detail,
        names: OpNames,
        scaler: Any,
        *,
        level: str,
        replica: bool,
        comparing: Comparing | NotComparing,
        others: Callable[[], bool],
        untrained: Untrained,
    ) -> None:
        """`replica`: all ranks hold the same weights. `others`: whether any
        weight of the model has a gradient."""
        self._current = current
        self._followed = followed
        self._guard = guard
        self._modules = modules
        self._detail = detail
        self._names = names
        self._scaler = scaler
        self._level = level
        self._replica = replica
        self._comparing = comparing
        self._others = others
        self._untrained = untrained
        self._climbing = Climbing(followed)
        self._elsewhere = Elsewhere(untrained.known)
        self.rivals = Rivals(followed)
        self._opponents = Opponents(untrained.known)
        self._objective = Objective(guard)
        # When a weight of the loss was seen to move, or weights were unfrozen.
        self._moved = -_SENT
        self._trained: list[int] = []

    def follow(self, parts: Parts) -> None:
        """Its backward passes."""
        parts.tell_passes(self.rivals, self._opponents, self._objective)

    def close(self) -> None:
        self._comparing.close()
        self._untrained.close()

    def at_loss(self, loss: Any) -> None:
        """What watch.step() is given, before the step is over."""
        self._climbing.step(loss)
        self._opponents.step(loss)
        now = time.monotonic()
        trained = [count_trained(f.optimizer) for f in self._followed]
        if self._objective.moves or (
            self._trained and trained != self._trained
        ):
            self._moved = now
        self._trained = trained
        self._guard.run._shared.seen = Seen(
            all([f.clearing.fresh for f in self._followed]),
            self._opponents.seen,
            self._objective.follows_rewards,
            now - self._moved < _SENT,
        )
        for update in self._current.updates:
            none = update.fault == _update_faults.NO_BACKWARD
            if none and self._elsewhere.leads(loss):
                update.fault = _update_faults.OTHER_WEIGHTS

    def at_scale(self, followed: Followed) -> None:
        """The scaler is about to step: its gradients have this one."""

        def work() -> None:
            scale = self._scaler.present_scale()
            if isinstance(scale, torch.Tensor):
                scale = self._current.readout.add([scale.detach().reshape(())])
            followed.begin().scale = scale

        self._guard("scale", work)

    def unscaled(self, followed: Followed, anew: bool, **how: Any) -> None:
        """`anew`: it was looked at before, and skipped by the program itself.
        `how`: as for `gradients`."""
        if anew:
            self._abandon(followed)
        if followed.is_unseen():
            self._timed(
                "gradients", functools.partial(self.gradients, followed, **how)
            )

    def before_update(self, followed: Followed, optimizer: Any) -> None:
        self._timed("gradients", self._before_update, followed, optimizer)

    def _before_update(self, followed: Followed, optimizer: Any) -> None:
        update = followed.begin()
        if is_recorded():
            if followed.is_unseen():
                self.gradients(followed, getattr(optimizer, "grad_scale", None))
            return
        is_scaled = followed.was_scaled and not (
            update.looked_at or update.scale is not None
        )
        if (
            self._scaler is not None
            and update.looked_at
            and update.ordinal % WEIGHTS_EVERY < 2
        ):
            followed.measure_again(self._current.readout)
        clipped = update.looked_at
        # A second look would see what was clipped.
        if followed.is_unseen():
            self.gradients(followed, getattr(optimizer, "grad_scale", None))
        every = _UPDATE_EVERY[self._level]
        if update.ordinal % every == _UPDATE_FIRST % every:
            followed.update_size.copy_weights(cheap=self._level == "default")
        if self._untrained.is_due(followed):
            update.asked = self._untrained.look(self._current.readout)
        bare = not update.gradients or (
            clipped and followed.clearing.are_cleared()
        )
        self._see_faults(followed, optimizer, is_scaled, bare)
        update.stuck = followed.stuck.measure(
            update.ordinal, self._current.readout
        )

    def _see_faults(
        self, followed: Followed, optimizer: Any, is_scaled: bool, bare: bool
    ) -> None:
        """`is_scaled`: nobody took the scale out of its gradients. `bare`: it
        has none."""
        update = followed.begin()
        heard = followed.backwards.any_heard()
        not_cleared, if_not_0 = followed.clearing.look()
        if update.was_written and heard and update.scale is None:
            update.zero_means = _update_faults.ZEROED
            if followed.clearing.were_passed_by():
                update.zero_means = _update_faults.NO_BACKWARD
                update.fault_of = followed.name or ""
        if bare:
            others = not heard and self._others()
            update.fault = faults.without_gradients(
                followed, others, self.rivals
            )
            if update.fault == _update_faults.NO_BACKWARD:
                update.fault_of = followed.name or ""
        elif faults.has_no_rate(optimizer):
            update.fault = _update_faults.NO_RATE
        elif is_scaled and followed.clearing.are_as_made():
            update.fault = _update_faults.NOT_UNSCALED
        elif update.scale is not None and followed.backwards.lack_scale():
            update.fault = _update_faults.NOT_SCALED
        elif not_cleared:
            update.fault = not_cleared
            if if_not_0 is not None:
                update.fault_if = self._current.readout.add([if_not_0])
        elif followed.clipped is not None and update.scale is not None:
            update.fault = _update_faults.CLIPPED_SCALED
            self._hang_on(update, followed.clipped)
        elif self._climbing.is_seen:
            update.fault = _update_faults.CLIMBING
        elif self._untrained.is_told_by(followed):
            update.fault = self._untrained.fault
            update.fault_of = self._untrained.of

    def _hang_on(self, update: Update, number: Any) -> None:
        """Its fault is none where that is 0."""
        if not isinstance(number, torch.Tensor):
            update.fault = update.fault if number else _update_faults.NONE
            return
        number = number.detach().reshape(()).float()
        update.fault_if = self._current.readout.add([number])

    def after_update(self, followed: Followed, optimizer: Any) -> None:
        update = followed.begin()
        update.applied = True
        readout = self._current.readout
        found = getattr(optimizer, "found_inf", None)
        if isinstance(found, torch.Tensor):
            update.found_inf = readout.add([found.detach().reshape(())])
        if followed.update_size.are_due():
            self._timed("update", followed.measure_update, readout)

    def gradients(
        self,
        followed: Followed,
        divide_by: Any = None,
        gradient_of: Callable[[Any], Any] | None = None,
        norms: KnownNorms | None = None,
    ) -> None:
        """And at what is looked at with them. `divide_by`: the loss scale,
        where a fused optimizer takes it out. The rest is as for
        `Followed.measure_gradients`."""
        at_once = followed.is_on_host()
        if not at_once:
            self._abandon(followed)
        update = followed.begin()
        first = update.take_gradients() if update.looked_at else None
        ordinal = update.ordinal
        current, ahead = self._current, self._current.ahead(followed)
        count, readout = current.count + ahead, current.readout
        every = LAYERS_EVERY * self._modules.stride.turns
        due = not is_recorded()  # what is so now is not so at each replay
        rich = (
            due
            and self._level != "default"
            and (ordinal % every == 0 or followed.is_new)
        )
        detailed = due and self._detail.covers(count)
        followed.measure_gradients(
            readout,
            largest=rich or detailed or (due and ordinal % ROWS_EVERY == 0),
            zeros=rich or detailed,
            divide_by=divide_by,
            gradient_of=gradient_of,
            norms=norms,
        )
        if first is not None:
            update.keep_first(first)
        if self._comparing.on:
            self._comparing.gradients(followed, divide_by, gradient_of)
        if rich and update.underflow is None:
            update.rich = True
            self._guard(
                "underflow",
                self._measure_underflow,
                update,
                divide_by,
                gradient_of,
            )
        if (
            due
            and not update.weight_sizes
            and self._detail.takes_weights(count, update.is_known_bad())
        ):
            followed.measure_weights(readout)
        # On a host it is known before an update that it is made of NaN.
        unguarded = self._scaler is None and not at_once
        if self._replica or unguarded:
            followed.glance_at_weights(
                readout,
                current.number + ahead,
                self._replica,
                unguarded or not due,
            )

    def _abandon(self, followed: Followed) -> None:
        """What was looked at of it, the program has discarded. Nobody waits for
        those numbers any more: where they are all that there are, they go."""
        if followed.update is None or not followed.update.looked_at:
            return
        followed.end()
        current = self._current
        if not current.updates and not any(f.update for f in self._followed):
            current.readout = Readout()

    def _measure_underflow(
        self,
        update: Update,
        divide_by: Any,
        gradient_of: Callable[[Any], Any] | None,
    ) -> None:
        scale: Any = 1.0
        if self._scaler is not None and divide_by is None:
            # Of one that has moved since, as its gradients have it.
            known = isinstance(update.scale, list)
            scale = update.scale[0] if known else self._scaler.present_scale()
        underflow.measure_update(
            update,
            self._names.half,
            scale,
            update.ordinal,
            self._current.readout,
            gradient_of,
        )

    def _timed(self, what: str, work: Callable[..., None], *of: Any) -> None:
        """Guarded; at level "ops" a part of its budget."""
        if self._level != "ops":
            self._guard(what, work, *of)
            return
        begun = time.perf_counter()
        self._guard(what, work, *of)
        self._modules.seconds += time.perf_counter() - begun
