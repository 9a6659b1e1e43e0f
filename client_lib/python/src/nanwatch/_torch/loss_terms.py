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
# What changes the shape, or the sign, alone.
_ALIKE = {
    "Alias", "Expand", "Neg", "Reshape", "ReshapeAlias", "Select", "Squeeze",
    "Unbind", "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip
_LINEAR = {*_SUMS, *_ALIKE, "Div", "Mean", "Mul", "Sum", "ToCopy"}
# Of the gap to what something else gave.
_DISTANCES = {"Abs", "HuberLoss", "MseLoss", "Pow", "SmoothL1Loss", "Where"}


class Terms(NamedTuple):
    # In the order of the graph: what terms are multiplied by, and what all of
    # the loss is. A number on a device is NaN.
    numbers: list[float]
    of_all: list[float]
    ends: int  # terms that are no sums
    size: int  # numbers that the largest of them is made of, as far as seen
    # It weighs the likelihood of what was chosen by what that was worth, or is
    # a sum of things that are meant to rise and of others that are not.
    has_returns: bool
    has_aim: bool  # there are distances, or products with other tensors


def terms_of(loss: Any) -> Terms:
    numbers: list[float] = []
    of_all: list[float] = []
    ends = size = 0
    has_returns = has_aim = False
    one = True  # no sum so far
    for node, name in linear(loss.grad_fn):
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
            else:
                has_aim = True
            has_returns |= name == "Mul" and _is_return(factor, node)
        elif name not in _LINEAR:
            ends += 1
            has_aim |= name in _DISTANCES
            has_returns |= _is_clipped_ratio(node, name)
    return Terms(numbers, of_all, ends, size, has_returns, has_aim)


def linear(root: Any) -> Iterator[tuple[Any, str]]:
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
    """What a mean, a sum or a likelihood is of; 0 where it does not say."""
    if name == "Mean":
        return int(getattr(node, "_saved_self_sym_numel", 0))
    if name == "Sum":
        return math.prod(getattr(node, "_saved_self_sym_sizes", (0,)))
    if name == "NllLoss":
        with contextlib.suppress(RuntimeError):  # written to since
            return int(node._saved_target.numel())
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


def _is_return(factor: Any, product: Any) -> bool:
    """What it is multiplied by, one number a sample, is no weight."""
    used = next((n for n, _ in product.next_functions if n is not None), None)
    made = getattr(product, "_input_metadata", ())
    if factor.numel() == 1 and made and math.prod(made[0].shape) > 1:
        return False  # of all samples
    if _is_log_probability(used, one=factor.numel() == 1):
        return not _is_mask(factor)
    if not factor.is_cpu or not factor.is_floating_point():
        return False
    if factor.numel() < 2 or factor.numel() != factor.shape[0]:
        return False
    low, high = factor.aminmax()
    return bool(low < 0) and bool(high > 0)


def _is_mask(factor: Any) -> bool:
    """Of a device nobody knows: few write a likelihood so but for actions."""
    if factor.dtype is torch.bool:
        return True
    return bool(factor.is_cpu and ((factor == 0) | (factor == 1)).all())


def _is_log_probability(node: Any, *, one: bool) -> bool:
    """As torch.distributions has it: of one of several, or of a normal one; no
    mean of some. `one`: no sum either."""
    for each, name in linear(node):
        if name == "Mean" or (one and name == "Sum"):
            return False
        used = [n for n, _ in each.next_functions]
        if name == "Neg" and name_of(used[0]) == "Pow":
            return True
        if name == "Gather":
            logits = _inputs(each)[0]
            return name_of(logits) == "Sub" and "Logsumexp" in map(
                name_of, _inputs(logits)
            )
    return False


def _is_clipped_ratio(node: Any, name: str) -> bool:
    """PPO's."""
    return name in ("Minimum", "Maximum") and {"Exp", "Clamp"} <= {
        name_of(factor)
        for product in _inputs(node)
        for factor in _inputs(product)
    }


def _inputs(node: Any) -> list[Any]:
    """What it was computed of, but for what is alike."""
    found = []
    for used, _ in node.next_functions if node is not None else ():
        while used is not None and name_of(used) in _ALIKE:
            used = used.next_functions[0][0]
        if used is not None:
            found.append(used)
    return found


def name_of(node: Any) -> str:
    """Of its op: "Add", "MseLoss"."""
    if node is None:
        return ""
    return str(node.name().rpartition(":")[2].partition("Backward")[0])
