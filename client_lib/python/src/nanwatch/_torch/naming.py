"""What parameters are called, and which gradients come out of fp16."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from nanwatch._torch.modules import own_path
from nanwatch._torch.optimizers import Parameter
from nanwatch._torch.statistics import DTYPES

# What autocast computes in fp16; the others' gradients are fp32.
_HALF_MODULES = (
    torch.nn.Linear,
    torch.nn.Bilinear,
    torch.nn.modules.conv._ConvNd,
    torch.nn.RNNBase,
)


def name_parameters(model: Any) -> dict[int, Parameter]:
    """By the id of the tensor; one that has two names is called by the
    first."""
    named: dict[int, Parameter] = {}
    for path, module in model.named_modules():
        for name, tensor in module.named_parameters(recurse=False):
            if id(tensor) in named:
                continue
            full = f"{path}.{name}" if path else name
            half = isinstance(module, _HALF_MODULES) and (
                tensor.dtype is torch.float32
            )
            named[id(tensor)] = Parameter(
                own_path(full),
                tensor,
                half,
                DTYPES.get(tensor.dtype, ""),
                len(named),
            )
    return named


def name_copies(
    named: dict[int, Parameter], copies: Iterable[tuple[Any, Any]]
) -> None:
    """Of (copy, parameter): optimizers hold copies in fp32 of parameters in
    fp16. They are called as these, and so is the type of their gradients."""
    for copy, parameter in copies:
        known = named.get(id(parameter))
        if known is not None and copy is not parameter:
            named[id(copy)] = Parameter(
                known.name, copy, known.half, known.dtype, known.place
            )
