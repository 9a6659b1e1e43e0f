"""Where gradients are clipped: one NaN among them makes all of them NaN, so
they are looked at before. Follows torch.nn.utils.clip_grad_norm_ and its like,
as most programs and frameworks call them: by what they call themselves, since
programs may have imported them before."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from typing import Any, Protocol

import torch

from nanwatch._torch.following import follow
from nanwatch._torch.modules import is_compiling


class Listener(Protocol):
    def before_clipping(self, parameters: Any = None) -> None: ...

    def before_clipping_of(self, gradients: Any) -> None: ...


_listeners: weakref.WeakSet[Any] = weakref.WeakSet()

_MODULE = "torch.nn.utils.clip_grad"
# All that clip call this by the name that their module has for it, as does who
# only asks for a norm.
_GROUP = "_group_tensors_by_device_and_dtype"
# Who clips to a norm; before PyTorch 2.6 clip_grad_norm_ did it itself.
_BY_NORM = "_clip_grads_with_norm_"
_FUNCTIONS = ("clip_grad_norm_", "clip_grad_value_")


@functools.lru_cache(maxsize=1)
def _codes() -> frozenset[Any]:
    module = sys.modules[_MODULE]
    found = (getattr(module, name, None) for name in (_BY_NORM, *_FUNCTIONS))
    return frozenset(
        getattr(inspect.unwrap(function), "__code__", None)
        for function in found
        if function is not None
    )


def _followed_group(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(*args, **kwargs)
        if _listeners and args and sys._getframe(1).f_code in _codes():
            for listener in list(_listeners):
                listener.before_clipping_of(args[0])
        return function(*args, **kwargs)

    return call


def _followed(function: Any) -> Any:
    def call(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(parameters, *args, **kwargs)
        if not isinstance(parameters, torch.Tensor):
            parameters = list(parameters)  # it may be an iterator
        for listener in list(_listeners):
            listener.before_clipping(parameters)
        return function(parameters, *args, **kwargs)

    return call


def listen(listener: Listener) -> None:
    """For as long as the listener lives, or until `forget`."""
    _listeners.add(listener)
    module = sys.modules.get(_MODULE)
    if hasattr(module, _GROUP) and hasattr(module, _BY_NORM):
        follow(module, _GROUP, _followed_group)
        return
    for name in _FUNCTIONS:
        follow(torch.nn.utils, name, _followed)


def forget(listener: Listener) -> None:
    _listeners.discard(listener)
