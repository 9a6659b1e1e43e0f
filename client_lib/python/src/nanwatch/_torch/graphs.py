"""Updates that a CUDA graph makes. It is recorded while an optimizer is called,
and does the same at each replay, without a call of Python's that could be
followed; so is what was measured then, which lies at the same places each
time.

While a graph is recorded nothing is computed: what a number's memory holds is
anybody's until the first replay."""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from nanwatch._torch.current import Current
from nanwatch._torch.following import Listeners, follow
from nanwatch._torch.guard import Guard
from nanwatch._torch.hooks import taken_off
from nanwatch._torch.left_out import LeftOut
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.parts import Parts
from nanwatch._torch.readout import Readout
from nanwatch._torch.tracing import record
from nanwatch._torch.update import Update


class Listener(Protocol):
    def begins(self) -> None: ...

    def ends(self, graph: Any) -> None: ...

    def replayed(self, graph: Any) -> None: ...


_listeners: Listeners[Any] = Listeners()


class Graphs:
    """Of one watch."""

    def __init__(
        self,
        current: Current,
        followed: Sequence[Followed],
        parts: Parts,
        guard: Guard,
        tell: Callable[[], None],
        left_out: LeftOut,
    ) -> None:
        """`tell`s the updates that there are."""
        self._current = current
        self._followed = followed
        self._parts = parts
        self._guard = guard
        self._tell = tell
        self._left_out = left_out
        # What each that updates the model has measured.
        self._recorded: weakref.WeakKeyDictionary[Any, _Recorded] = (
            weakref.WeakKeyDictionary()
        )
        self._recording: _Recorded | None = None
        _listeners.add(self)
        _listen()

    def close(self) -> None:
        _listeners.discard(self)

    def begins(self) -> None:
        self._guard("graph", self._begins)

    def ends(self, graph: Any) -> None:
        self._guard("graph", self._ends, graph)

    def replayed(self, graph: Any) -> None:
        recorded = self._recorded.get(graph)
        if recorded is not None:
            self._guard("graph", self._replayed, recorded)
        else:
            self._left_out.replayed()

    def _begins(self) -> None:
        self._recording = its = _Recorded(
            Readout(tag=object()),
            self._parts.count(),
            [followed.update for followed in self._followed],
        )
        for followed in self._followed:
            followed.update = None
        its.aside = self._current.put_aside(its.readout)

    def _ends(self, graph: Any) -> None:
        its, self._recording = self._recording, None
        if its is None:
            return
        its.updates = self._current.take_back(its.aside)
        self._parts.forget_from(its.losses)
        for followed, update in zip(self._followed, its.unfinished):
            followed.update = update
        its.aside, its.unfinished = (), []
        if its.updates:
            self._recorded[graph] = its

    def _replayed(self, its: _Recorded) -> None:
        ours = {id(update.of) for update in its.updates}
        if any(id(update.of) in ours for update in self._current.updates):
            self._tell()  # its numbers were others'
        self._current.readout.add_again(its.readout)
        for update in its.updates:
            again = copy.copy(update)
            again.ordinal, again.lr = update.of.updates, update.of.rate()
            update.of.updates += 1
            self._current.add(again)
            self._left_out.updated()
        if self._current.is_full():
            self._tell()


class _Recorded:
    """What one graph does to a model, or is about to."""

    def __init__(
        self, readout: Readout, losses: int, unfinished: list[Update | None]
    ) -> None:
        self.readout = readout
        self.losses = losses  # that went backward before it
        self.unfinished = unfinished  # updates, by optimizer
        self.aside: Any = ()
        self.updates: list[Update] = []


def _followed_begin(function: Any) -> Any:
    def capture_begin(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(graph, *args, **kwargs)
        record(True)
        for each in _listeners:
            each.begins()
        return result

    return capture_begin


def _followed_end(function: Any) -> Any:
    def capture_end(graph: Any, *args: Any, **kwargs: Any) -> Any:
        record(False)
        try:
            return function(graph, *args, **kwargs)
        finally:
            for each in _listeners:
                each.ends(graph)

    return capture_end


def _followed_replay(function: Any) -> Any:
    def replay(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(graph, *args, **kwargs)
        for each in _listeners:
            each.replayed(graph)
        return result

    return replay


def _followed_maker(function: Any) -> Any:
    """It takes no module that has hooks."""

    def make_graphed_callables(
        callables: Any, *args: Any, **kwargs: Any
    ) -> Any:
        several = isinstance(callables, tuple)
        with contextlib.ExitStack() as stack:
            for one in callables if several else (callables,):
                if isinstance(one, torch.nn.Module):
                    stack.enter_context(taken_off(one))
            return function(callables, *args, **kwargs)

    return make_graphed_callables


def _listen() -> None:
    """From now on; once is enough."""
    cuda = torch.cuda
    kind = getattr(cuda, "CUDAGraph", None)
    follow(kind, "capture_begin", _followed_begin)
    follow(kind, "capture_end", _followed_end)
    follow(kind, "replay", _followed_replay)
    for owner in (cuda, getattr(cuda, "graphs", None)):
        follow(owner, "make_graphed_callables", _followed_maker)
