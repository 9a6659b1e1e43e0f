"""Digests and sketches of PyTorch's tensors, which lie on the host."""

from __future__ import annotations

from typing import Any

import torch

from nanwatch import _ops
from nanwatch._compared_rows import Taken
from nanwatch._sketches import BY_BYTES, Library, Part
from nanwatch._torch.statistics import DTYPES


def can_be_taken(tensor: Any) -> bool:
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and tensor.numel() > 0
        and not tensor.is_complex()
        and not tensor.is_quantized
    )


def take(library: Library, tensor: Any) -> Taken | None:
    """None: it is not on the host, or of another kind, or another rank tells
    it, which holds the same."""
    whole, first = tensor, None
    if hasattr(tensor, "to_local"):
        first = _first_of(tensor)
        if first is None:
            return None
        tensor = tensor.to_local()
    tensor = tensor.detach()
    if not can_be_taken(tensor):
        return None
    flat = tensor.contiguous()
    part = _part(whole, flat, first)
    if part is None:
        return None
    name = DTYPES.get(flat.dtype)
    dtype = _ops.DTYPES[name or BY_BYTES[flat.element_size()]]
    sketch = library.of(flat.data_ptr(), part, dtype, name is not None)
    return Taken(
        sketch,
        whole.numel(),
        tuple(whole.shape),
        DTYPES.get(whole.dtype, ""),
        first is not None,
    )


def _first_of(sharded: Any) -> tuple[int, ...] | None:
    """Where this rank's part begins in each dimension. None: a rank before it
    holds the same, or nobody knows."""
    from torch.distributed.tensor import Replicate, Shard

    mesh = sharded.device_mesh
    at = mesh.get_coordinate()
    if at is None:
        return None
    first = [0] * sharded.dim()
    sizes = list(sharded.shape)
    for place, each, ranks in zip(at, sharded.placements, mesh.shape):
        if isinstance(each, Replicate):
            if place != 0:
                return None
        elif type(each) is Shard:
            # As torch.chunk: all as large as the first, the last ones less.
            step = -(-sizes[each.dim] // ranks)
            begin = min(place * step, sizes[each.dim])
            first[each.dim] += begin
            sizes[each.dim] = min(step, sizes[each.dim] - begin)
        else:
            return None
    return tuple(first)


def _part(whole: Any, local: Any, first: tuple[int, ...] | None) -> Part | None:
    """Rows that lie in one piece in the whole. None: they do not."""
    n = local.numel()
    if first is None or tuple(whole.shape) == tuple(local.shape):
        return Part(1, n, 0, n)
    cut = [i for i, d in enumerate(local.shape) if d != whole.shape[i]]
    behind = whole.shape[cut[-1] + 1 :].numel()
    columns = local.shape[cut[-1]] * behind
    stride = whole.shape[cut[-1]] * behind
    begin = 0
    for place, dim in zip(first, whole.shape):
        begin = begin * dim + place
    if len(cut) > 1:  # rows of rows
        return None
    return Part(n // columns, columns, begin, stride)
