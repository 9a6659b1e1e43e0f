"""The backward passes that one optimizer's gradients are of: are these still
those of its last update, or newer than what was looked at?

Not every pass is heard: what torch.autograd.grad gives becomes gradients by
assignment. Then the tensors themselves say whether they are others, as they do
where a program discards gradients that lie on a device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from nanwatch._torch.readout import on_host
from nanwatch._torch.tracing import is_compiling

# Which gradient each tensor has, by its id, and how often that was written.
Marks = list[tuple[int, int]]

_NONE = id(None)


def tensors_of(optimizer: Any) -> list[Any]:
    """Those that it updates."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def count_trained(optimizer: Any) -> int:
    """Tensors that it updates."""
    return sum([len(group["params"]) for group in optimizer.param_groups])


def is_on_host(optimizer: Any) -> bool:
    groups = optimizer.param_groups
    first = groups[0]["params"] if groups else ()
    return not first or on_host(first[0])


class Backwards:
    """For the thread that trains these tensors."""

    def __init__(
        self,
        optimizer: Any,
        some: Callable[[], list[Any]] | None = None,
    ) -> None:
        """`some` of its tensors stand for all; None: all do."""
        self._optimizer = optimizer
        self._some = some or functools.partial(tensors_of, optimizer)
        self._heard = 0  # since the last update
        self._hears = False  # any, before that update
        self._passed_by = False  # see `passed_by`
        self._left: Marks = []  # when that was over
        self._asked = False  # for the norm of what it left, since
        self._looked_after = 0  # so many that were heard
        self._to_clip: Marks = []  # before a clip, where none is counted
        self.in_closure = False  # the optimizer calls what computes them
        # A scaler gave a loss, and one of those went backward; ever.
        self._scales = self.hears_scaled = False

    def heard(self) -> None:
        """One that computes gradients of these tensors is over, or about to
        begin."""
        self._heard += 1
        self._passed_by = False

    def scales(self, loss: Any) -> None:
        """A scaler gives it, for it to go backward. Asked until one did."""
        if self.hears_scaled or is_compiling():
            return
        for each in loss if isinstance(loss, (list, tuple)) else (loss,):
            if isinstance(each, torch.Tensor) and each.requires_grad:
                self._scales = True
                each.register_hook(self._hear_scaled)

    def _hear_scaled(self, gradient: Any) -> None:
        self.hears_scaled = True

    def lack_scale(self) -> bool:
        """A scaler gave losses, and other ones went backward."""
        return self._scales and not self.hears_scaled

    def any_heard(self) -> bool:
        """Since the last update."""
        return self._heard > 0

    def passed_by(self, marks: Marks) -> None:
        """One that computes none of these tensors' gradients is over, and they
        had those of `marks` before it."""
        if self._heard and marks and all(key == _NONE for key, _ in marks):
            self._passed_by = True

    def were_passed_by(self) -> bool:
        """What was heard was cleared before another pass, and the newest one is
        none of these: they were of another loss."""
        return self._passed_by

    def looked(self) -> None:
        """Now, at the gradients."""
        self._looked_after = self._heard
        self._to_clip = []

    def about_to_clip(self) -> None:
        """What was looked at just now is about to be written."""
        if not self._are_counted():
            self._to_clip = self._marks()

    def updated(self) -> None:
        """By an update, skipped ones too."""
        self._hears, self._heard = self._heard > 0, 0
        self._passed_by = False
        self._left = marks_of(self._some()) if self._hears else []
        self._to_clip = []
        self._asked = self.in_closure = False

    def are_old(self) -> bool:
        """The gradients are those that the last update was made of: a program
        may well ask for their norm once more, and again."""
        if not self._hears or self._heard:
            return False
        now, left = marks_of(self._some()), self._left
        # Who asks by a clip writes what he clips.
        same = [i for i, _ in now] == [i for i, _ in left]
        self._asked = same and (self._asked or now == left)
        return self._asked

    def have_newer(self, clips: bool) -> bool:
        """What the last look did not see. `clips`: this is before a clip. What
        a closure computes is looked at once."""
        if self.in_closure:
            return False
        if self._hears and self._looked_after == self._heard:
            return False
        if self._are_counted():
            return self._looked_after < self._heard
        # What a clip made of others is theirs no more, and a device does not
        # say at once whether those were finite: only others are newer.
        return clips and bool(self._to_clip) and not self._are_clipped()

    def _are_clipped(self) -> bool:
        """Any of them is one that was clipped. A new one, which may have the
        id of one that is gone, was not written so often."""
        return any(
            now == before and now != _NONE and written > looked_at
            for (now, written), (before, looked_at) in zip(
                self._marks(), self._to_clip
            )
        )

    def _are_counted(self) -> bool:
        """Each was heard, and what it added may be looked at."""
        return (self._hears or self._heard > 0) and is_on_host(self._optimizer)

    def _marks(self) -> Marks:
        return marks_of(tensors_of(self._optimizer))


def marks_of(tensors: list[Any]) -> Marks:
    """Of their gradients."""
    try:
        return [(id(g := p.grad), g is None or g._version) for p in tensors]
    except RuntimeError:  # some of inference mode, which count nothing
        return [(id(p.grad), 0) for p in tensors]
