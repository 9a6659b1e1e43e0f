"""A part of the model that is not trained: it gets gradients and no optimizer
updates it (made after its optimizer, or left out when that was made, or held by
one whose step() never comes), or an optimizer holds it and no backward pass
reaches it: for no reason that is seen, or because it is cut off. Or all of the
model stays as it is, and what the optimizer holds are copies that nobody brings
back. A few of its tensors, from some updates to the next: they stay as they
are, their gradients do not, and what is trained moves."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn.parameter import is_lazy

from nanwatch._torch.cut_off import CutOff
from nanwatch._torch.guard import Guard
from nanwatch._torch.modules import inner, own_path
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.parameters import Parameters
from nanwatch._torch.part_names import part_of, shortened
from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import local
from nanwatch._update_faults import (
    CUT_OFF,
    HELD_BACK,
    NEVER_CALLED,
    NONE,
    NOT_HELD,
    NOT_REACHED,
    OTHER_WEIGHTS,
)

# Updates of one optimizer at which it looks: these, and one in so many.
_FIRST = (2, 32)
_EVERY = 64
# Updates for which one of several optimizers may well not be called, or a head
# have no turn.
_PATIENCE = 128
_SOME = 4  # tensors that stand for all
_ELEMENTS = 512  # of each
# For which it may be cut off, as while a head alone warms up.
_PATIENCE_CUT = 256
# Of the model's tensors: a part that is larger was trained before.
_LARGE = 2 / 3

# Whom no optimizer updates, and why.
_WHY = {
    NOT_HELD: "no optimizer that watch() was given holds it",
    NEVER_CALLED: "step() of the optimizer that holds it is never called",
}

# What is to be read of an update, and who is told whether it was another
# number than 0.
Asked = tuple[Any, Callable[[bool], None]]
_Named = tuple[str, Any]


class _Found(NamedTuple):
    """What nobody updates."""

    fault: int
    of: str
    tensors: list[Any]


class _Copies(NamedTuple):
    """As of a look."""

    ids: list[int]
    weights: list[Any]
    gradients: list[Any]  # empty: it has none
    trained: list[Any]


class Untrained:
    """Of one watch."""

    def __init__(
        self,
        model: Any,
        parameters: Parameters,
        followed: Sequence[Followed],
        guard: Guard,
    ) -> None:
        """`parameters`: the model's."""
        self._model = model
        self._parameters = parameters
        self._followed = followed
        self._checks = guard.run._checks
        self._clock: Followed | None = None  # whose updates count
        self._updates = 0  # of it
        self._before: _Copies | None = None
        self._unreached: set[int] | None = None  # ids; None: nobody looked
        self._cut_off = CutOff(guard)
        # As of the last look: what stands beside frozen weights, of which
        # tensors, and what these parameters are called together.
        self._meant: tuple[list[int], set[int]] = ([], set())
        self._part: tuple[list[str], str] = ([], "")
        # What is known as of the last look.
        self.fault = NONE
        self.of = ""

    def is_due(self, followed: Followed) -> bool:
        """Before an update; it is counted here."""
        if self._clock is None:
            self._clock = followed
        if followed is not self._clock:
            return False
        self._cut_off.updated()
        ordinal = self._updates
        self._updates += 1
        return ordinal in _FIRST or (ordinal > 0 and ordinal % _EVERY == 0)

    def close(self) -> None:
        self._cut_off.close()

    def is_told_by(self, followed: Followed) -> bool:
        """Of whose updates what is known is told."""
        return self.fault != NONE and followed is self._clock

    def look(self, readout: Readout) -> Asked | None:
        """None: there is nothing to be read."""
        before, self._before = self._before, None
        found = self._find()
        if found is None:
            self.fault = NONE
            return None
        some = _spread(found.tensors)
        trained = self._clock.some_tensors() if self._clock else []
        with torch.no_grad():
            now = _Copies(
                [id(p) for p in found.tensors],
                [_sample(p) for p in some],
                [_sample(p.grad) for p in some if p.grad is not None],
                [_sample(p) for p in trained],
            )
            self._before = now
            patient = (
                found.fault in (NEVER_CALLED, NOT_REACHED)
                and self._updates < _PATIENCE
            )
            if before is None or before.ids != now.ids or patient:
                self.fault = NONE
                return None
            fault = found.fault
            if fault == NOT_REACHED and self._is_cut_off(found.tensors):
                fault = CUT_OFF
            copies = fault == OTHER_WEIGHTS
            place = readout.add([_is_left_alone(before, now, copies)])
        return place, functools.partial(self._learn, fault, found.of)

    def _learn(self, fault: int, of: str, is_left_alone: bool) -> None:
        if not is_left_alone:
            self.fault = NONE
            return
        self.fault, self.of = fault, shortened(of)
        if fault in _WHY:
            self._checks.refuse(
                "untrained",
                f"{of} gets gradients, and {_WHY[fault]}: it stays as it is",
            )

    def _find(self) -> _Found | None:
        """What is not trained, as of now."""
        called: set[int] = set()
        idle: set[int] = set()
        for each in self._followed:
            is_called = each.updates > 0 or each is self._clock
            (called if is_called else idle).update(map(id, each.tensors()))
        named = self._with_gradients()
        trained = [i for i, (_, p) in enumerate(named) if id(p) in called]
        if not trained:  # it holds copies, or others update all
            tensors = [p for _, p in named]
            return _Found(OTHER_WEIGHTS, "", tensors) if tensors else None
        rest = [each for each in named if id(each[1]) not in called]
        not_held = [each for each in rest if id(each[1]) not in idle]
        if not not_held:
            if rest:
                return self._found(NEVER_CALLED, rest)
            return self._not_reached()
        if self._holds_replaced():
            return self._found(NOT_HELD, not_held)
        # To train a head alone is usual, and to do so behind one that is not
        # trained is not, unless that is most of the model.
        meant = self._beside_frozen(not_held)
        if len(not_held) <= _LARGE * len(named):
            behind = set(map(id, (p for _, p in named[trained[-1] + 1 :])))
            meant |= behind
        found = [each for each in not_held if id(each[1]) in meant]
        if found:
            return self._found(NOT_HELD, found)
        return self._found(HELD_BACK, not_held)

    def _beside_frozen(self, named: list[_Named]) -> set[int]:
        """Ids of those that stand in a module most of which is frozen: what is
        not, as an adapter, was left to be trained."""
        ids = [id(p) for _, p in named]
        if self._meant[0] == ids:
            return set(self._meant[1])
        frozen: collections.Counter[str] = collections.Counter()
        free: collections.Counter[str] = collections.Counter()
        for name, p in self._named():
            for module in _modules_of(name):
                (free if p.requires_grad else frozen)[module] += p.numel()
        meant = {
            id(p)
            for name, p in named
            if any(frozen[m] > free[m] for m in _modules_of(name))
        }
        self._meant = ids, meant
        return set(meant)

    def _not_reached(self) -> _Found | None:
        """What the optimizer that is called holds, and what had no gradient at
        any look."""
        held = set(map(id, self._clock.tensors() if self._clock else []))
        if self._unreached is not None:
            held &= self._unreached
        named = self._named(lambda p: id(p) in held and _lacks_gradient(p))
        self._unreached = {id(p) for _, p in named}
        return self._found(NOT_REACHED, named) if named else None

    def _is_cut_off(self, tensors: list[Any]) -> bool:
        model = inner(self._model)
        trained = [p for p in model.parameters() if _has_gradient(p)]
        self._cut_off.ask(model, tensors, trained)
        return self._updates >= _PATIENCE_CUT and self._cut_off.is_seen()

    def _found(self, fault: int, named: list[_Named]) -> _Found:
        names = [name for name, _ in named]
        if self._part[0] != names:
            others = {name for name, _ in self._named()}.difference(names)
            self._part = names, part_of(names, others)
        return _Found(fault, self._part[1], [p for _, p in named])

    def _with_gradients(self) -> list[_Named]:
        """The model's tensors that have one, in the order in which it uses
        them, or else lists them."""
        named = self._named(_has_gradient)
        order = self._parameters.order
        if all(id(p) in order for _, p in named):
            named.sort(key=lambda each: order[id(each[1])])
        return named

    def known(self) -> set[int]:
        """Ids of the model's parameters, and of what its optimizers hold."""
        held = {id(p) for each in self._followed for p in each.tensors()}
        return held | {id(p) for _, p in self._named()}

    def _named(
        self, which: Callable[[Any], bool] = lambda p: True
    ) -> list[_Named]:
        listed = inner(self._model).named_parameters()
        return [(own_path(name), p) for name, p in listed if which(p)]

    def _holds_replaced(self) -> bool:
        """An optimizer has tensors that the model has no more."""
        known = {id(p) for p in inner(self._model).parameters()}
        return any(
            p.requires_grad and p.grad is None and id(p) not in known
            for each in self._followed
            for p in each.tensors()
        )


def _modules_of(name: str) -> list[str]:
    """That it stands in, from the smallest to the model, which is ""."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(len(parts) - 1, -1, -1)]


def _has_gradient(parameter: Any) -> bool:
    return (
        parameter.requires_grad
        and parameter.grad is not None
        and parameter.grad.layout is torch.strided
    )


def _lacks_gradient(parameter: Any) -> bool:
    return (
        parameter.requires_grad
        and parameter.grad is None
        and not is_lazy(parameter)
        and parameter.numel() > 0  # else another rank has its shard
    )


def _spread(tensors: list[Any]) -> list[Any]:
    """A few of them, from the first to the last."""
    last = len(tensors) - 1
    places = {last * k // (_SOME - 1) for k in range(_SOME)}
    return [tensors[place] for place in sorted(places)]


def _sample(tensor: Any) -> Any:
    return local(tensor.detach()).reshape(-1)[:_ELEMENTS].clone()


def _is_left_alone(before: _Copies, now: _Copies, copies: bool) -> Any:
    """A number, other than 0 if it is so. `copies`: what is trained is to come
    back into it; most of that has moved by what its format can hold."""
    device = now.weights[0].device
    still = _moved(before.weights, now.weights, device) == 0
    moved = _moved(before.gradients, now.gradients, device)
    alive = not now.gradients or moved != 0
    if copies:
        dtype = now.weights[0].dtype
        old, new = (
            [each.to(dtype) for each in look.trained] for look in (before, now)
        )
        trains = _moved(old, new, device) * 2 > sum(t.numel() for t in new)
    else:
        trains = _moved(before.trained, now.trained, device) != 0
    return (still & alive & trains).float()


def _moved(old: list[Any], new: list[Any], device: Any) -> Any:
    """How many elements."""
    counts = [
        torch.ones((), device=device)
        if a.shape != b.shape
        else (a != b).sum().to(device).float()
        for a, b in zip(old, new)
    ]
    return sum(counts, torch.zeros((), device=device))
