"""Functions of PyTorch that programs and frameworks call by their module, with
ours around them."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

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


def all_of(listeners: weakref.WeakSet[_T]) -> list[_T]:
    """Those that live, while another thread may add one."""
    while True:
        with contextlib.suppress(RuntimeError):
            return list(listeners)
