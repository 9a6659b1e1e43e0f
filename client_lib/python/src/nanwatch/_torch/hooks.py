"""What is put upon objects of a training: hooks, and functions in the place of
methods. A copy or a pickle of such an object is without them: it is nobody's
that is watched, and is read where there is no nanwatch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

_GETSTATE = "__getstate__"
# Where a module keeps hooks by number, and what else it keeps by those numbers.
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_BY_NUMBER = (
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
)
_ABSENT = object()
# Takes any arguments and returns None, and a pickle has it by its name.
_NOTHING = contextlib.nullcontext().__exit__


class Hook:
    """Of a module or an optimizer. Where a class copies its objects by means
    of its own, a hook that does nothing takes its place."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)

    def __deepcopy__(self, memo: Any) -> Any:
        return _NOTHING

    def __reduce__(self) -> Any:
        return getattr, (contextlib.nullcontext(), "__exit__")


class _Held:
    """Lives as long as the object that holds it, whose copies hold nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Any:
        return None

    def __reduce__(self) -> Any:
        return type(None), ()


class _State:
    """As an object's `__getstate__`, which copy and pickle ask of the object
    itself: what its class would say, but for what is ours."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self.replaced: dict[str, Any] = {}  # what was there before
        self.held: _Held | None = None

    def __call__(self) -> Any:
        state = self._of_class()
        if isinstance(state, tuple):  # with slots
            return (self._without(state[0]), *state[1:])
        return self._without(state)

    def _of_class(self) -> Any:
        own = getattr(type(self._owner), _GETSTATE, None)
        if own is None:  # before Python 3.11 not even `object` has one
            return vars(self._owner)
        return own(self._owner)

    def _without(self, state: Any) -> Any:
        if not isinstance(state, dict):
            return state
        state = dict(state)
        state.pop(_GETSTATE, None)
        for name, before in self.replaced.items():
            if name in state:
                _put(state, name, before)
        _leave_out(state, _ours(state))
        return state


def _ours(state: dict[str, Any]) -> list[int]:
    """Numbers of our hooks, of what a module is made of."""
    return [
        number
        for name in _HOOKS
        for number, hook in (state.get(name) or {}).items()
        if isinstance(hook, Hook)
    ]


def _leave_out(state: dict[str, Any], numbers: list[int]) -> None:
    """Hooks by these numbers, of what a module is made of."""
    for name in (*_HOOKS, *_BY_NUMBER) if numbers else ():
        if state.get(name):
            state[name] = kept = state[name].copy()
            for number in numbers:
                kept.pop(number, None)


@contextlib.contextmanager
def taken_off(model: Any) -> Iterator[None]:
    """Its modules are as if nobody watched them."""
    before = []
    for module in model.modules():
        state = vars(module)
        ours = _ours(state)
        if ours:
            names = (*_HOOKS, *_BY_NUMBER)
            before.append((state, {n: state[n] for n in names if n in state}))
            _leave_out(state, ours)
    try:
        yield
    finally:
        for state, hooks in before:
            state.update(hooks)


def keep_from_copies(owner: Any) -> None:
    """Copies of `owner` are without hooks of ours, until `release`."""
    if not isinstance(vars(owner).get(_GETSTATE), _State):
        vars(owner)[_GETSTATE] = _State(owner)


def release(owner: Any) -> None:
    """Puts back what `replace` took, too; what `hold` gave stays."""
    state = vars(owner).get(_GETSTATE)
    if not isinstance(state, _State):
        return
    for name, before in state.replaced.items():
        _put(vars(owner), name, before)
    state.replaced = {}
    if state.held is None:
        del vars(owner)[_GETSTATE]


def hold(owner: Any, value: Any) -> None:
    """`value` lives as long as `owner`, or until `let_go`: what refers to its
    owner cannot be kept in a dict by it, not in a weak one either."""
    keep_from_copies(owner)
    vars(owner)[_GETSTATE].held = _Held(value)


def let_go(owner: Any) -> None:
    """Releases it, too."""
    state = vars(owner).get(_GETSTATE)
    if isinstance(state, _State):
        state.held = None
        release(owner)


def replace(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """A method, of this object alone, until `release`."""
    keep_from_copies(owner)
    state = vars(owner)[_GETSTATE]
    state.replaced.setdefault(name, vars(owner).get(name, _ABSENT))
    vars(owner)[name] = function


def _put(attributes: dict[str, Any], name: str, value: Any) -> None:
    if value is _ABSENT:
        attributes.pop(name, None)
    else:
        attributes[name] = value
