"""Calls of an object that may have gone."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from nanwatch._torch.tracing import uncompiled


def weakly(method: Callable[..., None]) -> Callable[..., None]:
    """For a scaler. Nothing, once the object whose method it is has gone, or is
    about to: the sender may be taking it apart."""
    reference = weakref.WeakMethod(method)

    def call(*args: Any, **kwargs: Any) -> None:
        found = reference()
        if found is not None:
            with contextlib.suppress(Exception):
                found(*args, **kwargs)

    return uncompiled(call)
