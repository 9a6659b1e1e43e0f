"""From measured numbers to the run's records, once they are on the host."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nanwatch import _ops
from nanwatch._run import Run
from nanwatch._steps import More
from nanwatch._torch import underflow
from nanwatch._torch.modules import Modules, Row
from nanwatch._torch.optimizers import Attempt, Followed, Parameter, total
from nanwatch._torch.places import is_distributed
from nanwatch._torch.readout import Later, Readout
from nanwatch._torch.replicas import Digest
from nanwatch._torch.sampling import certain, is_mask
from nanwatch._torch.spoiling import Spoiling
from nanwatch._torch.statistics import Read
from nanwatch._torch.zeros import ZeroedGradients

# Steps of gradient sizes that are kept for the daemon to ask for.
_KEPT = 32
# Healthy parameters' rows are told once in so many steps.
_ROWS_EVERY = 32
# From level "layers" on, once in so many; zeros and largest elements with them.
LAYERS_EVERY = 4
# Places in the execution order: the backward pass comes after the forward one.
_BACKWARD = 1 << 20

# Looks in a row that say that gradients were unscaled twice.
_TWICE = 2

# Numbers of an attempt that Run.take_step takes: scale, overflow, skipped,
# grad_norm, lr.
_USUAL = 5

# And those that it takes as More.
_FEW = ("zero_fraction", "replica_digest")

# Modules at most that tell at each step, though there is a budget.
_FOLLOWED = 4

_COLUMNS = ("nan", "pos_inf", "neg_inf", "zero", "abs_max", "rms")


class Step:
    """A step that is over on the host; its numbers may be on their way."""

    __slots__ = (
        "_loss",
        "attempts",
        "more",
        "number",
        "parts",
        "readout",
        "request",
        "rows",
        "rows_readout",
        "sampled",
        "scale",
        "time",
    )

    def __init__(
        self,
        number: int,
        time: float,
        loss: Any,
        attempts: list[Attempt],
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
        self.attempts = attempts
        self.readout = readout
        self.rows = rows
        self.rows_readout = rows_readout
        self.sampled = sampled  # there are modules that have no rows
        self.request = request
        self.scale = scale
        self.more = more
        self.parts = [
            part if type(part) is float else readout.add([part])
            for part in parts
        ]

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
        if self.rows or self.request or self.more:
            return False
        if loss is not None and not (
            type(loss) is float and math.isfinite(loss)
        ):
            return False
        for part in self.parts:
            if type(part) is not float or not math.isfinite(part):
                return False
        return all(attempt.is_plain() for attempt in self.attempts)

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

    def bad_part(self) -> int | None:
        """The first that is not finite."""
        for place in range(len(self.parts)):
            if not math.isfinite(self._part(place)):
                return place
        return None

    def _part(self, place: int) -> float:
        part = self.parts[place]
        return part if type(part) is float else self.readout.number(part)

    def scale_of(self, attempt: Attempt) -> float | None:
        if isinstance(attempt.scale, (list, Later)):
            return self.readout.number(attempt.scale)
        return self.scale if attempt.scale is None else attempt.scale


class _Kept(NamedTuple):
    """A step whose gradients were not told; for the daemon to ask for."""

    step: Step
    attempt: Attempt


class Seen(NamedTuple):
    """What of a step that was told matters to those that follow."""

    overflow: bool  # or its loss was not finite, where no optimizer is followed
    applied: bool  # though it overflowed
    loss_bad: bool
    lost: bool  # weights, to an update before
    unexplained: bool  # something was bad, and not all modules were looked at


class Rows:
    """Statuses of one step, as columns."""

    def __init__(self, step: int, time: float, request: int) -> None:
        self._step, self._time, self._request = step, time, request
        self._ops: list[int] = []
        self._slots: list[int] = []
        self._reads: list[Read] = []

    def add(self, op: int, slot: str, status: Read) -> None:
        if op >= 0:
            self._ops.append(op)
            self._slots.append(_ops.SLOTS[slot])
            self._reads.append(status)

    def table(self) -> _ops.Table | None:
        n = len(self._ops)
        if n == 0:
            return None
        columns: dict[str, list[Any]] = {
            "step": [self._step] * n,
            "time": [self._time] * n,
            "op": self._ops,
            "slot": self._slots,
            "elements": [r.elements for r in self._reads],
            "request": [self._request] * n,
        }
        for name in _COLUMNS:
            columns[name] = [getattr(r, name) for r in self._reads]
        return _ops.Table(n, columns)


class Teller:
    """Knows the run's op names, and what of a step is worth its rows."""

    def __init__(
        self,
        run: Run,
        level: str,
        replica: bool,
        modules: Modules,
        after: Callable[[Step, Seen], None],
    ) -> None:
        """`replica`: all ranks hold the same weights. `after` is called with
        each step that was told."""
        self._run = run
        self._level = level
        self._replica = replica
        self._modules = modules
        self._after = after
        self._spoiling = Spoiling()
        self._harmless: set[int] = set()  # modules: what they make is masked
        self.half = False  # autocast to fp16, as the first forward pass said
        self._gradient_ops: dict[int, int] = {}
        self._weight_ops: dict[int, int] = {}
        self._digests: dict[int, Digest] = {}  # by the id of the Followed
        self._module_ops: dict[tuple[int, bool], int] = {}
        self._loss_ops: dict[str, int] = {}  # by name
        self._twice = 0  # looks in a row
        self._zeroed = ZeroedGradients(run._checks)
        self._between_ops: dict[int, int] = {}
        self._order_of: dict[int, int] = {}  # of modules' forward ops
        self._orders = [0, _BACKWARD]  # of modules, forward and backward
        self._kept: collections.deque[_Kept] = collections.deque(maxlen=_KEPT)

    def tell(self, step: Step) -> None:
        loss = step.loss
        loss_bad = loss is not None and not math.isfinite(loss)
        bad = [self._is_bad(step, attempt) for attempt in step.attempts]
        self._spoiling.begin(step.readout, step.attempts)
        lost = self._spoiling.lost
        rows = Rows(step.number, step.time, step.request)
        unexplained = False
        if step.rows and not lost:
            unexplained = self._tell_modules(
                step, rows, loss_bad, loss_bad or any(bad)
            )
        elif loss_bad and not lost:
            self._tell_part(step, rows)
        told = []
        for attempt, its_bad in zip(step.attempts, bad):
            told.append(self._judge(step, attempt, rows, loss_bad, its_bad))
        self._push(rows)
        for attempt, numbers in zip(step.attempts, told):
            self._tell_step(step, attempt, loss, numbers)
        if not step.attempts:  # an optimizer that cannot be followed
            self._run.step(
                step.number, loss, step.scale, time=step.time, **step.more
            )
            seen = Seen(loss_bad, loss_bad, loss_bad, lost, unexplained)
            self._after(step, seen)
            return
        overflow = any(n["overflow"] for n in told)
        applied = any(n["overflow"] and not n["skipped"] for n in told)
        named = set() if loss_bad or not applied else self._bad_ones(step)
        self._spoiling.end(applied, named)
        unexplained = unexplained or (step.sampled and overflow)
        self._after(step, Seen(overflow, applied, loss_bad, lost, unexplained))

    def tell_kept(self, request: int) -> None:
        """The flight recorder: what was measured of the last steps."""
        kept, self._kept = list(self._kept), collections.deque(maxlen=_KEPT)
        for step, attempt in kept:
            rows = Rows(step.number, step.time, request)
            self._add_gradients(step, attempt, rows)
            self._push(rows)

    # ------------------------------------------------------------- gradients

    def _is_bad(self, step: Step, attempt: Attempt) -> bool:
        """A gradient is not finite."""
        if all(sizes.healthy(step.readout) for sizes in attempt.sizes):
            return False
        return any(r.bad for r in self._reads(step, attempt, 1.0))

    def _bad_ones(self, step: Step) -> set[int]:
        """Ids of the parameters whose gradients are not finite; where all are
        so (those of another rank's NaN are), none is more so than another."""
        if all(self._are_all_bad(step, attempt) for attempt in step.attempts):
            return set()
        return {
            id(parameter)
            for attempt in step.attempts
            for parameter, read in zip(
                (p for group in attempt.gradients for p in group),
                self._reads(step, attempt, 1.0),
            )
            if read.bad
        }

    def _are_all_bad(self, step: Step, attempt: Attempt) -> bool:
        """Behind a loss that is not finite gradients mostly are so, and say
        nothing; where some are not, those that are lead to it."""
        return all(r.bad for r in self._reads(step, attempt, 1.0))

    def _judge(
        self,
        step: Step,
        attempt: Attempt,
        rows: Rows,
        loss_bad: bool,
        bad: bool,
    ) -> dict[str, Any]:
        """The numbers of one optimizer attempt; adds what is worth a row."""
        looked_at = attempt.sizes
        norms = [step.readout.numbers(sizes.norms) for sizes in looked_at]
        zeros = None
        if norms and not bad:
            zeros = self._zeroed.look(
                step.number,
                attempt.gradients,
                norms,
                [sizes.elements for sizes in looked_at],
            )
        every = _ROWS_EVERY if self._level == "default" else LAYERS_EVERY
        everything = step.request != 0 or step.number % every == 0
        if zeros is not None and zeros.fresh:
            everything = True  # so that the daemon knows which
        if (
            (everything or bad)
            and not self._spoiling.lost
            and not (loss_bad and self._are_all_bad(step, attempt))
        ):
            self._add_gradients(
                step, attempt, rows, zeros.behind if zeros else frozenset()
            )
        elif not bad:
            self._kept.append(_Kept(step, attempt))
        told = self._numbers(step, attempt, rows, bad, norms)
        # Levels above count zeros of all tensors: another number. So often that
        # the daemon knows what is usual, and all of a change.
        if (
            zeros is not None
            and self._level == "default"
            and (zeros.share or step.number % LAYERS_EVERY == 0)
        ):
            told["zero_fraction"] = zeros.share
        return told

    def _reads(self, step: Step, attempt: Attempt, scale: float) -> list[Read]:
        """Of each gradient; those of fp16 arithmetic with the loss scale."""
        reads: list[Read] = []
        for parameters, sizes in zip(attempt.gradients, attempt.sizes):
            factors = [
                scale if self._is_half(p) and scale else 1.0 for p in parameters
            ]
            reads.extend(sizes.read(step.readout, factors))
        return reads

    def _add_gradients(
        self,
        step: Step,
        attempt: Attempt,
        rows: Rows,
        behind: frozenset[int] = frozenset(),
    ) -> None:
        """In the order of the backward pass: the last layer's come first, and
        of those that are 0 the one that made the others so. `behind`: ids of
        what is 0 for another reason."""
        reads = self._reads(step, attempt, step.scale_of(attempt) or 1.0)
        all_of_them = [p for group in attempt.gradients for p in group]
        told = [
            (id(p) in behind, self._gradient_op(p, self._is_half(p)), read)
            for p, read in zip(all_of_them, reads)
        ]
        told.reverse()
        if behind:
            told.sort(key=lambda one: one[0])
        for _, op, status in told:
            rows.add(op, "grad_input", status)

    def _numbers(
        self,
        step: Step,
        attempt: Attempt,
        rows: Rows,
        bad: bool,
        norms: Sequence[Sequence[float]],
    ) -> dict[str, Any]:
        readout = step.readout
        scale = step.scale_of(attempt)
        applied = attempt.applied
        if attempt.found_inf is not None:
            applied = readout.number(attempt.found_inf) == 0.0
        norm = total([n for group in norms for n in group]) if norms else None
        told: dict[str, Any] = {
            "scale": scale,
            "overflow": bad or applied is False,
            "skipped": applied is False,
            "grad_norm": norm,
            "lr": attempt.lr,
        }
        if attempt.float_status:
            told["float_status"] = attempt.float_status
        if attempt.of.name is not None:
            told["optimizer"] = attempt.of.name
        nonzero = [s for s in attempt.sizes if s.zeros is not None]
        if nonzero:
            full = sum(sum(readout.numbers(s.zeros)) for s in nonzero)
            elements = sum(sum(s.elements) for s in nonzero)
            told["zero_fraction"] = 1.0 - full / elements
        self._add_weights(step, attempt, rows, told)
        if attempt.again is not None and norm is not None and scale:
            got = total(readout.numbers(attempt.again))
            told["applied_grad_norm"] = got
            self._compare(got, norm, scale)
        if attempt.underflow is not None and not bad:
            counts = readout.numbers(attempt.underflow)
            lost = underflow.share(counts, whole=not is_distributed())
            if lost is not None:
                told["underflow_fraction"] = lost
        if attempt.update is not None:
            told["update_norm"] = total(readout.numbers(attempt.update))
        return told

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

    def _add_weights(
        self, step: Step, attempt: Attempt, rows: Rows, told: dict[str, Any]
    ) -> None:
        norms: list[float] = []
        for parameters, sizes in zip(attempt.parameters, attempt.weight_sizes):
            norms.extend(step.readout.numbers(sizes.norms))
            reads = sizes.read(step.readout, [1.0] * len(parameters))
            for parameter, status in zip(parameters, reads):
                if not self._spoiling.tells(parameter):
                    continue
                rows.add(self._weight_op(parameter), "parameter", status)
        if norms:
            told["param_norm"] = total(norms)
        if attempt.glances:
            self._add_glances(step, attempt, rows, told)

    def name_weights(self, followed: Sequence[Followed]) -> None:
        """Before anything else is, so that their ops have the same indices on
        all ranks, whatever one of them tells besides."""
        for each in followed:
            for parameter in each.weights():
                self._weight_op(parameter)

    def _add_glances(
        self, step: Step, attempt: Attempt, rows: Rows, told: dict[str, Any]
    ) -> None:
        digest = self._digest_of(attempt.of) if self._replica else None
        for glance in attempt.glances:
            norms = step.readout.numbers(glance.norms)
            if digest is not None:
                digest.take(glance.which, norms)
            if attempt.weight_sizes or not math.isnan(sum(norms)):
                continue
            weights = attempt.of.weights()
            for place, norm in zip(glance.which, norms):
                parameter = weights[place]
                if math.isnan(norm) and self._spoiling.tells(parameter):
                    elements = math.prod(parameter.shape)
                    status = Read(elements, 1, 0, 0, None, None, None)
                    rows.add(self._weight_op(parameter), "parameter", status)
        if digest is not None and attempt.comparable:
            told["replica_digest"] = digest.value

    def _digest_of(self, followed: Followed) -> Digest:
        known = self._digests.get(id(followed))
        weights = followed.weights()
        if known is None or known.weights != len(weights):
            known = Digest([self._weight_op(p) + 1 for p in weights])
            self._digests[id(followed)] = known
        return known

    def _tell_step(
        self,
        step: Step,
        attempt: Attempt,
        loss: float | None,
        numbers: dict[str, Any],
    ) -> None:
        few = {name: numbers.pop(name) for name in _FEW if name in numbers}
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

    # --------------------------------------------------------------- modules

    def _tell_modules(
        self, step: Step, rows: Rows, loss_bad: bool, harm: bool
    ) -> bool:
        """Of a step in which not all modules were looked at, what is certain.
        A loss that is not finite makes all gradients so: they say nothing of
        where it comes from, and are left out. `harm`: loss or gradients are
        not finite. True: something is bad, and where it began may be in what
        was not looked at."""
        self._name_backward(step.rows)
        statuses = [row.one.read(step.rows_readout) for row in step.rows]
        if step.sampled:
            bad = self._tell_sampled(step, statuses, rows, loss_bad, harm)
        else:
            bad = False
            self._tell_all(step, statuses, rows, loss_bad)
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
    ) -> None:
        clean: Read | None = None  # what came before, while nothing was bad
        first = True
        alive = {
            (row.module, row.slot)
            for row, status in zip(step.rows, statuses)
            if row.backward and status.rms != 0.0
        }
        for row, status in zip(step.rows, statuses):
            if is_mask(row, status):
                continue
            # A module's node has the gradients of its weights, too: what enters
            # it was 0.
            if (
                row.backward
                and status.rms == 0.0
                and (row.module, row.slot) in alive
            ):
                continue
            op = self._module_op(row)
            if not row.backward and first:
                if status.bad and row.slot == "input" and clean is not None:
                    self._tell_between(row, rows, clean, status)
                first = not status.bad
                clean = status if row.slot == "output" else clean
            if not (row.backward and loss_bad):
                rows.add(op, row.slot, status)

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
        known = certain(step.rows, statuses, self._modules.leaf.__getitem__)
        unexplained = harm
        for row, status, sure in zip(step.rows, statuses, known):
            if is_mask(row, status) or (row.backward and loss_bad):
                continue
            # Where zeros begin may be in what was not looked at; those of the
            # weights are all known.
            if row.backward and status.rms == 0.0:
                continue
            if not status.bad or (sure and harm) or row.module in followed:
                rows.add(self._module_op(row), row.slot, status)
            elif row.module not in self._harmless:
                unexplained = True
        return unexplained

    def _follow(self, step: Step, statuses: Sequence[Read]) -> None:
        """What is bad and does no harm: as long as it is so it is told at each
        step, so that it is known to be as it always is."""
        bad = [
            row.module
            for row, status in zip(step.rows, statuses)
            if status.bad and not row.backward and not is_mask(row, status)
        ]
        followed = self._modules.followed
        if followed:
            followed.intersection_update(bad)
        if not step.sampled and bad:
            self._harmless.update(bad)
            for module in bad:
                if len(followed) < _FOLLOWED:
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
            return
        if step.sampled and result.bad:
            return
        op = self._loss_op(step)
        rows.add(op, "input", result)
        rows.add(op, "output", _status_of(step.loss))

    def _tell_part(self, step: Step, rows: Rows) -> None:
        """Which one it is of several losses, one of which is not finite."""
        if len(step.parts) > 1 and step.bad_part() is not None:
            rows.add(self._loss_op(step), "output", _status_of(step.loss))

    # -------------------------------------------------------------- op names

    def _is_half(self, parameter: Parameter) -> bool:
        return (parameter.half and self.half) or parameter.dtype == "fp16"

    def _gradient_op(self, parameter: Parameter, half: bool) -> int:
        op = self._gradient_ops.get(id(parameter))
        if op is None:
            # Of earlier layers later: behind all modules' gradients.
            order = 2 * _BACKWARD - len(self._gradient_ops)
            op = self._run.register_op(
                parameter.name,
                type="Parameter",
                dtype="fp16" if half else parameter.dtype,
                shape=parameter.shape,
                order=order,
            )
            self._gradient_ops[id(parameter)] = op
        return op

    def _weight_op(self, parameter: Parameter) -> int:
        op = self._weight_ops.get(id(parameter))
        if op is None:
            op = self._run.register_op(
                parameter.name,
                type="Parameter",
                dtype=parameter.dtype,
                shape=parameter.shape,
            )
            self._weight_ops[id(parameter)] = op
        return op

    def _tell_between(
        self,
        row: Row,
        rows: Rows,
        before: Read,
        status: Read,
    ) -> None:
        """What is bad entered a module though all that modules made before was
        clean: it was made between, by the forward pass of the one that calls
        them."""
        op = self._between_ops.get(row.module)
        if op is None:
            path, kind = _caller(self._modules.named, row.module)
            op = self._run.register_op(
                path,
                type=kind,
                dtype=row.one.dtype,
                shape=row.one.shape,
                order=self._order_of.get(row.module, 1) - 1,
            )
            self._between_ops[row.module] = op
        rows.add(op, "input", before)
        rows.add(op, "output", status)

    def _name_backward(self, rows: Sequence[Row]) -> None:
        """In the order in which they end: a container's gradient arrives
        before its children's, and leaves after them."""
        last: dict[int, Row] = {}
        for row in rows:
            if row.backward and (row.module, True) not in self._module_ops:
                last.pop(row.module, None)
                last[row.module] = row
        for row in last.values():
            self._module_op(row)

    def _module_op(self, row: Row) -> int:
        key = (row.module, row.backward)
        op = self._module_ops.get(key)
        if op is None:
            path, module = self._modules.named[row.module]
            kind = type(module).__name__
            op = self._run.register_op(
                path,
                type=kind + "Backward" if row.backward else kind,
                dtype=row.one.dtype,
                shape=row.one.shape,
                order=self._orders[row.backward],
            )
            if not row.backward:
                self._order_of[row.module] = self._orders[False]
            self._orders[row.backward] += 2  # room for what is between
            self._module_ops[key] = op
        return op

    def _loss_op(self, step: Step) -> int:
        """What a program computes of the model's output."""
        place, of = step.bad_part(), len(step.parts)
        name = "loss"
        if place is not None and of > 1:
            name += f", part {place + 1} of {of}"
        op = self._loss_ops.get(name)
        if op is None:
            op = self._run.register_op(
                name, type="Loss", dtype="fp32", order=_BACKWARD - 1
            )
            self._loss_ops[name] = op
        return op

    def _push(self, rows: Rows) -> None:
        table = rows.table()
        if table is not None:
            self._run.take_table(table)


def _status_of(loss: float | None) -> Read:
    """Of one that is not finite."""
    nan = int(loss is None or math.isnan(loss))
    return Read(1, nan, 1 - nan, 0, None, None, None)


def _caller(named: Sequence[tuple[str, Any]], module: int) -> tuple[str, str]:
    """Path and type of the module whose forward pass calls this one."""
    by_path = {path: type(m).__name__ for path, m in named}
    path = named[module][0]
    while "." in path:
        path = path.rpartition(".")[0]
        if by_path.get(path) not in (None, "ModuleList", "ModuleDict"):
            return path, by_path[path]
    return named[0][0], type(named[0][1]).__name__
