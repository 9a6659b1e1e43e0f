"""Whether others than the optimizers that are followed update a model: one that
was made anew after `watch`, say."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from typing import Any

from nanwatch._torch.following import Listeners
from nanwatch._torch.optimizers import Followed, plain

_UPDATES = 3  # in a row, which loading weights is not
# Parts of one step that nobody accumulates; for updates that PyTorch does not
# count (those of `tensor.data`).
_PARTS = 4096
# The same where CUDA graphs are replayed of which nothing is known: one may
# well be all of a step.
_PARTS_WITH_GRAPHS = 64


class Strangers:
    def __init__(self) -> None:
        self._followed: Sequence[Followed] = ()
        self._versions: dict[int, int] = {}  # by id
        self._updates = 0
        self._parts = 0
        self._most = _PARTS  # of them
        # Since the last call, and ever: optimizers that PyTorch told of.
        self._stepped = False
        self._are_told = False
        # By optimizer: whether it updates what those do that are followed.
        self._known: weakref.WeakKeyDictionary[Any, bool] = (
            weakref.WeakKeyDictionary()
        )

    def forget(self) -> None:
        """An optimizer that is followed was called."""
        self._versions = {}
        self._updates = self._parts = 0
        self._most = _PARTS
        self._stepped = self._are_told = False

    def replayed(self) -> None:
        """A CUDA graph that may have updated the model."""
        self._most = _PARTS_WITH_GRAPHS

    def why(self) -> str:
        """What to say of them."""
        if self._most == _PARTS_WITH_GRAPHS and not self._are_told:
            return (
                "the model seems to be updated by a CUDA graph that was "
                "recorded before watch(): losses are told, gradients and "
                "skipped steps are not seen; call watch() before you record it"
            )
        return (
            "the model is updated, but not by the optimizer that watch() was "
            "given: losses are told, gradients and skipped steps are not seen; "
            "close this watch and watch the new one"
        )

    def have_updated(self) -> bool:
        """Once or more since an optimizer that is followed was called."""
        return self._updates > 0 or self._are_told

    def were_none(self) -> None:
        """Nobody updated the model: what was told was left out."""
        self._parts = 0

    def are_at_work(
        self, followed: Sequence[Followed], *, counts: bool, heard: bool
    ) -> bool:
        """At a call in which none of `followed` was called since the last.
        `counts`: what was told with it may be a part of a step; `heard`: it
        went backward, so no graph did all of that."""
        if heard:
            self._most = _PARTS
        stepped, self._stepped = self._stepped, False
        self._parts += counts
        if self._are_told:  # of each of their updates
            return stepped or self._parts >= self._most
        tensors = [t for f in followed for t in f.some_tensors()]
        versions = {id(t): t._version for t in tensors}
        # Others may stand for all by now.
        known = self._versions
        if any(known.get(key, v) != v for key, v in versions.items()):
            self._updates += 1
        self._versions = versions
        return self._updates >= _UPDATES or self._parts >= self._most

    def listen(self, followed: Sequence[Followed]) -> None:
        """To each optimizer, for as long as it lives, or until `close`: fused
        ones raise no version."""
        self._followed = followed
        if followed:
            _listeners.add(self)
            _follow_all()

    def close(self) -> None:
        _listeners.discard(self)

    def see(self, optimizer: Any) -> None:
        """It updated what it holds."""
        is_one = self._known.get(optimizer)
        if is_one is None:
            is_one = self._known[optimizer] = self._is_one(optimizer)
        if is_one:
            self._stepped = self._are_told = True
            self._updates = self._parts = 0

    def _is_one(self, optimizer: Any) -> bool:
        if any(f.optimizer is plain(optimizer) for f in self._followed):
            return False
        ids = {id(p) for g in optimizer.param_groups for p in g["params"]}
        return any(f.holds(ids) for f in self._followed)


_listeners: Listeners[Strangers] = Listeners()
_follows_all = False


def _follow_all() -> None:
    """Where this PyTorch can."""
    global _follows_all
    if _follows_all:
        return
    _follows_all = True
    with contextlib.suppress(ImportError):
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(_see)


def _see(optimizer: Any, args: Any, kwargs: Any) -> None:
    for each in _listeners:
        try:  # in few calls
            each.see(optimizer)
        except Exception:
            continue
