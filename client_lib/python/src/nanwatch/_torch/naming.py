"""What parameters are called, and which gradients come out of fp16."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from nanwatch._torch.modules import own_path
from nanwatch._torch.parameters import Parameter, Parameters
from nanwatch._torch.statistics import DTYPES

# What autocast computes in fp16; the others' gradients are fp32.
_HALF_MODULES = (
    torch.nn.Linear,
    torch.nn.Bilinear,
    torch.nn.modules.conv._ConvNd,
    torch.nn.RNNBase,
)


def name_parameters(model: Any) -> Parameters:
    reference = weakref.ref(model)
    named = Parameters(lambda: {id(p.tensor): p for p in _all_of(reference())})
    for parameter in _all_of(model):
        named.add(parameter)
    return named


def name_copies(named: Parameters, copies: Iterable[tuple[Any, Any]]) -> None:
    """Of (copy, parameter): optimizers hold copies in fp32 of parameters in
    fp16. They are called as these, and so is the type of their gradients."""
    for copy, parameter in copies:
        known = named.get(parameter)
        if known is not None and copy is not parameter:
            named.add(
                Parameter(
                    known.name, copy, known.half, known.dtype, known.place
                )
            )


def _all_of(model: Any) -> Iterator[Parameter]:
    """One that has two names is called by the first. None: it is gone."""
    seen: set[int] = set()
    for path, module in model.named_modules() if model is not None else ():
        half = isinstance(module, _HALF_MODULES)
        for name, tensor in module.named_parameters(recurse=False):
            if id(tensor) not in seen:
                yield Parameter(
                    own_path(f"{path}.{name}" if path else name),
                    tensor,
                    half and tensor.dtype is torch.float32,
                    DTYPES.get(tensor.dtype, ""),
                    len(seen),
                )
                seen.add(id(tensor))
