"""Tensors in what a module is called with, and in what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from nanwatch._torch.statistics import measurable

MOST = 4  # of one call's inputs, and of its outputs
# Arguments that hold no tensor, and tensors.
_PLAIN = (torch.Tensor, int, float, str, torch.dtype, torch.device)


def tensors_in(value: Any, depth: int = 2) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        if measurable(value):
            yield value
    elif depth > 0 and isinstance(value, (list, tuple)):
        for entry in value:
            yield from tensors_in(entry, depth - 1)
    elif depth > 0 and isinstance(value, dict):
        for name, entry in value.items():
            if not _is_mask(name):
                yield from tensors_in(entry, depth - 1)


def _is_mask(name: Any) -> bool:
    """Masks hold -infinity on purpose."""
    return "mask" in str(name)


def some_tensors(value: Any) -> list[Any]:
    found = []
    for tensor in tensors_in(value):
        found.append(tensor)
        if len(found) == MOST:
            break
    return found


def is_hidden(value: Any, depth: int = 2) -> bool:
    """It may hold tensors that `tensors_in` does not find."""
    if isinstance(value, (list, tuple)):
        return any(depth == 0 or is_hidden(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(
            depth == 0
            or is_hidden(v, depth - 1)
            or (_is_mask(name) and any(True for _ in tensors_in(v, depth - 1)))
            for name, v in value.items()
        )
    if isinstance(value, torch.Tensor):
        return _holds_numbers(value) and not measurable(value)
    return not (value is None or isinstance(value, _PLAIN))


def _holds_numbers(tensor: Any) -> bool:
    """That may be NaN."""
    kind = tensor.dtype
    return bool(kind.is_floating_point or kind.is_complex) and (
        tensor.layout is not torch.strided or tensor.numel() > 0
    )
