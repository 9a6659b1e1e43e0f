"""The losses that go backward for one step. Where gradients are accumulated a
program may tell the last of them alone, or a mean that it makes of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from nanwatch._torch.backwards import Marks
from nanwatch._torch.following import Listeners, follow
from nanwatch._torch.losses import is_bad
from nanwatch._torch.objective import Objective
from nanwatch._torch.opponents import Opponents
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.readout import on_host
from nanwatch._torch.rivals import Rivals
from nanwatch._torch.tracing import uncompiled

_MOST = 4096  # of one step
# Passes before which all gradients are looked at; one that reached any counts
# as some that did not.
_WHOLE_LOOKS = 1024
_TOUCHED = 16


# A backward pass: whether all gradients were looked at before it, and the marks
# of each optimizer's, which are others once they were computed.
Before = tuple[bool, list[Marks]]


class Parts:
    def __init__(
        self,
        followed: Sequence[Followed],
        guard: Callable[..., Any],
        *,
        is_scaled: bool,
    ) -> None:
        """`guard` runs a function and keeps what it raises from training.
        `is_scaled`: who scales them tells the losses, not who goes backward."""
        self._followed = followed
        self._guard = guard
        self._is_scaled = is_scaled
        self._rivals = Rivals(followed)
        self._opponents: Opponents | None = None
        self._objective: Objective | None = None
        self._losses: list[Any] = []
        self._are_scaled = False  # that are about to go backward
        self._own = 0  # since the last update: from this place on
        self._newest_bad = -1  # place
        # That are left: not each pass need reach what stands for all.
        self._whole_looks = _WHOLE_LOOKS
        # Called where gradients were discarded, before their losses are.
        self.when_discarded: Callable[[], None] | None = None

    def tell_passes(
        self,
        rivals: Rivals,
        opponents: Opponents,
        objective: Objective,
    ) -> None:
        """To these."""
        self._rivals, self._opponents = rivals, opponents
        self._objective = objective

    def add(self, losses: Any) -> None:
        """A tensor, or several in a list or a tuple; not read on a device."""
        self._guard("parts", self._add, losses)

    def _begin(self, tensors: Any) -> Before:
        """A backward pass of these; returns what `_went_backward` wants."""
        # Else its loss is among them by now.
        if not self._is_scaled and self._own != len(self._losses):
            self._forget_discarded()
        whole = self._whole_looks > 0
        if self._objective is not None:
            self._objective.begins(tensors)
        if self._opponents is not None:
            self._opponents.begins()
        return whole, [f.begins_backward(whole) for f in self._followed]

    def scaled(self, losses: Any, made: Any = None) -> None:
        """By a scaler, which `made` others of them that are about to go
        backward. Where there is more than one optimizer, the pass says
        whose gradients they reach."""
        self._guard("parts", self._forget_discarded)
        self._are_scaled = True
        if len(self._followed) == 1:
            self._guard("parts", self._heard_scaled, self._followed[0])
        for followed in self._followed:
            if not followed.backwards.hears_scaled:
                self._guard("parts", followed.backwards.scales, made)
        self.add(losses)

    def _heard_scaled(self, followed: Followed) -> None:
        if followed.is_trained_here():
            followed.clearing.begins()
            followed.clearing.ended(seen=False)
        followed.backwards.heard()
        followed.was_scaled, self._are_scaled = True, False

    def _went_backward(self, tensors: Any, before: Before) -> None:
        """`tensors`, with the gradients that there were."""
        whole, marks = before
        now = [f.marks(whole) for f in self._followed]
        if now == marks:  # another model's
            self._whole_looks -= whole
            if self._opponents is not None:
                self._opponents.passed()
            return
        touched = [0]
        if len(now) > 1:
            touched = [i for i, old in enumerate(marks) if old != now[i]]
            self._rivals.backward(touched)
            self._pass_by(touched, marks)
        if self._objective is not None:
            self._objective.ended(touched)
        for i in touched:
            self._followed[i].backwards.heard()
            self._followed[i].clearing.ended()
            self._followed[i].was_scaled |= self._are_scaled
        self._are_scaled = False
        if not self._is_scaled:
            self._add(tensors)
        if whole:
            self._whole_looks -= _TOUCHED
            for i in touched:
                self._see_who_stands(i, marks[i], now[i])

    def _pass_by(self, touched: Sequence[int], marks: list[Marks]) -> None:
        """Those that it did not reach."""
        for i, followed in enumerate(self._followed):
            if i not in touched and followed.backwards.any_heard():
                followed.backwards.passed_by(marks[i])
                followed.clearing.passed_by()

    def _see_who_stands(self, i: int, old: Marks, new: Marks) -> None:
        """Of two looks at all; where an optimizer got tensors, or a thread, in
        between, they say nothing."""
        if len(old) != len(new):
            return
        reached = [k for k, mark in enumerate(new) if mark != old[k]]
        if self._followed[i].stand_for(reached):
            self._whole_looks = _WHOLE_LOOKS

    def _forget_discarded(self) -> None:
        """A pass begins with no gradients, or with zeros, though there were
        some since the last update, of each optimizer: what went backward for
        those is nobody's loss. (Those of a discriminator stay there while its
        generator's go backward.)"""
        if self._own == len(self._losses):
            return
        if not all(f.backwards.any_heard() for f in self._followed):
            return
        if self._are_gone():
            if self.when_discarded is not None:
                self.when_discarded()
            for place in range(self._own, len(self._losses)):
                self._losses[place] = 0.0
            self._own = len(self._losses)

    def _are_gone(self) -> bool:
        """Those that stand for all, and then all."""
        there: list[Any] = []
        for whole in (False, True):
            found = [g for f in self._followed for g in f.some_gradients(whole)]
            there = [g for g in found if g is not None]
            if not found or (there and not self._may_be_zeroed(there)):
                return False
        return not any(bool(g.any()) for g in there)

    def _may_be_zeroed(self, gradients: list[Any]) -> bool:
        """Asked on a host alone, and where it matters."""
        return (
            self.has_bad() or any(f.is_known_bad() for f in self._followed)
        ) and all(map(on_host, gradients))

    def _add(self, losses: Any) -> None:
        if (  # in few calls what most programs have
            type(losses) is torch.Tensor
            and losses.ndim == 0
            and on_host(losses)
            and type(value := losses.tolist()) is float
            and len(self._losses) < _MOST
        ):
            self._add_value(value)
            return
        several = losses if isinstance(losses, (list, tuple)) else (losses,)
        for loss in several:
            if (
                not isinstance(loss, torch.Tensor)
                or loss.numel() != 1
                or not loss.is_floating_point()
                or len(self._losses) >= _MOST
            ):
                continue
            if not on_host(loss):  # programs add to what they had of it
                its = loss if loss.ndim == 0 else loss.reshape(())
                self._losses.append(its.detach().clone())
                continue
            self._add_value(loss.item())

    def _add_value(self, value: Any) -> None:
        if is_bad(value):
            self._newest_bad = len(self._losses)
        self._losses.append(value)

    def empty(self) -> bool:
        return not self._losses

    def has_bad(self) -> bool:
        """Since the last update, and known not to be finite."""
        return self._newest_bad >= self._own

    def forget_from(self, count: int) -> None:
        """All but the first so many."""
        del self._losses[count:]
        self._own = min(self._own, count)
        if self._newest_bad >= count:
            self._newest_bad = -1

    def take_discarded(self) -> list[Any]:
        """Those since the last update."""
        taken = self._losses[self._own :]
        del self._losses[self._own :]
        self._newest_bad = -1
        return taken

    def count(self) -> int:
        return len(self._losses)

    def take(self) -> list[Any]:
        """Those since the last call: floats, and tensors of a device."""
        if not self._losses:
            return self._losses
        taken, self._losses = self._losses, []
        self._own, self._newest_bad = 0, -1
        return taken

    def updated(self) -> int:
        """What went backward until now was for an update that is over: so many
        losses."""
        if self._objective is not None:
            self._objective.updated()
        self._own = len(self._losses)
        return self._own


_listeners: Listeners[Parts] = Listeners()


def _begin(tensors: Any) -> list[tuple[Parts, Any]]:
    return [
        (its, its._guard("parts", its._begin, tensors)) for its in _listeners
    ]


def _end(begun: list[tuple[Parts, Any]], tensors: Any) -> None:
    for its, before in begun:
        if before is not None:
            its._guard("parts", its._went_backward, tensors, before)


def _followed(function: Any) -> Any:
    begin, end = uncompiled(_begin), uncompiled(_end)

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if not _listeners:
            return function(tensors, *args, **kwargs)
        begun = begin(tensors)
        result = function(tensors, *args, **kwargs)
        end(begun, tensors)
        return result

    return backward


def listen(parts: Parts) -> None:
    """To each backward pass that computes gradients of its own, in the thread
    that trains its model, for as long as it lives, or until `forget`."""
    _listeners.add(parts)
    follow(torch.autograd, "backward", _followed)


def forget(parts: Parts) -> None:
    _listeners.discard(parts)
