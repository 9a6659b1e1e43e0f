"""What of the modules' statuses at a step is worth its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nanwatch._torch.modules import Modules, Row
from nanwatch._torch.op_names import OpNames
from nanwatch._torch.rows import Rows
from nanwatch._torch.sampling import certain, is_mask
from nanwatch._torch.statistics import Read
from nanwatch._torch.step import Step

# Modules at most that tell at each step, though there is a budget.
_FOLLOWED = 4


class ModuleTeller:
    """Knows which modules make what is bad and does no harm."""

    def __init__(self, modules: Modules, names: OpNames) -> None:
        self._modules = modules
        self._names = names
        self._harmless: set[int] = set()  # modules: what they make is masked
        # Their inputs, as (module, place): what is bad in these is taken out.
        self._taken_out: set[tuple[int, int]] = set()

    def tell(self, step: Step, rows: Rows, loss_bad: bool, harm: bool) -> bool:
        """Of a step in which not all modules were looked at, what is certain.
        A loss that is not finite makes all gradients so: they say nothing of
        where it comes from, and are left out. `harm`: loss or gradients are
        not finite. True: something is bad, and where it began may be in what
        was not looked at."""
        self._names.name_backward(step.rows)
        statuses = [row.one.read(step.rows_readout) for row in step.rows]
        if step.sampled:
            bad = self._tell_sampled(step, statuses, rows, loss_bad, harm)
        else:
            bad = False
            self._tell_all(step, statuses, rows, loss_bad, harm)
        if not harm:
            self._follow(step, statuses)
        if loss_bad:
            self._tell_loss(step, statuses, rows)
        return bad

    def _tell_all(
        self,
        step: Step,
        statuses: Sequence[Read],
        rows: Rows,
        loss_bad: bool,
        harm: bool,
    ) -> None:
        clean: Read | None = None  # what came before, while nothing was bad
        first = True
        alive = {
            (row.module, row.slot)
            for row, status in zip(step.rows, statuses)
            if row.backward and status.rms != 0.0
        }
        entered = self._entered(step, statuses, harm)
        for row, status in zip(step.rows, statuses):
            if is_mask(row, status) or (row.module, row.slot) in entered:
                continue
            # A module's node has the gradients of its weights, too: what enters
            # it was 0.
            if (
                row.backward
                and status.rms == 0.0
                and (row.module, row.slot) in alive
            ):
                continue
            op = self._names.module(row)
            if not row.backward and first:
                if status.bad and row.slot == "input" and clean is not None:
                    entry = self._entry(row, step, statuses)
                    if entry is not None:
                        self._tell_between(row, entry, rows, clean, status)
                first = not status.bad
                clean = status if row.slot == "output" else clean
            if not (row.backward and loss_bad):
                rows.add(op, row.slot, status)

    def _entered(
        self, step: Step, statuses: Sequence[Read], harm: bool
    ) -> set[tuple[int, str]]:
        """Inputs of modules that call others, as (module, slot): what is bad in
        these was in the data, and was taken out before anything was made of
        it, since all that modules made is finite. Where there is `harm` only
        those that had some at a step without are above suspicion."""
        bad = _bad_forward(step, statuses)
        named = self._modules.named
        if any(row.slot == "output" or named[row.module].leaf for row in bad):
            return set()
        return {
            (row.module, row.slot)
            for row in bad
            if not harm or (row.module, row.place) in self._taken_out
        }

    def _entry(
        self, row: Row, step: Step, statuses: Sequence[Read]
    ) -> Row | None:
        """Of what is bad in the input of `row`: of that module and of those
        around it that were called the outermost one that got it, before which
        it was made. None: the outermost of which it was seen did, and data
        had it. (Rows of modules come after those of what they call.)"""
        # Of each that was called; None: it got nothing bad.
        around: dict[int, Row | None] = {}
        hidden: set[int] = set()  # not all that these got was looked at
        for other, status in zip(step.rows, statuses):
            if other.backward or not self._is_around(other.module, row.module):
                continue
            got = (
                status.bad
                and other.slot == "input"
                and not is_mask(other, status)
                # What it gets at other steps, too, it takes out.
                and (other.module, other.place) not in self._taken_out
            )
            if not other.whole:
                hidden.add(other.module)
            around[other.module] = other if got else around.get(other.module)
        entry = row
        for module in sorted(around, key=self._depth, reverse=True):
            bad = around[module]
            if bad is not None:
                entry = bad
            elif module not in hidden:
                return entry
        return None

    def _depth(self, module: int) -> int:
        """Rises from a module to those that it calls."""
        return len(self._modules.named[module].path) if module else 0

    def _is_around(self, outer: int, module: int) -> bool:
        """Whether `module` is `outer`, which calls others, or within it."""
        named = self._modules.named
        path = named[module].path
        return not named[outer].leaf and (
            outer in (0, module) or path.startswith(named[outer].path + ".")
        )

    def _tell_between(
        self, row: Row, entry: Row, rows: Rows, before: Read, status: Read
    ) -> None:
        """What is bad entered the module of `entry`, and with it that of `row`,
        though all that modules made before was clean: it was made between, by
        the forward pass of the one that calls it."""
        op = self._names.between(entry.module, row)
        rows.add(op, "input", before)
        rows.add(op, "output", status)

    def _tell_sampled(
        self,
        step: Step,
        statuses: Sequence[Read],
        rows: Rows,
        loss_bad: bool,
        harm: bool,
    ) -> bool:
        """What is bad and does no harm is told where all are looked at: what
        takes it out may not be among these. True: there is such, of a module
        that was not known for it, or it harms."""
        followed = self._modules.followed
        named = self._modules.named
        known = certain(step.rows, statuses, lambda place: named[place].leaf)
        unexplained = harm
        for row, status, sure in zip(step.rows, statuses, known):
            if is_mask(row, status) or (row.backward and loss_bad):
                continue
            # Where zeros begin may be in what was not looked at; those of the
            # weights are all known.
            if row.backward and status.rms == 0.0:
                continue
            if not status.bad or (sure and harm) or row.module in followed:
                rows.add(self._names.module(row), row.slot, status)
            elif row.module not in self._harmless:
                unexplained = True
        return unexplained

    def _follow(self, step: Step, statuses: Sequence[Read]) -> None:
        """What is bad and does no harm: as long as it is so it is told at each
        step, so that it is known to be as it always is."""
        bad_rows = _bad_forward(step, statuses)
        bad = [row.module for row in bad_rows]
        followed = self._modules.followed
        if followed:
            followed.intersection_update(bad)
        if not step.sampled and bad:
            self._harmless.update(bad)
            self._taken_out.update(
                (row.module, row.place)
                for row in bad_rows
                if row.slot == "input"
            )
            entered = self._entered(step, statuses, harm=False)
            inputs = {module for module, _ in entered}
            for module in bad:
                if len(followed) < _FOLLOWED and module not in inputs:
                    followed.add(module)

    def _tell_loss(
        self, step: Step, statuses: Sequence[Read], rows: Rows
    ) -> None:
        """It is not finite: was what it is computed of? Where that is bad and
        not all modules were looked at, it says nothing of where it began."""
        results = [
            status
            for row, status in zip(step.rows, statuses)
            if row.module == 0 and row.slot == "output" and not row.backward
        ]
        place = step.bad_part()
        if place is not None and len(results) == len(step.parts):
            result = results[place]
        elif results:
            result = results[-1]
        else:
            if not any(status.bad for status in statuses):
                self.tell_part(step, rows)
            return
        if step.sampled and result.bad:
            return
        op = self._loss_op(step)
        rows.add(op, "input", result)
        rows.add(op, "output", _status_of(step.loss))

    def tell_part(self, step: Step, rows: Rows) -> None:
        """Which one it is of several losses, one of which is not finite."""
        if len(step.parts) > 1 and step.bad_part() is not None:
            rows.add(self._loss_op(step), "output", _status_of(step.loss))

    def _loss_op(self, step: Step) -> int:
        return self._names.loss(step.bad_part(), len(step.parts))


def _status_of(loss: float | None) -> Read:
    """Of one that is not finite."""
    nan = int(loss is None or math.isnan(loss))
    return Read(1, nan, 1 - nan, 0, None, None, None)


def _bad_forward(step: Step, statuses: Sequence[Read]) -> list[Row]:
    """Of the forward pass, without what masks are made of."""
    return [
        row
        for row, status in zip(step.rows, statuses)
        if status.bad and not row.backward and not is_mask(row, status)
    ]
