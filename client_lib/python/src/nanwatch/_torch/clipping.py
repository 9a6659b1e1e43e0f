"""Where gradients are clipped: one NaN among them makes all of them NaN, so
they are looked at before. Follows torch.nn.utils.clip_grad_norm_ and
clip_grad_value_, as most programs and frameworks call them."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

import torch

from nanwatch._torch.following import follow
from nanwatch._torch.modules import is_compiling


class Listener(Protocol):
    def before_clipping(self, parameters: Any = None) -> None: ...


_listeners: weakref.WeakSet[Any] = weakref.WeakSet()


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
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        follow(torch.nn.utils, name, _followed)


def forget(listener: Listener) -> None:
    _listeners.discard(listener)
