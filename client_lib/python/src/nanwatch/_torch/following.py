"""Functions of PyTorch that programs and frameworks call by their module, with
ours around them."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")
_MARK = "_nanwatch"


def follow(
    owner: Any, name: str, call: Callable[[Callable[..., Any]], Any]
) -> None:
    """From now on `call(function)` is called in place of `owner.name`; once is
    enough. Nothing happens where there is no such function."""
    function = getattr(owner, name, None)
    if function is None or hasattr(function, _MARK):
        return
    followed = functools.wraps(function)(call(function))
    setattr(followed, _MARK, True)
    setattr(owner, name, followed)


class Listeners(Generic[_T]):
    """Held weakly. To go through them is cheap: it is done where nothing of
    ours is in the processor's caches."""

    def __init__(self) -> None:
        self._references: tuple[weakref.ref[_T], ...] = ()
        self._lock = threading.RLock()  # of who changes them

    def add(self, listener: _T) -> None:
        with self._lock:
            others = [r for r in self._references if r() is not None]
            self._references = (*others, weakref.ref(listener))

    def discard(self, listener: _T) -> None:
        with self._lock:
            self._references = tuple(
                r for r in self._references if r() not in (None, listener)
            )

    def __bool__(self) -> bool:
        """False: there is none. (There may be none that lives else.)"""
        return bool(self._references)

    def __iter__(self) -> Iterator[_T]:
        """Those that live now, while another thread may add one."""
        for reference in self._references:
            one = reference()
            if one is not None:
                yield one
