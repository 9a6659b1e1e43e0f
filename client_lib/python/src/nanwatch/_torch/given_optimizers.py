"""Optimizers, as programs give them to `watch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from nanwatch._checks import describe
from nanwatch._torch.optimizers import plain

Optimizers = Union[None, Any, Sequence[Any], Mapping[str, Any]]


def listed(optimizers: Optimizers) -> dict[str | None, Any]:
    """By name; the only one has none."""
    if optimizers is None:
        return {}
    named: dict[str | None, Any]
    if isinstance(optimizers, Mapping):
        named = {str(name): o for name, o in optimizers.items()}
    elif isinstance(optimizers, (list, tuple)):
        named = {str(i): o for i, o in enumerate(optimizers)}
    else:
        named = {None: optimizers}
    return {None: next(iter(named.values()))} if len(named) == 1 else named


def can_be_followed(optimizer: Any) -> bool:
    return hasattr(plain(optimizer), "register_step_pre_hook")


def why_not(optimizer: Any) -> str:
    return f"optimizer= takes torch optimizers, not a {describe(optimizer)}"
