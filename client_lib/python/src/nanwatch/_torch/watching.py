"""Watch: the hooks of one model and its optimizers, and what they tell."""

from __future__ import annotations

import copy
import functools
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from nanwatch import _samples
from nanwatch._names import OPTIMIZERS
from nanwatch._run import Run
from nanwatch._shown import Shown
from nanwatch._torch import (
    clipping,
    comparing,
    open_watches,
    parts,
    replicas,
    scaling,
    scripting,
)
from nanwatch._torch.before_clipping import BeforeClipping
from nanwatch._torch.current import Current
from nanwatch._torch.detail import Detail
from nanwatch._torch.first_forward import FirstForward
from nanwatch._torch.graphs import Graphs
from nanwatch._torch.guard import Guard
from nanwatch._torch.held import Evaluation, Part
from nanwatch._torch.hooks import hold, let_go
from nanwatch._torch.layer_scaling import LayerScaling
from nanwatch._torch.left_out import LeftOut
from nanwatch._torch.looking import Looks
from nanwatch._torch.losses import Losses, is_bad
from nanwatch._torch.modules import NONE_TOLD, Modules, Row, inner
from nanwatch._torch.naming import name_copies, name_parameters
from nanwatch._torch.optimizers import Followed, plain
from nanwatch._torch.readout import Readout, on_host
from nanwatch._torch.step import Step
from nanwatch._torch.telling import Teller
from nanwatch._torch.tracing import may_compile, uncompiled, weakly
from nanwatch._torch.untold import Untold
from nanwatch._torch.untrained import Untrained
from nanwatch._torch.update import Update

LEVELS = ("default", "layers", "ops", comparing.LEVEL)

_is_kept = False  # from compilers


class Watch(Shown):
    """What `nanwatch.torch.watch` gives. The thread that trains calls; no call
    raises, or waits for a device.

    Only the model and its optimizers' hooks hold it, and it goes with them."""

    _closed = True  # until it is made
    layers: LayerScaling | None = None  # with loss scales of their own

    def __init__(
        self,
        run: Run,
        owns_run: bool,
        model: Any,
        optimizers: Mapping[str | None, Any],
        scaler: Any,
        level: str,
        budget: float,
    ) -> None:
        _keep_from_compilers()
        self.run = run
        self._owns_run = owns_run
        self._checks = run._checks
        # What is compared comes on top of what is said by default.
        self._level = "default" if level == comparing.LEVEL else level
        self._budget = budget
        self._given_scaler = scaler
        self._scaler = scaler = scaling.of(scaler)
        self._guard = guard = Guard(run)
        together = len(optimizers) > OPTIMIZERS
        self._current = current = Current(len(optimizers), together=together)
        self._losses = Losses(run._checks)
        self._last_time = 0.0

        self._named = named = name_parameters(inner(model))
        if self._scaler is not None:
            name_copies(named, self._scaler.copies())
        replica = replicas.is_digested(model, owns_run)
        self.modules = Modules(model, self._guard)
        self._detail = detail = Detail(self.modules)
        self._teller = Teller(
            run,
            self._level,
            replica,
            self.modules,
            lambda seen: detail.after(seen, current.count),
            together=together,
        )
        self._untold = Untold(self._teller, self._guard)
        self._followed = [
            Followed(
                plain(optimizer),
                name,
                named,
                self._before_update,
                self._after_update,
                is_scaled=self._scaler is not None,
            )
            for name, optimizer in optimizers.items()
        ]
        named.trained = lambda: {
            id(p) for f in self._followed for p in f.tensors()
        }
        named.retire()
        self._by_id = {id(f.optimizer): f for f in self._followed}
        if replica:
            self._teller.names.name_weights(self._followed)
        self._comparing = comparing.begin(level, run, model, guard, scaler)
        self._looks = Looks(
            current,
            self._followed,
            self._guard,
            self.modules,
            detail,
            self._teller.names,
            self._scaler,
            level=self._level,
            replica=replica,
            comparing=self._comparing,
            others=lambda: any(p.grad is not None for p in model.parameters()),
            untrained=Untrained(model, named, self._followed, guard),
        )
        if self._scaler is not None:
            # A scaler may well be another model's, later.
            self._scaler.follow(
                weakly(self._before_step),
                weakly(self._unscaled),
                weakly(self._after_step),
            )
            # Until the first forward pass says so; a compiled one does not.
            self._teller.names.half = True
        is_scaled = self._scaler is not None
        self._parts = parts.Parts(self._followed, guard, is_scaled=is_scaled)
        self._looks.follow(self._parts)
        if self._scaler is not None:
            self._scaler.follow_losses(weakly(self._parts.scaled))
        if not is_scaled or len(self._followed) > 1:
            parts.listen(self._parts)
        self._left_out = LeftOut(
            self._followed,
            self._losses,
            self._parts,
            self._checks,
            is_scaled=is_scaled,
            readout=lambda: current.readout,
            rows=lambda: len(self.modules.rows),
            tell=self._tell_left_out,
            tell_evaluations=self._tell_evaluations,
            is_training=lambda: bool(getattr(self._model, "training", True)),
        )
        self._graphs = Graphs(
            current,
            self._followed,
            self._parts,
            self._guard,
            self._tell_updates,
            self._left_out,
        )
        self._before_clipping = BeforeClipping(
            self._followed,
            self._checks,
            self._guard,
            lambda its, norms: self._looks.gradients(its, norms=norms),
            is_scaled=is_scaled,
        )
        clipping.listen(self._before_clipping)
        scripting.listen()
        self._model = model
        hold(model, self)
        self._first = FirstForward(
            model,
            named,
            self._teller.names,
            self.modules,
            self._guard,
            is_scaled=is_scaled,
        )
        if level == "ops":
            self.modules.enable()
        run.before_settling(
            weakref.WeakMethod(self._untold.tell_before_settling)
        )
        run.before_turns(weakref.WeakMethod(self._untold.tell_usual))
        self._closed = False
        open_watches.remember(self)

    # ------------------------------------------------------- for the training

    def step(
        self,
        loss: Any = None,
        *unknown: Any,
        step: int | None = None,
        scale: float | None = None,
        **more: Any,
    ) -> None:
        """Says that a step is over: after `optimizer.step()`, once each. Where
        gradients are accumulated it may be called for each part; the parts
        that no optimizer followed become one step with the next that one did,
        and its loss is their mean. Where it is called once for many updates
        each of them is a step, and the last one has the loss.

        `loss` may be a tensor of one element on any device: it is not read
        here. `step` is counted from 0 if it is not given. `scale` is for a
        loss scale without a GradScaler. `more` is as for `Run.step`, `batch`
        among it."""
        if self._closed:
            self._checks.refuse("closed", "step() of a watch that was closed")
            return
        if not self._guard.lets("step"):
            return
        if unknown:
            self._checks.refuse(
                "an argument", "step() takes the loss; the rest by name"
            )
        try:
            self._end_step(loss, step, scale, more)
        except Exception as error:
            self._guard.failed("step", error)

    def add_loss(self, loss: Any) -> None:
        """A part of the next step's loss, which becomes the mean of them."""
        if not self._closed:
            self._guard("loss", self._losses.add, loss)
            self._guard("loss", self._losses.keep)

    @property
    def should_stop(self) -> str:
        """Why somebody asks this training to stop; empty while nobody does."""
        return self.run.should_stop

    def before_clipping(self, parameters: Any = None) -> None:
        """Looks at the gradients now. Needed only where a program clips by
        means of its own, without a GradScaler. `parameters`: whose gradients
        they are; None: all."""
        if not self._closed:
            self._before_clipping.before_clipping(parameters)

    def flush(self, timeout: float = 2.0) -> bool:
        """Waits for the device, and until the daemon has everything, at most
        `timeout` seconds each. True: it has."""
        self._guard("flush", lambda: self._untold.tell_ready(most=0))
        return self.run.flush(timeout)

    def close(self, timeout: float = 2.0) -> bool:
        """Takes the hooks off and closes the run, if `watch` opened it. Called
        again, it says the same."""
        if self._closed:
            return self.run.close(0.0) if self._owns_run else True
        self._closed = True
        self._tell_rest()
        self._take_off()
        if self._scaler is not None:
            self._scaler.close()
        return self.run.close(timeout) if self._owns_run else True

    def goes_on_from(self, before: Watch) -> None:
        """A run has no number twice."""
        self._current.numbering = before._current.numbering.goes_on()

    def _take_off(self) -> None:
        clipping.forget(self._before_clipping)
        parts.forget(self._parts)
        self._graphs.close()
        self._left_out.close()
        if self.layers is not None:
            self.layers.close()
        self._first.close()
        self._looks.close()
        let_go(self._model)
        self.modules.disable()
        for followed in self._followed:
            followed.close()

    def __del__(self) -> None:
        """Nobody has it, its model or its optimizers any more, and nobody
        closed it. This is the garbage collector's call, which comes at any
        place of any thread: the sender does what is left to do."""
        if not self._closed:
            self.run.leave_to_sender(self._leave)

    def _leave(self) -> None:
        """By the sender: tells what was not told, ends the run, and lets go of
        all that this was made of, which would wait for the next collection."""
        self._closed = True
        self._tell_rest()
        # A scaler may be another watch's by now; ours is not heard any more.
        self._guard("hooks", self._take_off)
        if self._owns_run:
            self.run.end_by_sender()
        made = (self.modules, self._parts, self._before_clipping)
        for part in (*made, *self._followed, self):
            vars(part).clear()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.close()

    # ------------------------------------------------------ what hooks call

    def _of(self, optimizer: Any) -> Followed | None:
        return self._by_id.get(id(plain(optimizer)))

    def _before_step(self, optimizer: Any) -> None:
        followed = self._of(optimizer)
        if followed is not None and not self._closed:
            self._looks.at_scale(followed)

    def _unscaled(self, optimizer: Any, anew: bool = False, **how: Any) -> None:
        followed = self._of(optimizer)
        if followed is None:
            self._before_clipping.scales_others = True
        elif not self._closed:
            self._looks.unscaled(followed, anew, **how)

    def _after_step(self, optimizer: Any) -> None:
        """The scaler is through: who was not called was skipped."""
        followed = self._of(optimizer)
        if followed is not None and followed.update is not None:
            followed.update.applied = False
            self._end_update(followed)

    def _before_update(self, followed: Followed, optimizer: Any) -> None:
        if not self._closed:
            self._looks.before_update(followed, optimizer)

    def _after_update(self, followed: Followed, optimizer: Any) -> None:
        if not self._closed:
            self._looks.after_update(followed, optimizer)
            self._end_update(followed)

    def _end_update(self, followed: Followed) -> None:
        update = followed.end()
        if update is None:
            return
        self._guard("update", followed.updated)
        self._left_out.updated()
        self._looks.rivals.updated(followed)
        followed.updates += 1
        update.losses = self._parts.updated()
        update.rows = len(self.modules.rows)
        if self._scaler is not None:
            update.float_status = self._scaler.float_status(followed.optimizer)
        update.lr = self._guard("rate", followed.rate)
        self._current.add(update)
        if self._current.is_full():
            self._guard("step", self._tell_updates)

    # ----------------------------------------------------------- end of a step

    def _end_step(
        self,
        loss: Any,
        number: int | None,
        scale: float | None,
        more: dict[str, Any],
    ) -> None:
        # After a training's step the caches are cold: each call counts.
        begun = time.perf_counter() if self._level == "ops" else 0.0
        if more:
            _samples.settle(self._checks, more)
        losses, given = self._losses, loss
        self._looks.at_loss(loss)
        if type(loss) is torch.Tensor and on_host(loss) and loss.ndim == 0:
            loss = loss.tolist()  # costs less than item()
        elif isinstance(loss, torch.Tensor):
            self._current.readout.let_come_first(loss)
        if type(loss) is not float or losses.waiting:
            losses.add(loss)
            loss = None
        current = self._current
        if current.updates or current.numbering.untold is not None:
            self._left_out.applied()
        elif self._followed and self._left_out.may_be_part(loss):
            trains = isinstance(given, torch.Tensor) and given.requires_grad
            self._left_out.hold(loss, number, trains)
            return
        else:
            self._left_out.strange()
        if loss is None:
            loss = losses.take_mean(current.readout)
        now = time.time()
        backward, rows = self._parts.take(), len(self.modules.rows)
        self._finish_step(number, now, loss, scale, more, backward, rows)
        if self._level == "ops":
            # The time to report modules is theirs, too.
            self.modules.seconds += time.perf_counter() - begun
            self._keep_budget(now)

    def _tell_updates(self) -> None:
        """Many that no step() followed."""
        current, modules = self._current, self.modules
        self._left_out.applied()
        rows = len(modules.rows)
        told = modules.take(rows) if modules.on else NONE_TOLD
        numbers = current.numbering.of_untold
        steps = self._updates(
            numbers, time.time(), told, None, self._parts.take()
        )
        self._add(steps)

    def _finish_step(
        self,
        given: int | None,
        when: float,
        loss: Any,
        scale: float | None,
        more: dict[str, Any],
        backward: list[Any],
        rows: int,
        only_if_bad: bool = False,
    ) -> None:
        """`given`: its number, if the program gave one; `rows`: how many of
        modules are its, and of the updates before it, which are steps of their
        own."""
        current = self._current
        told = self.modules.take(rows) if self.modules.on else NONE_TOLD
        number = None if given is None else self._checks.step(given)
        numbering = current.numbering
        if len(current.updates) > 1 or numbering.untold is not None:
            steps = self._updates(
                functools.partial(numbering.of_step, number),
                when,
                told,
                scale,
                backward,
            )
            step = steps[-1]
            step.take(loss, more)
        else:
            step = Step(
                numbering.of_one(number),
                when,
                loss,
                current.take_one(),
                current.readout,
                *told,
                self._detail.request_of(current.count),
                scale,
                more,
                backward,
            )
            steps = [step]
        if self.layers is not None and not only_if_bad:
            step.layers = self._guard("layers", self.layers.take)
        step.only_if_bad = only_if_bad
        self._add(steps)

    def _updates(
        self,
        numbers_of: Callable[[int], list[int]],
        when: float,
        told: tuple[list[Row], Readout, bool],
        scale: float | None,
        backward: list[Any],
    ) -> list[Step]:
        """Those that no step() followed, each a step. `numbers_of`: theirs, by
        how many they are. `told` by modules, and what went `backward`, is of
        all of them."""
        current = self._current
        turns, known = current.take(), current.numbering.untold
        numbers = numbers_of(len(turns) if turns[0] else 0)
        request = self._detail.request_of(current.count)
        rows, rows_readout, sampled = told
        steps: list[Step] = []
        first_loss = first_row = 0  # of the next one
        for number, updates in zip(numbers, turns):
            losses, its_rows = len(backward), len(rows)
            if len(steps) < len(turns) - 1:
                losses, its_rows = updates[-1].losses, updates[-1].rows
            for update in updates:
                update.losses -= first_loss
                update.rows -= first_row
            steps.append(
                Step(
                    number,
                    when,
                    None,
                    updates,
                    current.readout,
                    rows[first_row:its_rows],
                    rows_readout,
                    sampled,
                    request,
                    scale,
                    {},
                    backward[first_loss:losses],
                )
            )
            steps[-1].goes_on = number == known
            known = number
            first_loss = max(first_loss, losses)
            first_row = max(first_row, its_rows)
        return steps

    def _add(self, steps: list[Step]) -> None:
        """They are over."""
        current, last = self._current, steps[-1]
        current.count += len(steps)
        self._comparing.end(last, self._untold)
        if last.rows or not current.readout.empty() or len(steps) > 1:
            # What cannot be read is not in the next one's way.
            current.readout = Readout()
            for followed in self._followed:
                followed.forget_unread()
            for step in steps:
                step.start()
        for step in steps:
            step.rivals = self._looks.rivals.seen
            self._untold.add(step)
        if self.modules.all or self.run.is_asked:
            self._take_requests()

    def _tell_left_out(
        self,
        part: Part,
        updates: list[Update],
        loss: Any,
        backward: list[Any],
        only_if_bad: bool,
    ) -> None:
        # Updates that no step() followed yet are told with it; what went
        # backward, and what modules tell, is its own.
        for untold in self._current.updates:
            untold.losses = untold.rows = 0
        self._current.updates += updates
        before = copy.copy(self._current.numbering)
        given = self._number_of(part)
        number = before.not_below(given)
        self._finish_step(
            number,
            part.time,
            loss,
            None,
            {},
            backward,
            part.rows,
            only_if_bad,
        )
        if number != given:
            self._current.numbering = before

    def _tell_evaluations(
        self, evaluations: Sequence[Evaluation], updates: list[Update]
    ) -> None:
        """Beside a step that goes on: with a number of their own, if it is
        known by now that they are worth one."""
        numbering, first = copy.copy(self._current.numbering), evaluations[0]
        losses = [each.loss for each in evaluations]
        number = numbering.not_below(self._number_of(first))
        with self._current.aside(updates):
            self._finish_step(
                number,
                first.time,
                None,
                None,
                {},
                losses,
                0,
                only_if_bad=True,
            )
        if number is not None or not any(map(is_bad, losses)):
            self._current.numbering = numbering

    def _number_of(self, told: Part | Evaluation) -> int | None:
        return None if told.number is None else self._checks.step(told.number)

    def tell_at_exit(self) -> None:
        """The program ends."""
        if not self._closed:
            self._guard("close", self._tell_last)
            self._untold.tell_before_settling()

    def is_open(self, model: Any = None, run: Run | None = None) -> bool:
        """And of this model, or of this run."""
        return not self._closed and (model is self._model or run is self.run)

    def _tell_rest(self) -> None:
        self._guard("close", self._tell_last)
        self._guard("close", lambda: self._untold.tell_ready(most=0))

    def _tell_last(self) -> None:
        if self._current.updates:
            self._tell_updates()
        else:
            self._left_out.tell_last()

    def _take_requests(self) -> None:
        for request in self.run.requests():
            if request.kind == "collect_ops":
                self._untold.tell_kept(request.id)
                self._detail.ask(self._current.count, request.steps, request.id)
        if self.modules.all and not self._is_detailed():
            self._detail.end(keep=self._level == "ops")

    def _is_detailed(self) -> bool:
        return self._detail.covers(self._current.count)

    def _keep_budget(self, now: float) -> None:
        seconds, self._last_time = now - self._last_time, now
        if self._is_detailed():
            self.modules.forget_seconds()
        else:
            self.modules.keep_within(self._budget, seconds)


def _keep_from_compilers() -> None:
    """What may be called within a step that is compiled as a whole; once."""
    global _is_kept
    if not _is_kept and may_compile():
        _is_kept = True
        for name in ("step", "before_clipping"):
            setattr(Watch, name, uncompiled(getattr(Watch, name)))
