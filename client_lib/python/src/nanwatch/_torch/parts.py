"""The losses that go backward for one step. Where gradients are accumulated a
program may tell the last of them alone, or a mean that it makes of others."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from nanwatch._torch.following import all_of, follow
from nanwatch._torch.losses import is_bad
from nanwatch._torch.modules import is_compiling
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.readout import on_host
from nanwatch._torch.rivals import Rivals

_MOST = 4096  # of one step
_WHOLE_LOOKS = 64


class Before(NamedTuple):
    """A backward pass."""

    whole: bool  # all gradients were looked at
    marks: list[list[Any]]


class Parts:
    def __init__(
        self,
        followed: Sequence[Followed],
        guard: Callable[[str, Callable[[], None]], None],
        *,
        is_scaled: bool,
    ) -> None:
        """`guard` runs a function and keeps what it raises from training.
        `is_scaled`: who scales them tells the losses, not who goes backward."""
        self._followed = followed
        self._guard = guard
        self._is_scaled = is_scaled
        self.rivals = Rivals(followed)
        self._losses: list[Any] = []
        self._own = 0  # since the last update: from this place on
        self._newest_bad = -1  # place
        # Passes more before which all gradients are looked at, not only those
        # that stand for all: not each pass need reach those.
        self._whole_looks = _WHOLE_LOOKS
        # Called where gradients were discarded, before their losses are.
        self.when_discarded: Callable[[], None] | None = None

    def add(self, losses: Any) -> None:
        """A tensor, or several in a list or a tuple; not read on a device."""
        several = losses if isinstance(losses, (list, tuple)) else (losses,)

        def work() -> None:
            for loss in several:
                if isinstance(loss, torch.Tensor):
                    self._add(loss)

        self._guard("parts", work)

    def begin(self) -> Before:
        """A backward pass, of these or of other tensors; returns what
        `went_backward` wants."""
        if not self._is_scaled:  # else its loss is among them by now
            self._guard("parts", self._forget_discarded)
        whole = self._whole_looks > 0
        self._whole_looks -= whole
        return Before(whole, self._marks(whole))

    def _marks(self, whole: bool) -> list[list[Any]]:
        """Of gradients of each optimizer, two a tensor; others, once they were
        computed."""
        found: list[list[Any]] = [[] for _ in self._followed]

        def work() -> None:
            for its, followed in zip(found, self._followed):
                for gradient in followed.some_gradients(whole):
                    its.append(id(gradient))
                    its.append(gradient is None or gradient._version)

        self._guard("parts", work)
        return found

    def scaled(self, losses: Any) -> None:
        """By a scaler; they are about to go backward. Where there is more than
        one optimizer, `went_backward` says whose gradients they reach."""
        self._guard("parts", self._forget_discarded)
        if len(self._followed) == 1:
            self._followed[0].backwards.heard()
        self.add(losses)

    def went_backward(self, tensors: Any, before: Before) -> None:
        """`tensors`, with the gradients that there were."""
        now = self._marks(before.whole)
        if now == before.marks:  # another model's
            return
        touched = []
        for i, (old, new) in enumerate(zip(before.marks, now)):
            if old == new:
                continue
            touched.append(i)
            followed = self._followed[i]
            followed.backwards.heard()
            if before.whole and followed.stand_for(
                [k // 2 for k, mark in enumerate(new) if mark != old[k]]
            ):
                self._whole_looks = _WHOLE_LOOKS
        self.rivals.backward(touched)
        if not self._is_scaled:
            self.add(tensors)

    def _forget_discarded(self) -> None:
        """A pass begins with no gradients, or with zeros, though there were
        some since the last update, of each optimizer: what went backward for
        those is nobody's loss. (Those of a discriminator stay there while its
        generator's go backward.)"""
        if self._own == len(self._losses):
            return
        if not all(f.backwards.any_heard() for f in self._followed):
            return
        gradients = [g for f in self._followed for g in f.some_gradients()]
        there = [g for g in gradients if g is not None]
        if gradients and (not there or self._are_zeroed(there)):
            if self.when_discarded is not None:
                self.when_discarded()
            for place in range(self._own, len(self._losses)):
                self._losses[place] = 0.0
            self._own = len(self._losses)

    def _are_zeroed(self, gradients: list[Any]) -> bool:
        """Asked on a host alone, and where it matters."""
        return (
            all(map(on_host, gradients))
            and (
                self.has_bad() or any(f.is_known_bad() for f in self._followed)
            )
            and not any(bool(g.any()) for g in gradients)
        )

    def _add(self, loss: Any) -> None:
        if (
            loss.numel() != 1
            or not loss.is_floating_point()
            or len(self._losses) >= _MOST
        ):
            return
        if on_host(loss):
            if is_bad(value := float(loss.detach().item())):
                self._newest_bad = len(self._losses)
            self._losses.append(value)
        else:  # programs add to what they had of it
            self._losses.append(loss.detach().reshape(()).clone())

    def empty(self) -> bool:
        return not self._losses

    def has_bad(self) -> bool:
        """Since the last update, and known not to be finite."""
        return self._newest_bad >= self._own

    def take_discarded(self) -> list[Any]:
        """Those since the last update."""
        taken = self._losses[self._own :]
        del self._losses[self._own :]
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

    def updated(self) -> None:
        """What went backward until now was for an attempt that is over."""
        self._own = len(self._losses)


_listeners: weakref.WeakSet[Parts] = weakref.WeakSet()


def _followed(function: Any) -> Any:
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or not _listeners:
            return function(tensors, *args, **kwargs)
        parts = [(its, its.begin()) for its in all_of(_listeners)]
        result = function(tensors, *args, **kwargs)
        for its, before in parts:
            its.went_backward(tensors, before)
        return result

    return backward


def listen(parts: Parts) -> None:
    """To each backward pass that computes gradients of its own, in the thread
    that trains its model, for as long as it lives, or until `forget`."""
    _listeners.add(parts)
    follow(torch.autograd, "backward", _followed)


def forget(parts: Parts) -> None:
    _listeners.discard(parts)
