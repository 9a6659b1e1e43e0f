"""What the graph of a forward pass says of a model's parameters: in which order
they are used, and whether autocast computes with them in fp16. Models need not
list their parameters in that order, and any class of module may use them so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch

# Nodes. A transformer of 100 layers has some 6,000, which are walked in 10 ms;
# of a graph that is larger than this nothing is learnt.
_MOST = 1 << 17
# What lies between a parameter and the ops that compute with it: casts, and so
# many of these at most.
_BETWEEN = 6
_NAMES = (
    "Alias", "Expand", "Permute", "Reshape", "Select", "Slice", "Split",
    "Squeeze", "TBackward", "ToCopy", "Transpose", "Unbind", "Unsqueeze",
    "View",
)  # fmt: skip
# What puts one into another tensor, of which the rest is computed: whether that
# is in fp16 does not show here. (So do RNNs on a GPU.)
_INTO_ANOTHER = ("AsStrided", "Cat", "Copy", "Stack")


class Use(NamedTuple):
    # Of the first op that computes with it, the last one of the backward pass.
    # It rises with the forward pass; 0: this PyTorch does not say.
    order: int
    # Its gradient comes out of fp16 arithmetic; None: a function of the
    # program's own, or a compiled one, uses it, or it is a part of another, or
    # this PyTorch (2.3) does not say what it is cast to.
    half: bool | None


def uses_of(outputs: Iterable[Any]) -> dict[int, Use]:
    """By the ids of parameters. Reads no tensor, and waits for nothing."""
    consumers = _consumers(outputs)
    uses = {}
    for node in consumers:
        if hasattr(node, "variable"):  # where the gradient of one arrives
            found = list(_computing(node, consumers, _BETWEEN, half=False))
            if found:
                uses[id(node.variable)] = _in_all(found)
    return uses


def leaves_of(loss: Any) -> list[Any]:
    """Where its graph ends: the tensors whose gradients it makes."""
    nodes = _consumers([loss])
    return [node.variable for node in nodes if hasattr(node, "variable")]


def _in_all(found: list[tuple[Any, bool | None]]) -> Use:
    """Of those that compute with a parameter. Where a gradient of fp32 is added
    to one of fp16 the sum is none of fp16."""
    halves = [half for _, half in found]
    return Use(
        min(getattr(node, "_sequence_nr", int)() for node, _ in found),
        None if None in halves else all(halves),
    )


def _consumers(outputs: Iterable[Any]) -> dict[Any, list[Any]]:
    """Of each node of the graph those that take what it made; none: the graph
    is too large."""
    roots = {o.grad_fn for o in outputs if o.grad_fn is not None}
    consumers: dict[Any, list[Any]] = {root: [] for root in roots}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        for used, _ in node.next_functions:
            if used is None:
                continue
            if used not in consumers:
                consumers[used] = []
                waiting.append(used)
            consumers[used].append(node)
        if len(consumers) > _MOST:
            return {}
    return consumers


def _computing(
    node: Any,
    consumers: dict[Any, list[Any]],
    between: int,
    half: bool | None,
) -> Iterator[tuple[Any, bool | None]]:
    """The ops that compute with what `node` passes on, and whether it is in
    fp16 there; see `Use.half`."""
    for user in consumers[node]:
        name = user.name().rpartition(":")[2]  # without a namespace
        if isinstance(
            user, torch.autograd.function.BackwardCFunction
        ) or name.startswith(_INTO_ANOTHER):
            yield user, None
        elif between > 0 and name.startswith(_NAMES):
            cast = _is_cast_to_half(user) if name.startswith("ToCopy") else half
            yield from _computing(user, consumers, between - 1, half or cast)
        else:
            yield user, half


def _is_cast_to_half(node: Any) -> bool | None:
    made = getattr(node, "_input_metadata", ())
    return made[0].dtype is torch.float16 if made else None
