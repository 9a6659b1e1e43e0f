"""From measured numbers to the run's records, once they are on the host."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nanwatch._run import Run
from nanwatch._steps import More
from nanwatch._torch import underflow
from nanwatch._torch.module_telling import ModuleTeller
from nanwatch._torch.modules import Modules
from nanwatch._torch.op_names import OpNames
from nanwatch._torch.optimizers import total
from nanwatch._torch.parameters import Parameter
from nanwatch._torch.places import is_distributed
from nanwatch._torch.readout import Readout
from nanwatch._torch.rows import Rows
from nanwatch._torch.spoiling import Spoiling
from nanwatch._torch.statistics import Read
from nanwatch._torch.step import Seen, Step
from nanwatch._torch.together import as_one
from nanwatch._torch.update import Update
from nanwatch._torch.weight_telling import WeightTeller
from nanwatch._torch.zeros import ZeroedGradients, Zeros
from nanwatch._update_faults import NOT_CLEARED

# Steps of gradient sizes that are kept for the daemon to ask for.
_KEPT = 32
# Healthy parameters' rows are told once in so many updates.
ROWS_EVERY = 32
# From level "layers" on, once in so many; zeros and largest elements with them.
LAYERS_EVERY = 4
# Looks in a row that say that gradients were unscaled twice.
_TWICE = 2

# Numbers of an update that Run.take_step takes: scale, overflow, skipped,
# grad_norm, lr.
_USUAL = 5

# And those that it takes as More.
_FEW = (
    "zero_fraction",
    "replica_digest",
    "update_fault",
    "fault_of",
    "stuck_fraction",
)


class _Kept(NamedTuple):
    """A step whose gradients were not told; for the daemon to ask for."""

    step: Step
    update: Update


class Teller:
    """Knows what of a step is worth its rows, and tells it the run."""

    def __init__(
        self,
        run: Run,
        level: str,
        replica: bool,
        modules: Modules,
        after: Callable[[Seen], None],
        *,
        together: bool,
    ) -> None:
        """`replica`: all ranks hold the same weights. `after` is called with
        what was seen of each step that was told. `together`: there are more
        optimizers than a run can tell apart."""
        self._run = run
        self._level = level
        self._after = after
        self._together = together
        self.names = OpNames(run, modules)
        self._spoiling = Spoiling()
        self._modules = ModuleTeller(modules, self.names)
        self._weights = WeightTeller(self.names, self._spoiling, replica)
        # By the id of the Followed.
        self._zeroed: dict[int, ZeroedGradients] = {}
        self._twice = 0  # looks in a row
        self._kept: collections.deque[_Kept] = collections.deque(maxlen=_KEPT)

    def tell(self, step: Step) -> None:
        loss = step.loss
        loss_bad = loss is not None and not math.isfinite(loss)
        bad = [self._is_bad(step, update) for update in step.updates]
        if step.only_if_bad and not (loss_bad or any(bad)):
            return
        self._spoiling.begin(step)
        lost = self._spoiling.lost
        rows = Rows(step.number, step.time, step.request)
        spoils = self._spoils_loss(step, bad) if loss_bad else None
        if spoils is not None:
            step.forget_after(spoils)
            loss_bad = False
        unexplained = False
        if step.rows and not lost:
            unexplained = self._modules.tell(
                step, rows, loss_bad, loss_bad or any(bad)
            )
        elif loss_bad and not lost:
            self._modules.tell_part(step, rows)
        told = []
        for update, its_bad in zip(step.updates, bad):
            its_loss_bad = (
                loss_bad if spoils is None else step.is_bad_for(update)
            )
            told.append(self._judge(step, update, rows, its_loss_bad, its_bad))
        self._push(rows)
        if step.layers is not None:
            told_more = step.layers.tell(self._run, step.number, step.time)
            step.more = {**told_more, **step.more}
        if self._together and step.updates:
            self._tell_step(step, loss, as_one(step.updates, told))
        else:
            for its, numbers in zip(step.losses(), told):
                self._tell_step(step, its, numbers)
        if not step.updates:  # an optimizer that cannot be followed
            more = dict(step.more)
            if step.batch is not None:
                more["batch_digest"] = step.batch
            self._run.step(
                step.number, loss, step.scale, time=step.time, **more
            )
            seen = Seen(loss_bad, loss_bad, loss_bad, lost, unexplained)
            self._after(seen)
            return
        overflow = any(n["overflow"] for n in told)
        applied = any(n["overflow"] and not n["skipped"] for n in told)
        blamed = step.updates if spoils is None else [spoils]
        named = (
            set() if loss_bad or not applied else self._bad_ones(step, blamed)
        )
        self._spoiling.end(applied, named)
        unexplained = unexplained or (step.sampled and overflow)
        self._after(Seen(overflow, applied, loss_bad, lost, unexplained))

    def tell_kept(self, request: int) -> None:
        """The flight recorder: what was measured of the last steps."""
        kept, self._kept = list(self._kept), collections.deque(maxlen=_KEPT)
        room = self._run.room_for_ops()
        told: list[Rows] = []
        for step, update in reversed(kept):
            rows = Rows(step.number, step.time, request)
            self._add_gradients(step, update, rows)
            room -= len(rows)
            if room < 0:  # of many parameters the newest steps fit
                break
            told.append(rows)
        for rows in reversed(told):
            self._push(rows)

    # ------------------------------------------------------------- gradients

    def _is_bad(self, step: Step, update: Update) -> bool:
        """A gradient is not finite."""
        if all(sizes.healthy(step.readout) for sizes in update.sizes):
            return False
        return any(r.bad for r in self._reads(step, update, 1.0))

    def _spoils_loss(self, step: Step, bad: Sequence[bool]) -> Update | None:
        """The update that was made of gradients that are not finite while the
        loss was: that it is not, later in the step, is its doing."""
        for update, its_bad in zip(step.updates, bad):
            if step.is_bad_for(update):
                break
            if its_bad and update.applied and update.found_inf is None:
                return update
        return None

    def _bad_ones(self, step: Step, updates: Sequence[Update]) -> set[int]:
        """Ids of the parameters whose gradients are not finite; where all are
        so (those of another rank's NaN are), none is more so than another."""
        if all(self._are_all_bad(step, update) for update in updates):
            return set()
        return {
            id(parameter)
            for update in updates
            for parameter, read in zip(
                (p for group in update.gradients for p in group),
                self._reads(step, update, 1.0),
            )
            if read.bad
        }

    def _are_all_bad(self, step: Step, update: Update) -> bool:
        """Behind a loss that is not finite gradients mostly are so, and say
        nothing; where some are not, those that are lead to it."""
        return all(r.bad for r in self._reads(step, update, 1.0))

    def _judge(
        self,
        step: Step,
        update: Update,
        rows: Rows,
        loss_bad: bool,
        bad: bool,
    ) -> dict[str, Any]:
        """The numbers of one update; adds what is worth a row."""
        looked_at = update.sizes
        norms = [sizes.norms(step.readout) for sizes in looked_at]
        zeros = None
        if norms and not bad:
            zeros = self._zeroed_of(update).look(
                step.number,
                update.gradients,
                norms,
                [sizes.elements for sizes in looked_at],
                update.absent,
            )
        ordinal = update.ordinal
        usual = self._level == "default" and ordinal % ROWS_EVERY == 0
        everything = usual or update.rich or step.request != 0
        if zeros is not None and zeros.fresh:
            everything = True  # so that the daemon knows which
        if (
            (everything or bad)
            and not self._spoiling.lost
            and not (loss_bad and self._are_all_bad(step, update))
        ):
            self._add_gradients(step, update, rows, zeros)
        elif not bad:
            self._kept.append(_Kept(step, update))
        told = self._numbers(step, update, rows, bad, norms)
        is_zero = told["grad_norm"] == 0.0 and not loss_bad
        self._add_faults(step.readout, update, is_zero, told)
        if update.left_out and not (bad or loss_bad):
            # For a reason of the program's: not known to be an overflow.
            told["overflow"] = None
        # So often that the daemon knows what is usual, and all of a change. (A
        # single element may be 0 for any reason, as of an embedding where the
        # batch has no such word; from "layers" on rows count these.)
        if zeros is not None and (
            zeros.share or zeros.fresh or ordinal % LAYERS_EVERY == 0
        ):
            told["zero_fraction"] = zeros.share
        return told

    def _zeroed_of(self, update: Update) -> ZeroedGradients:
        known = self._zeroed.get(id(update.of))
        if known is None:
            known = ZeroedGradients(self._run._checks)
            self._zeroed[id(update.of)] = known
        return known

    def _reads(self, step: Step, update: Update, scale: float) -> list[Read]:
        """Of each gradient; those of fp16 arithmetic with the loss scale."""
        reads: list[Read] = []
        for parameters, sizes in zip(update.gradients, update.sizes):
            factors = [
                scale if self.names.is_half(p) and scale else 1.0
                for p in parameters
            ]
            reads.extend(sizes.read(step.readout, factors))
        return reads

    def _add_gradients(
        self,
        step: Step,
        update: Update,
        rows: Rows,
        zeros: Zeros | None = None,
    ) -> None:
        """In the order of the backward pass: the last layer's come first, and
        of those that are 0 the one that made the others so."""
        behind = zeros.behind if zeros else frozenset()
        reads = self._reads(step, update, step.scale_of(update) or 1.0)
        all_of_them = [p for group in update.gradients for p in group]
        told = list(zip(all_of_them, reads))
        if zeros:
            told.extend((p, _read_absent(p)) for p in zeros.absent)
        told.reverse()  # those that the model does not have
        told.sort(key=lambda one: (id(one[0]) in behind, -one[0].place))
        for parameter, status in told:
            rows.add(self.names.gradient(parameter), "grad_input", status)

    def _numbers(
        self,
        step: Step,
        update: Update,
        rows: Rows,
        bad: bool,
        norms: Sequence[Sequence[float]],
    ) -> dict[str, Any]:
        readout = step.readout
        scale = step.scale_of(update)
        applied = update.applied
        if update.found_inf is not None:
            applied = readout.number(update.found_inf) == 0.0
        norm = total([n for group in norms for n in group]) if norms else None
        told: dict[str, Any] = {
            "scale": scale,
            "overflow": bad or applied is False,
            "skipped": applied is False,
            "grad_norm": norm,
            "lr": update.lr,
        }
        if update.float_status:
            told["float_status"] = update.float_status
        if update.of.name is not None and not self._together:
            told["optimizer"] = update.of.name
        self._weights.add(step, update, rows, told)
        if update.again is not None and norm is not None and scale:
            got = total(readout.mixed(update.again))
            told["applied_grad_norm"] = got
            self._compare(got, norm, scale)
        if update.underflow is not None and not bad:
            counts = readout.numbers(update.underflow)
            lost = underflow.share(counts, whole=not is_distributed())
            if lost is not None:
                told["underflow_fraction"] = lost
        if update.norms is not None:
            told["update_norm"] = total(readout.mixed(update.norms))
        return told

    def _add_faults(
        self,
        readout: Readout,
        update: Update,
        is_zero: bool,
        told: dict[str, Any],
    ) -> None:
        """How the update was made, and what it did not change. `is_zero`: its
        gradients are, and not for a loss that is not finite."""
        fault = update.fault
        if update.fault_if is not None:
            if readout.number(update.fault_if) == 0.0:
                fault = 0
            if update.fault == NOT_CLEARED:
                fault = update.of.clearing.found_out(fault)
        if is_zero and not fault:
            fault = update.zero_means
        if fault:
            told["update_fault"] = fault
        if fault and update.fault_of:
            told["fault_of"] = update.fault_of
        if update.asked is not None:
            place, learn = update.asked
            learn(readout.number(place) != 0.0)
        if update.stuck is not None:
            same, had = readout.numbers(update.stuck)
            if had:
                told["stuck_fraction"] = same / had

    def _compare(self, got: float, norm: float, scale: float) -> None:
        """Gradients once unscaled, and as the optimizer got them."""
        if scale >= 8.0 and norm > 0.0 and math.isfinite(norm):
            twice = abs(got * scale / norm - 1.0) < 1e-3
            self._twice = self._twice + 1 if twice else 0
            if self._twice == _TWICE:
                self._run._checks.refuse(
                    "unscaling",
                    "the optimizer gets gradients that were divided by the "
                    "loss scale twice",
                )

    def _tell_step(
        self, step: Step, loss: float | None, numbers: dict[str, Any]
    ) -> None:
        few = {name: numbers.pop(name) for name in _FEW if name in numbers}
        if step.batch is not None:
            few["batch_digest"] = step.batch
        if few:
            if len(numbers) == _USUAL and not step.more and not step.request:
                self._run.take_step(
                    step.number, step.time, loss, **numbers, more=More(**few)
                )
                return
            numbers.update(few)
        if step.more or step.request or len(numbers) > _USUAL:
            numbers = {**numbers, **step.more}
            if step.request:
                numbers["request"] = step.request
            self._run.step(step.number, loss, time=step.time, **numbers)
            return
        self._run.take_step(step.number, step.time, loss, **numbers)

    def _push(self, rows: Rows) -> None:
        table = rows.table()
        if table is not None:
            self._run.take_table(table)


def _read_absent(parameter: Parameter) -> Read:
    """Of a gradient that there is none of any more."""
    elements = parameter.elements()
    return Read(elements, 0, 0, 0, elements, 0.0, 0.0)
