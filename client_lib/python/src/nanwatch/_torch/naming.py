"""What parameters are called, and which gradients come out of fp16."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
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
    named = Parameters(_finder(weakref.ref(model)))
    for place, of_model in enumerate(_all_of(model)):
        named.add(_made(*of_model, place))
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


def _all_of(model: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, module and tensor. One that has two names is called by the
    first."""
    seen = set()
    for path, module in model.named_modules():
        for name, tensor in module.named_parameters(recurse=False):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                full = own_path(f"{path}.{name}" if path else name)
                yield full, module, tensor


def _made(name: str, module: Any, tensor: Any, place: int) -> Parameter:
    half = isinstance(module, _HALF_MODULES) and tensor.dtype is torch.float32
    dtype = DTYPES.get(tensor.dtype, "")
    return Parameter(name, tensor, half, dtype, place)


def _finder(model: weakref.ref[Any]) -> Callable[[Any], Parameter | None]:
    def find(tensor: Any) -> Parameter | None:
        found = model()
        if found is None:
            return None
        for place, (name, module, its) in enumerate(_all_of(found)):
            if its is tensor:
                return _made(name, module, its, place)
        return None

    return find
