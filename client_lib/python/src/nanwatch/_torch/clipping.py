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
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from nanwatch._torch.following import Listeners, follow
from nanwatch._torch.known_norms import KnownNorms
from nanwatch._torch.tracing import is_compiling, is_traced

# Whether a clip that is about to be changes any gradient: a number that is
# another than 0 then, perhaps on a device; None: not known.
Cuts = Callable[[], Any]


class Listener(Protocol):
    def before_clipping(self, parameters: Any = None) -> None: ...

    def before_clipping_of(self, gradients: Any, cuts: Cuts) -> None: ...

    def takes_norms(self) -> bool: ...

    def take_norms(self, norms: KnownNorms) -> None: ...


_listeners: Listeners[Any] = Listeners()

_MODULE = "torch.nn.utils.clip_grad"
# All that clip call this by the name that their module has for it, as does who
# only asks for a norm.
_GROUP = "_group_tensors_by_device_and_dtype"
# Who clips to a norm; before PyTorch 2.6 clip_grad_norm_ did it itself.
_BY_NORM = "_clip_grads_with_norm_"
_FUNCTIONS = ("clip_grad_norm_", "clip_grad_value_")
# What clip_grad_norm_ has its norm from.
_TOTAL = "_get_total_norm"


def _code_of(name: str) -> Any:
    """Of the function that the module has by this name; None: there is none, or
    it is no function."""
    function: Any = getattr(sys.modules[_MODULE], name, None)
    return getattr(inspect.unwrap(function), "__code__", None)


@functools.lru_cache(maxsize=1)
def _codes() -> frozenset[Any]:
    return frozenset(map(_code_of, (_BY_NORM, *_FUNCTIONS)))


@functools.lru_cache(maxsize=1)
def _clips_to_norm() -> Any:
    return _code_of(_FUNCTIONS[0])


def _followed_group(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(*args, **kwargs)
        if _listeners and args:
            frame = sys._getframe(1)
            if frame.f_code in _codes():
                cuts = functools.partial(_cuts, frame, args[0])
                for listener in _listeners:
                    listener.before_clipping_of(args[0], cuts)
        return function(*args, **kwargs)

    return call


def _cuts(frame: Any, gradients: Sequence[Sequence[Any]]) -> Any:
    """See `Cuts`. `frame` is of who clips."""
    of = frame.f_locals
    if "total_norm" in of and "max_norm" in of:
        return of["total_norm"] > of["max_norm"]
    limit = of.get("clip_value")
    if limit is None:
        return None
    flat = [g for each in gradients for g in each]
    with torch.no_grad():
        norms = torch._foreach_norm(flat, math.inf)
        device = norms[0].device
        return torch.stack([n.to(device).float() for n in norms]).max() > limit


def _is_torch_s(name: str) -> bool:
    """And not what somebody put there, who may want more of it."""
    code = _code_of(name)
    file = sys.modules[_MODULE].__file__
    return code is not None and code.co_filename == file


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
    """Without gradients, as clip_grad_norm_ is."""
    norms = torch.stack(torch._foreach_norm(tensors, 2.0))
    known = KnownNorms(tensors, norms.tolist())
    for listener in takers:
        listener.take_norms(known)
    return torch.linalg.vector_norm(norms, 2.0)


class _Trust:
    """In that the total is torch's to the last bit: its first ones are
    compared, and after a difference torch computes it alone."""

    def __init__(self) -> None:
        self._to_compare = 3
        self.lost = False

    def compare(self, total: Any, compute: Callable[[], Any]) -> Any:
        if self._to_compare == 0:
            return total
        self._to_compare -= 1
        right = compute()
        mine, its = total.tolist(), right.tolist()
        self.lost = total.dtype is not right.dtype or not (
            mine == its or (mine != mine and its != its)
        )
        return right


def _shared(tensors: Sequence[Any]) -> Any:
    """None: nobody takes norms of these. Nothing of it ends a training: torch
    computes its total itself, then."""
    try:
        takers = [one for one in _listeners if one.takes_norms()]
        if takers and _are_plain(tensors):
            return _shared_total(tensors, takers)
    except Exception:
        return None
    return None


def _followed_total(function: Any) -> Any:
    trust = _Trust()

    def call(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(tensors, *args, **kwargs)
        # As clip_grad_norm_ calls it: the norm's order, whether to raise where
        # it is not finite, and whether to use foreach.
        if (
            _listeners
            and not kwargs
            and len(args) == 3
            and args[0] == 2.0
            and args[1] is False
            and args[2] is not False
            and not trust.lost
            and sys._getframe(1).f_code is _clips_to_norm()
            and not is_traced()
        ):
            total = _shared(tensors)
            if total is not None:
                return trust.compare(total, lambda: function(tensors, *args))
        return function(tensors, *args, **kwargs)

    return call


def _followed(function: Any) -> Any:
    def call(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(parameters, *args, **kwargs)
        if not isinstance(parameters, torch.Tensor):
            parameters = list(parameters)  # it may be an iterator
        for listener in _listeners:
            listener.before_clipping(parameters)
        return function(parameters, *args, **kwargs)

    return call


def listen(listener: Listener) -> None:
    """For as long as the listener lives, or until `forget`."""
    _listeners.add(listener)
    module = sys.modules.get(_MODULE)
    if hasattr(module, _GROUP) and hasattr(module, _BY_NORM):
        follow(module, _GROUP, _followed_group)
        if _is_torch_s(_TOTAL):
            follow(module, _TOTAL, _followed_total)
        return
    for name in _FUNCTIONS:
        follow(torch.nn.utils, name, _followed)


def forget(listener: Listener) -> None:
    _listeners.discard(listener)
