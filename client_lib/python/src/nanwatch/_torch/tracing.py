"""Whether somebody traces what is called, to make a program of it."""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import torch

F = TypeVar("F", bound=Callable[..., Any])

# None may be missing in another version: hooks are called by trainings.
is_compiling: Callable[[], bool] = getattr(
    getattr(torch, "compiler", None), "is_compiling", lambda: False
)
_tracing_state: Callable[[], Any] = getattr(
    torch._C, "_get_tracing_state", lambda: None
)
_transforms: Callable[[], Any] = getattr(
    getattr(torch._C, "_functorch", None),
    "peek_interpreter_stack",
    lambda: None,
)
_modes: Callable[[], int] = getattr(
    torch._C, "_len_torch_dispatch_stack", lambda: 0
)


_is_recorded = False


def record(begins: bool) -> None:
    """What is called from now on is recorded as a CUDA graph, and computed when
    that is replayed; or this is over. (A process records one at a time.)"""
    global _is_recorded
    _is_recorded = begins


def is_recorded() -> bool:
    return _is_recorded


def is_traced() -> bool:
    """Somebody makes a program of what is called, or another one of it: what is
    computed has no numbers, or is not what the training computes."""
    return bool(
        _is_recorded
        or is_compiling()
        or _tracing_state() is not None
        or _transforms() is not None
        or _modes()
    )


def uncompiled(function: F) -> F:
    """It is called by what may be compiled, and is not compiled with it, nor
    what it calls. Building an optimizer loads the compiler, which reads its
    environment then: it is not loaded here."""
    if may_compile():
        with contextlib.suppress(Exception):
            return _disabled(function)
    return function


def _disabled(function: F) -> F:
    disabled: F = torch.compiler.disable(function)
    compiler = getattr(torch._C, "_dynamo", None)
    callback = getattr(
        getattr(compiler, "eval_frame", None), "get_eval_frame_callback", None
    )
    if callback is None:
        return disabled

    # In most trainings nothing is compiled, and what keeps the compiler out
    # costs microseconds where it is out of the processor's caches.
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if callback() is None:
            return function(*args, **kwargs)
        return disabled(*args, **kwargs)

    kept: F = torch.compiler.disable(call, recursive=False)
    return kept


def may_compile() -> bool:
    """The compiler is there."""
    return sys.modules.get("torch._dynamo") is not None


def has_compiled() -> bool:
    """It was used in this process: what it made of modules holds as long as
    they have as many hooks."""
    tools = sys.modules.get("torch._dynamo.utils")
    return bool(getattr(tools, "counters", {}).get("frames"))


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
