"""Where gradients are clipped: one NaN among them makes all of them NaN, so
they are looked at before. Follows torch.nn.utils.clip_grad_norm_ and its like,
as most programs and frameworks call them: by what they call themselves, since
programs may have imported them before.

Who clips to a norm reads all gradients for it, as a look at them does. On a
host they are read once for both: torch._foreach_norm is called here with what
it would be called with there, and its results become the total as they do
there."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch

from nanwatch._torch.following import follow
from nanwatch._torch.modules import is_compiling


class Listener(Protocol):
    def before_clipping(self, parameters: Any = None) -> None: ...

    def before_clipping_of(self, gradients: Any) -> None: ...

    def takes_norms(self) -> bool: ...

    def take_norms(self, norms: Mapping[int, float]) -> None: ...


_listeners: weakref.WeakSet[Any] = weakref.WeakSet()

_MODULE = "torch.nn.utils.clip_grad"
# All that clip call this by the name that their module has for it, as does who
# only asks for a norm.
_GROUP = "_group_tensors_by_device_and_dtype"
# Who clips to a norm; before PyTorch 2.6 clip_grad_norm_ did it itself.
_BY_NORM = "_clip_grads_with_norm_"
_FUNCTIONS = ("clip_grad_norm_", "clip_grad_value_")
# What clip_grad_norm_ has its norm from.
_TOTAL = "_get_total_norm"


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


@functools.lru_cache(maxsize=1)
def _clips_to_norm() -> Any:
    function = getattr(sys.modules[_MODULE], _FUNCTIONS[0])
    return inspect.unwrap(function).__code__


def _are_plain(tensors: Sequence[Any]) -> bool:
    """On a host and of one kind, so that torch computes them at once."""
    return bool(tensors) and all(
        type(t) is torch.Tensor
        and t.is_cpu
        and t.dtype is torch.float32
        and t.layout is torch.strided
        for t in tensors
    )


def _shared_total(tensors: Sequence[Any], takers: Sequence[Listener]) -> Any:
    with torch.no_grad():
        norms = torch.stack(torch._foreach_norm(tensors, 2.0))
        by_id = dict(zip(map(id, tensors), norms.tolist()))
        for listener in takers:
            listener.take_norms(by_id)
        return torch.linalg.vector_norm(norms, 2.0)


class _Trust:
    """In that the total is torch's to the last bit: its first ones are
    compared, and after a difference torch computes it alone."""

    def __init__(self) -> None:
        self._to_compare = 3
        self.lost = False

    def compare(self, total: Any, function: Any, tensors: Any) -> Any:
        if self._to_compare == 0:
            return total
        self._to_compare -= 1
        right = function(tensors)
        mine, its = total.tolist(), right.tolist()
        self.lost = total.dtype is not right.dtype or not (
            mine == its or (mine != mine and its != its)
        )
        return right


def _followed_total(function: Any) -> Any:
    trust = _Trust()

    def call(
        tensors: Any,
        norm_type: float = 2.0,
        error_if_nonfinite: bool = False,
        foreach: bool | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if (
            not is_compiling()
            and _listeners
            and norm_type == 2.0
            and not (error_if_nonfinite or foreach is False or args or kwargs)
            and not trust.lost
            and sys._getframe(1).f_code is _clips_to_norm()
        ):
            takers = [one for one in list(_listeners) if one.takes_norms()]
            if takers and _are_plain(tensors):
                total = _shared_total(tensors, takers)
                return trust.compare(total, function, tensors)
        return function(
            tensors, norm_type, error_if_nonfinite, foreach, *args, **kwargs
        )

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
        follow(module, _TOTAL, _followed_total)
        return
    for name in _FUNCTIONS:
        follow(torch.nn.utils, name, _followed)


def forget(listener: Listener) -> None:
    _listeners.discard(listener)
