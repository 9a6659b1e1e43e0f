"""What a loss is a sum of, as its graph shows it: terms, and what these are
multiplied by. Reads no tensor of a device."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

_MOST = 32  # nodes of a graph, from the loss on; ours
# What lies between a loss and its terms.
_SUMS = {"Add", "Cat", "Rsub", "Stack", "Sub"}
# Ops that change the shape, or the sign, alone.
ALIKE = {
    "Alias", "Expand", "Neg", "Reshape", "ReshapeAlias", "Select", "Squeeze",
    "Unbind", "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip
_LINEAR = {*_SUMS, *ALIKE, "Div", "Mean", "Mul", "Sum", "ToCopy"}


class Terms(NamedTuple):
    # In the order of the graph: what terms are multiplied by, and what all of
    # the loss is. A number on a device is NaN.
    numbers: list[float]
    of_all: list[float]
    ends: int  # terms that are no sums
    size: int  # numbers that the largest of them is made of, as far as seen


def terms_of(loss: Any) -> Terms:
    numbers: list[float] = []
    of_all: list[float] = []
    ends = size = 0
    one = True  # no sum so far
    for node, name in _linear(loss.grad_fn):
        size = max(size, _size(node, name))
        into = of_all if one else numbers
        one = one and name not in _SUMS
        if name in _SUMS:
            numbers.append(float(getattr(node, "_saved_alpha", 1)))
        elif name in ("Mul", "Div"):
            factor = _factor(node)
            if factor is None:
                ends += 1
                continue
            if factor.numel() == 1:
                into.append(_number(factor, name))
        elif name not in _LINEAR:
            ends += 1
    return Terms(numbers, of_all, ends, size)


def _linear(root: Any) -> Iterator[tuple[Any, str]]:
    """What the loss is linear in, from it on, and where that ends."""
    waiting, seen = [root], 0
    while waiting and seen < _MOST:
        node = waiting.pop(0)
        if node is None:
            continue
        seen += 1
        name = name_of(node)
        yield node, name
        used = [each for each, _ in node.next_functions]
        of_two = name in ("Mul", "Div") and len(used) > 1 and all(used)
        if name in _LINEAR and not of_two:
            waiting += used


def _size(node: Any, name: str) -> int:
    """What a mean, a sum or a likelihood is of; 0 where it does not say. Reads
    no saved tensor, which the program may have packed."""
    if name == "Mean":
        return int(getattr(node, "_saved_self_sym_numel", 0))
    if name == "Sum":
        return math.prod(getattr(node, "_saved_self_sym_sizes", (0,)))
    if name == "NllLoss":
        made = getattr(node.next_functions[0][0], "_input_metadata", ())
        return math.prod(made[0].shape) if made else 0
    return 0


def _factor(node: Any) -> Any:
    """What it multiplies, or divides, by, and what is of no graph."""
    used = node.next_functions
    for place, name in ((1, "_saved_other"), (0, "_saved_self")):
        if place < len(used) and used[place][0] is not None:
            continue
        # What was written to since cannot be had.
        with contextlib.suppress(RuntimeError):
            factor = getattr(node, name, None)
            if isinstance(factor, (int, float)):
                return torch.tensor(float(factor))
            if isinstance(factor, torch.Tensor) and not factor.requires_grad:
                return factor
    return None


def _number(factor: Any, name: str) -> float:
    if not factor.is_cpu or factor.is_complex():
        return float("nan")
    number = float(factor)
    if name == "Div":
        return 1 / number if number else float("inf")
    return number


def name_of(node: Any) -> str:
    """Of its op: "Add", "MseLoss"."""
    if node is None:
        return ""
    return str(node.name().rpartition(":")[2].partition("Backward")[0])
