"""What becomes of gradients: one Update for each time that an optimizer is
about to update."""

from __future__ import annotations

import functools
import math
import operator
import threading
from collections.abc import Callable, Container, Sequence
from typing import Any

import torch

from nanwatch._torch.backwards import (
    Backwards,
    Marks,
    is_on_host,
    marks_of,
    tensors_of,
)
from nanwatch._torch.faults import Clearing
from nanwatch._torch.glances import Glance
from nanwatch._torch.grouping import by_device, kinds_of, known_kinds_of
from nanwatch._torch.hooks import Hook
from nanwatch._torch.known_norms import KnownNorms
from nanwatch._torch.parameters import Parameter, Parameters
from nanwatch._torch.readout import Readout
from nanwatch._torch.replicas import Turns
from nanwatch._torch.statistics import (
    HALF,
    Shapes,
    Sizes,
    best_norms_of,
    local,
    norms_of,
)
from nanwatch._torch.stuck import Stuck
from nanwatch._torch.tracing import uncompiled
from nanwatch._torch.update import Update
from nanwatch._torch.updates import UpdateSize, real_weights

_SOME = 4  # tensors that stand for all, at first
_MOST = 32  # of them


class Followed:
    """One optimizer with its hooks."""

    def __init__(
        self,
        optimizer: Any,
        name: str | None,
        parameters: Parameters,
        before: Callable[[Followed, Any], None],
        after: Callable[[Followed, Any], None],
        *,
        is_scaled: bool,
    ) -> None:
        """`parameters`: the model's."""
        self.optimizer = optimizer
        self.name = name
        self.update: Update | None = None
        self.updates = 0  # that are over, without those that were discarded
        self.is_new = True  # its gradients were never looked at
        # That made the watch, until another one takes a step.
        self._thread = threading.get_ident()
        self.update_size = UpdateSize(optimizer)
        self._parameters = parameters
        # Places of a few tensors that stand for all: group, and place in it.
        self._some: list[tuple[int, int]] = []
        self._is_scaled = is_scaled
        self._before = before
        # Of gradients that are all usual ones of one device: whose these are.
        self._usual: tuple[list[Parameter], Shapes] | None = None
        self._turns = Turns()
        # Those whose turn it was, with what they were called as of then, and
        # what `_glanced_at` made of them.
        self._glanced: dict[range, tuple[int, list[Any], list[Any]]] = {}
        self.backwards = Backwards(optimizer, self.some_tensors)
        self.clearing = Clearing(self.some_tensors)
        self.stuck = Stuck(optimizer, self.some_tensors)
        self.was_scaled = False  # a loss that went backward since the update
        # Whether gradients were clipped since, that had the loss scale; None:
        # it is not known.
        self.clipped: Any = None
        self._kinds: list[Any] = []
        self._ids: list[int] = []
        self._version = -1  # of what the parameters are called
        self._count = 0  # of tensors, at the last look
        self._handles = [
            optimizer.register_step_pre_hook(Hook(uncompiled(self._begins))),
            optimizer.register_step_post_hook(
                Hook(uncompiled(lambda o, args, kwargs: after(self, o)))
            ),
        ]

    def _begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        """What it gets a closure for computes its gradients in there: they are
        looked at when that is over, the first time. A hook of an optimizer
        may return other arguments."""
        place = 1 if args and args[0] is optimizer else 0
        closure = args[place] if len(args) > place else kwargs.get("closure")
        if not callable(closure):
            self._before(self, optimizer)
            return None
        over = False
        if self.backwards.in_closure:  # which did not come back the last time
            self.backwards.in_closure = False
            self.end()

        @functools.wraps(closure)
        def followed(*given: Any, **named: Any) -> Any:
            nonlocal over
            result = closure(*given, **named)
            if not over:
                over = self.backwards.in_closure = True
                self._before(self, optimizer)
            return result

        if len(args) > place:
            return (*args[:place], followed, *args[place + 1 :]), kwargs
        return args, {**kwargs, "closure": followed}

    def close(self) -> None:
        self.update_size.forget()
        for handle in self._handles:
            handle.remove()

    def is_trained_here(self) -> bool:
        """By this thread. Another one's gradients are not to be touched: the
        backward pass writes them without the interpreter's lock."""
        return self._thread == threading.get_ident()

    def updated(self) -> None:
        """By an update that is over, a skipped one too."""
        self.backwards.updated()
        self.clearing.updated()
        self.was_scaled = False
        self.clipped = None

    def begin(self) -> Update:
        self._thread = threading.get_ident()
        if self.update is None:
            self.update = Update(self)
        return self.update

    def end(self) -> Update | None:
        update, self.update = self.update, None
        self.update_size.forget()
        return update

    def is_known_bad(self) -> bool:
        """A gradient that was looked at and not updated with yet."""
        return self.update is not None and self.update.is_known_bad()

    def is_unseen(self, clips: bool = False) -> bool:
        """What it got gradients from is not looked at, or not all of it. A
        scaler unscales them when they are complete. `clips`: they are about to
        be clipped."""
        update = self.update
        if update is None or not update.looked_at:
            return True
        return not self._is_scaled and self.backwards.have_newer(clips)

    def forget_unread(self) -> None:
        """What an update that is not over has on a device: it would be looked
        for in another readout."""
        if self.update is not None and not self.is_on_host():
            self.update = None

    def tensors(self) -> list[Any]:
        """Those that it updates."""
        return tensors_of(self.optimizer)

    def some_tensors(self) -> list[Any]:
        """A few of those that it updates, from the first to the last; as soon
        as gradients were looked at, of those that have one."""
        groups = self.optimizer.param_groups
        if not self._some:
            self._choose_some(lambda p: p.requires_grad)
        try:
            return [groups[i]["params"][j] for i, j in self._some]
        except IndexError:  # there are fewer now
            self._some = []
            return []

    def some_gradients(self, whole: bool = False) -> list[Any]:
        """Of these tensors, or of all, None where one has none; no gradient at
        all where another thread trains them."""
        if self._thread != threading.get_ident():
            return []
        tensors = self.tensors() if whole else self.some_tensors()
        return [tensor.grad for tensor in tensors]

    def marks(self, whole: bool) -> Marks:
        """Of those gradients; see `some_gradients`."""
        if self._thread != threading.get_ident():
            return []
        return marks_of(self.tensors() if whole else self.some_tensors())

    def begins_backward(self, whole: bool) -> Marks:
        """A pass is about to; returns the marks."""
        if self._thread == threading.get_ident():
            self.clearing.begins()
        return self.marks(whole)

    def some_versions(self) -> dict[int, int]:
        """Of the gradients of these tensors, where they have one: by the ids of
        the tensors, how often each was written to; none where another thread
        trains them."""
        if not self.is_trained_here():
            return {}
        some = [p for p in self.some_tensors() if p.grad is not None]
        marks = marks_of(some)
        return {id(p): version for p, (_, version) in zip(some, marks)}

    def stand_for(self, which: Sequence[int]) -> bool:
        """By their places among all tensors: a backward pass reached these. One
        of them is a tensor more that stands for all, if none of them was."""
        ids = {id(tensor) for tensor in self.some_tensors()}
        tensors = self.tensors()
        if (
            not which
            or len(ids) >= _MOST
            or any(id(tensors[k]) in ids for k in which)
        ):
            return False
        wanted = tensors[which[0]]
        for i, group in enumerate(self.optimizer.param_groups):
            for j, tensor in enumerate(group["params"]):
                if tensor is wanted:
                    self._some.append((i, j))
        return True

    def _choose_some(self, which: Callable[[Any], bool]) -> None:
        found = [
            (i, j)
            for i, group in enumerate(self.optimizer.param_groups)
            for j, tensor in enumerate(group["params"])
            if which(tensor)
        ]
        last = len(found) - 1
        places = {last * k // (_SOME - 1) for k in range(_SOME)}
        self._some = [found[place] for place in sorted(places) if found]

    def holds(self, ids: set[int]) -> bool:
        """Any of the tensors with these ids."""
        return any(id(p) in ids for p in self.tensors())

    def holds_of(self, norms: KnownNorms) -> bool:
        """Any of the gradients whose norms these are."""
        if not self.is_trained_here():
            return False
        gradients = [p.grad for p in self.tensors()]
        return norms.are_of(gradients) or any(
            id(g) in norms.by_id() for g in gradients
        )

    def holds_gradients(self, ids: Container[int]) -> bool:
        """Any of the gradients with these ids, which are of this thread's."""
        return self.is_trained_here() and any(
            id(p.grad) in ids for p in self.tensors()
        )

    def rate(self) -> float | None:
        """The learning rate; a tensor on a device is left where it is."""
        groups = self.optimizer.param_groups
        rate = groups[0].get("lr") if groups else None
        if isinstance(rate, torch.Tensor):
            return rate.item() if rate.device.type == "cpu" else None
        return float(rate) if isinstance(rate, (int, float)) else None

    def measure_gradients(
        self,
        readout: Readout,
        *,
        largest: bool,
        zeros: bool,
        divide_by: Any = None,
        gradient_of: Callable[[Any], Any] | None = None,
        norms: KnownNorms | None = None,
    ) -> None:
        """Anew, where it was done before. `gradient_of`: where they lie, if
        not with the optimizer's tensors. `norms`: theirs, where they are
        known."""
        update = self.begin()
        if not update.looked_at:
            update.was_written = self.clearing.were_written()
        update.looked_at = True
        self.is_new = False
        self.backwards.looked()
        for gradients, parameters, shapes in self._gradients(
            gradient_of, norms
        ):
            update.gradients.append(parameters)
            update.sizes.append(
                Sizes(
                    gradients,
                    shapes,
                    readout,
                    largest=largest,
                    zeros=zeros,
                    divide_by=divide_by,
                    norms=None if norms is None else norms.of(gradients),
                )
            )

    def _gradients(
        self,
        gradient_of: Callable[[Any], Any] | None,
        norms: KnownNorms | None,
    ) -> list[tuple[list[Any], list[Parameter], Shapes]]:
        """By device. As long as they are the same, nothing is made anew."""
        tensors = self.tensors()
        self._parameters.passes()
        if len(tensors) < self._count:
            self._parameters.doubt()
        self._count = len(tensors)
        if gradient_of is not None:
            found = [(p, gradient_of(p)) for p in tensors]
            return self._look([(p, g) for p, g in found if g is not None])
        trained, gradients = tensors, [p.grad for p in tensors]
        # By identity: to compare tensors is to compute.
        if id(None) in map(id, gradients):
            without = [p for p, g in zip(tensors, gradients) if g is None]
            trained = [p for p, g in zip(tensors, gradients) if g is not None]
            gradients = [g for g in gradients if g is not None]
            if trained:
                self.begin().absent = self._absent(without)
            else:  # there may be tensors that were replaced before the update
                self._parameters.of(tensors)
        known = norms is not None and norms.are_of(gradients)
        kinds = known_kinds_of(gradients) if known else kinds_of(gradients)
        ids = list(map(id, trained))
        if (
            self._usual is not None
            and kinds == self._kinds
            and self._parameters.are_still(self._version)
            and ids == self._ids
        ):
            return [(gradients, *self._usual)]
        groups = self._look(list(zip(trained, gradients)))
        self._usual = None
        if (
            len(groups) == 1
            and len(groups[0][0]) == len(trained)
            and all(type(g) is torch.Tensor for g in gradients)
            and all(g.layout is torch.strided for g in gradients)
        ):
            self._usual = groups[0][1:]
            self._kinds = kinds
            self._ids = ids
            self._version = self._parameters.version
        return groups

    def _absent(self, tensors: list[Any]) -> list[Parameter]:
        """Those of `tensors`, which have no gradient, that are trained. Others
        have one."""
        if all(p.grad is None for p in self.some_tensors()):
            self._choose_some(lambda p: p.grad is not None)
        return self._parameters.of([p for p in tensors if p.requires_grad])

    def _look(
        self, pairs: list[Any]
    ) -> list[tuple[list[Any], list[Parameter], Shapes]]:
        return [
            (
                [g for _, g in group],
                self._parameters.of([p for p, _ in group]),
                Shapes([g for _, g in group]),
            )
            for group in by_device(pairs)
        ]

    def measure_again(self, readout: Readout) -> None:
        gradients = [
            local(p.grad)
            for p in real_weights(self.optimizer)
            if p.grad is not None
        ]
        norms = norms_of(gradients, Shapes(gradients).half)
        self.begin().again = readout.add_mixed(norms)

    def measure_weights(self, readout: Readout) -> None:
        update = self.begin()
        pairs = [(p, p) for p in self.tensors()]
        for weights, parameters, shapes in self._look(pairs):
            update.parameters.append(parameters)
            update.weight_sizes.append(
                Sizes(weights, shapes, readout, largest=True, zeros=False)
            )

    def is_on_host(self) -> bool:
        return is_on_host(self.optimizer)

    def weights(self) -> list[Parameter]:
        """By any thread."""
        return self._parameters.known(self.tensors())

    def glance_at_weights(
        self, readout: Readout, number: int, replica: bool, everything: bool
    ) -> None:
        """At those whose turn it is at the step `number`, or at all of them;
        once an update. `replica`: other ranks do the same."""
        update = self.begin()
        if update.glances:
            return
        tensors = self.tensors()
        which = range(len(tensors))
        update.weights = len(tensors)
        update.glanced_at_all = update.comparable = True
        if replica and not everything:
            turn = self._turns.next(number, tensors)
            which = turn.which
            update.glanced_at_all = turn.all
            update.comparable = turn.comparable
            tensors = tensors[which.start :: which.step]
        for places, parameters, weights, half in self._glanced_at(
            which, tensors
        ):
            order = 2.0 if replica else math.inf
            norms = readout.add(best_norms_of(weights, half, order))
            glance = Glance(places, parameters, norms, not replica)
            update.glances.append(glance)

    def _glanced_at(
        self, which: range, tensors: list[Any]
    ) -> list[tuple[list[int], list[Parameter], list[Any], bool]]:
        """Places, parameters and weights by device, and whether some are in 16
        bits. As long as they are the same ones, nothing is checked."""
        known = self._glanced.get(which)
        if (
            known is not None
            and known[0] == self._parameters.version
            and all(map(operator.is_, known[1], tensors))
        ):
            return known[2]
        all_of_them = dict(zip(which, self._parameters.of(tensors)))
        groups = [
            (
                [i for i, _ in group],
                [all_of_them[i] for i, _ in group],
                [t for _, t in group],
                any(t.dtype in HALF for _, t in group),
            )
            for group in by_device(list(zip(which, tensors)))
        ]
        # Those that were replaced are not kept alive in another turn, either.
        if known is not None or any(
            r.stop != which.stop for r in self._glanced
        ):
            self._glanced.clear()
        self._glanced[which] = (self._parameters.version, tensors, groups)
        return groups

    def measure_update(self, readout: Readout) -> None:
        """Of the weights, where they were copied before it."""
        norms = self.update_size.take_norms()
        if norms is not None and self.update is not None:
            self.update.norms = readout.add_mixed(norms)


def plain(optimizer: Any) -> Any:
    """Without what frameworks wrap around it."""
    seen = 0
    while seen < 4 and isinstance(
        getattr(optimizer, "optimizer", None), torch.optim.Optimizer
    ):
        optimizer = optimizer.optimizer
        seen += 1
    return optimizer


def total(norms: list[float]) -> float:
    """The norm of all, in the range of a double."""
    return math.hypot(*norms) if norms else 0.0
