"""Where a module's inputs stand among those of the node that made its output:
a shape does not say it, as a function within the module may make one of the
same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nanwatch._torch.modules import _is_view

_BETWEEN = 4  # casts and views of one input


def _is_between(node: Any) -> bool:
    return _is_view(node) or type(node).__name__.startswith("ToCopyBackward")


def places_of(inputs: Sequence[Any], node: Any) -> list[int]:
    """Those of what `node` gives on that arrives at `inputs`, through nothing
    but casts and views. `node`: None where there is none."""
    if node is None:
        return []
    sources = [
        (tensor.grad_fn, tensor.output_nr)
        for tensor in inputs
        if tensor.grad_fn is not None
    ]
    return [
        place
        for place, edge in enumerate(node.next_functions)
        if _leads_to(sources, edge)
    ]


def _leads_to(sources: list[tuple[Any, int]], edge: tuple[Any, int]) -> bool:
    for _ in range(_BETWEEN):
        if edge in sources:
            return True
        node = edge[0]
        if node is None or not _is_between(node) or not node.next_functions:
            return False
        edge = node.next_functions[0]
    return edge in sources
