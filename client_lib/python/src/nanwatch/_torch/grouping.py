"""Tensors that are measured together: those of one device."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.parameter import is_lazy

from nanwatch._torch.statistics import local, measurable

_USUAL = (torch.Tensor, torch.nn.Parameter)


def kinds_of(gradients: list[Any]) -> list[list[Any]]:
    """What can change of them in place of the same tensors. (Columns: a tuple
    for each takes twice as long.)"""
    return [
        list(map(type, gradients)),
        [g.dtype for g in gradients],
        [g.is_sparse for g in gradients],
        *known_kinds_of(gradients),
    ]


def known_kinds_of(gradients: list[Any]) -> list[list[Any]]:
    """The same of strided ones of fp32 on the host."""
    return [[g.shape for g in gradients]]


def by_device(pairs: list[Any]) -> list[list[Any]]:
    """Of (parameter, tensor) those that can be measured; the usual ones, which
    are many, in as few calls as can be."""
    groups: dict[Any, list[Any]] = {}
    for parameter, tensor in pairs:
        if type(tensor) not in _USUAL or tensor.layout is not torch.strided:
            if is_lazy(tensor):
                continue
            tensor = local(tensor)
        if measurable(tensor):
            groups.setdefault(tensor.device, []).append((parameter, tensor))
    return list(groups.values())
