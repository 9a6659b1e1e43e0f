"""Functions of PyTorch that programs and frameworks call by their module, with
ours around them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

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
