"""What is wrong with how an optimizer is made to update: seen by its hooks, at
no cost but some looks at a few gradients. Numbers are of the contract's
UpdateFault."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from nanwatch._torch.readout import on_host
from nanwatch._torch.tracing import is_recorded
from nanwatch._update_faults import (
    NO_BACKWARD,
    NONE,
    NOT_CLEARED,
    OTHER_WEIGHTS,
    ZEROED,
)

if TYPE_CHECKING:
    from nanwatch._torch.optimizers import Followed
    from nanwatch._torch.rivals import Rivals

# Updates whose gradients are all followed from one to the next, and of those
# after them one in so many: what was seen holds until then. Programs clear at
# each second, fourth or tenth step: at each of these the turn is another's.
_FIRST = 32
_EVERY = 17
# An update on top of gradients of the past counts for as many as three that are
# none: more than a quarter of them makes it certain, in a while.
_PAST = 3
_CERTAIN = 12
_MOST = 18

_Marks = list[tuple[int, int]]


class Clearing:
    """Whether the gradients of one optimizer are cleared between updates, and
    between a backward pass and the update. PyTorch counts what is written to a
    tensor, but for what is written to its `.data`: so the value of one decides,
    in the end."""

    def __init__(self, some: Callable[[], list[Any]]) -> None:
        """`some` of the tensors stand for all."""
        self._some = some
        self._updates = 0
        self._follows = False
        self._left: _Marks = []  # where none was written to since the update
        self._made: _Marks = []  # after the newest backward pass
        self._passes = 0
        self._passed_by = False
        self._base: dict[int, int] = {}  # versions before the first of them
        # A gradient that was there before the first pass, or its norm.
        self._found: Any = None
        self._verdict = NONE
        self._past = 0  # see _PAST
        self._written = False
        self._as_made = False
        self._were_there = False  # when the update was over
        self.fresh = False  # seen to be made anew for each update

    def begins(self) -> None:
        """A backward pass."""
        if self._follows and not self._passes:
            marks = self._marks()
            self._base = dict(marks)
            # Cleared since the update: taken away, or written to.
            self.fresh = (
                self._were_there
                if self.are_cleared()
                else bool(self._left) and marks != self._left
            )
        if not self._left:
            return
        if self._marks() != self._left:
            self._left = []
        elif self._found is None and not is_recorded():
            self._look_at_one()

    def ended(self, *, seen: bool = True) -> None:
        """A backward pass that reached them; one that was not `seen` is about
        to."""
        if not self._follows:
            return
        self._passes += 1
        self._passed_by = False
        if seen:
            self._made = self._marks()
            if self._left:  # what it added to is what was left
                self._left = self._made

    def passed_by(self) -> None:
        """A backward pass that reached none of them is over."""
        if self._made:
            self._passed_by = self._marks() != self._made

    def were_passed_by(self) -> bool:
        """They were written before a pass that reached none of them, and none
        did since."""
        return self._passed_by

    def _look_at_one(self) -> None:
        gradients = [g for g in self._gradients() if g is not None]
        smallest = min(gradients, key=torch.Tensor.numel)
        with torch.no_grad():
            norm = torch.linalg.vector_norm(smallest.detach().float())
        self._found = norm.item() if on_host(norm) else norm

    def look(self) -> tuple[int, Any]:
        """Before an update: what is wrong, and a number on a device that has
        to be other than 0 for it; None: it is sure."""
        if not self._follows:
            return self._verdict, None
        found = self._found
        verdict = NONE
        if self._left and self._passes and found is not None:
            if type(found) is not float:
                return NOT_CLEARED, found
            verdict = NOT_CLEARED if found != 0.0 else NONE
        return self.found_out(verdict), None

    def were_written(self) -> bool:
        """After the newest pass, by who knows whom."""
        if self._follows:
            self._written = bool(self._made) and self._marks() != self._made
        return self._written

    def are_cleared(self) -> bool:
        """None is there any more."""
        gradients = self._gradients()
        return bool(gradients) and all(g is None for g in gradients)

    def are_as_made(self) -> bool:
        """By the passes: nobody else wrote to them, as who takes a loss scale
        out of them would have."""
        if self._follows:
            self._as_made = all(
                # The first pass makes one, and writes nothing to it.
                version - self._base.get(key, -1) <= self._passes
                for key, version in self._marks()
            )
        return self._as_made

    def found_out(self, verdict: int) -> int:
        """Of one update, as soon as it is known: what `look` said, with the
        number that it hung on. Returns what is said of it, and of those until
        the next look: where it goes on, though not at each of them, the
        same."""
        change = _PAST if verdict else -1
        self._past = min(max(0, self._past + change), _MOST)
        self._verdict = NOT_CLEARED if self._past >= _CERTAIN else verdict
        return self._verdict

    def updated(self) -> None:
        """By an update of the optimizer, a skipped one too."""
        self._updates += 1
        self._follows = self._updates < _FIRST or self._updates % _EVERY == 0
        self._made, self._found, self._passes = [], None, 0
        self._passed_by &= not self._follows
        self._base = {}
        self._left = self._marks() if self._follows else []
        self._were_there = self._follows and not self.are_cleared()

    def _gradients(self) -> list[Any]:
        return [p.grad for p in self._some()]

    def _marks(self) -> _Marks:
        """Nothing, where there are no gradients, or they do not count."""
        try:
            return [
                (id(g), g._version)
                for g in self._gradients()
                if g is not None and not g.is_sparse
            ]
        except RuntimeError:  # of inference mode
            return []


def has_no_rate(optimizer: Any) -> bool:
    """All its learning rates are 0. Of one on a device it is not known."""
    for group in optimizer.param_groups:
        if not _is_zero(group.get("lr")):
            return False
    return bool(optimizer.param_groups)


def _is_zero(rate: Any) -> bool:
    if isinstance(rate, torch.Tensor):
        return on_host(rate) and rate.numel() == 1 and float(rate) == 0.0
    return isinstance(rate, (int, float)) and rate == 0


def without_gradients(optimizer: Followed, others: bool, rivals: Rivals) -> int:
    """Of one none of whose tensors has a gradient. `others`: other weights of
    the model have some; `rivals`: of all optimizers."""
    backwards = optimizer.backwards
    if backwards.any_heard():
        return NO_BACKWARD if backwards.were_passed_by() else ZEROED
    if not others:
        return NO_BACKWARD
    if rivals.are_none():
        return OTHER_WEIGHTS
    wants = any(tensor.requires_grad for tensor in optimizer.tensors())
    # Else losses, heads and experts may take turns.
    return NO_BACKWARD if wants and rivals.has_own_pass(optimizer) else NONE
