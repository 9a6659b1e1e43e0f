"""What is measured of tensors, on the device where they lie.

The smallest and the largest element, or a norm, tell whether there is NaN or an
infinity at all: each passes through. So a healthy tensor is read once or twice
and nothing in it is counted. How many bad elements there are is counted where
that can be decided without waiting; elsewhere 1 is told, for "some".
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import torch

from nanwatch._torch.readout import Place, Readout

DTYPES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    getattr(torch, "float8_e4m3fn", None): "fp8_e4m3",
    getattr(torch, "float8_e5m2", None): "fp8_e5m2",
}
_HALF = (torch.float16, torch.bfloat16)


def local(tensor: Any) -> Any:
    """This rank's part of a sharded tensor, what is stored of a sparse one."""
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.is_sparse:
        tensor = tensor._values()
    return tensor.detach()


def measurable(tensor: Any) -> bool:
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.is_floating_point()
        and tensor.layout is torch.strided
        and not tensor.is_meta
        and tensor.numel() > 0
    )


def _norms(tensors: list[Any], order: float) -> list[Any]:
    tensors = [t.float() if t.dtype in _HALF else t for t in tensors]
    return list(torch._foreach_norm(tensors, order))


class Counts(NamedTuple):
    """Of one tensor."""

    nan: int
    pos_inf: int
    neg_inf: int


def count(tensor: Any) -> Counts:
    """Waits for the device: for tensors on the host, and where it has been
    waited for already."""
    return Counts(
        int(torch.isnan(tensor).sum()),
        int(torch.isposinf(tensor).sum()),
        int(torch.isneginf(tensor).sum()),
    )


class Sizes:
    """How large the elements of many tensors are; one object a step.

    On a GPU norms and largest elements come from one fused call each. On a
    CPU the second costs as much as the first, so it is taken only where
    `largest` asks for it, or where a norm is not finite.
    """

    __slots__ = ("counts", "elements", "largest", "norm", "zeros")

    def __init__(
        self,
        tensors: list[Any],
        readout: Readout,
        *,
        largest: bool,
        zeros: bool,
        divide_by: Any = None,
    ) -> None:
        self.elements = [t.numel() for t in tensors]
        self.counts: dict[int, Counts] = {}
        self.largest: Optional[list[Any]] = None
        self.zeros: Optional[list[Place]] = None
        norms = _norms(tensors, 2.0)
        on_cpu = tensors[0].device.type == "cpu"
        if on_cpu:
            self._count_bad(tensors, norms)
        if not on_cpu:
            self.largest = self._place(
                _norms(tensors, math.inf), readout, divide_by
            )
        elif largest:
            self.largest = self._place(
                [_largest(t) for t in tensors], readout, divide_by
            )
        self.norm = self._place(norms, readout, divide_by)
        if zeros:
            self.zeros = [readout.add(torch.count_nonzero(t)) for t in tensors]

    def _place(
        self, values: list[Any], readout: Readout, divide_by: Any
    ) -> list[Place]:
        if divide_by is not None:
            values = [v / divide_by for v in values]
        return [readout.add(v) for v in values]

    def _count_bad(self, tensors: list[Any], norms: list[Any]) -> None:
        """Tensors on the host: looking costs no wait."""
        for i, norm in enumerate(torch.stack(norms).tolist()):
            if not math.isfinite(norm):
                self.counts[i] = count(tensors[i])


def _largest(tensor: Any) -> Any:
    low, high = torch.aminmax(tensor)
    return torch.maximum(low.abs(), high.abs())


class Read(NamedTuple):
    """One tensor, as plain numbers; None is "not known"."""

    elements: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: Optional[int]
    abs_max: Optional[float]
    rms: Optional[float]

    @property
    def bad(self) -> bool:
        return self.nan + self.pos_inf + self.neg_inf > 0


def read(sizes: Sizes, i: int, readout: Readout, factor: float = 1.0) -> Read:
    """`factor`: what the sizes are multiplied by, e.g. the loss scale."""
    norm = readout.value(sizes.norm[i])
    largest = (
        readout.value(sizes.largest[i]) if sizes.largest is not None else None
    )
    elements = sizes.elements[i]
    zero = (
        elements - int(readout.value(sizes.zeros[i]))
        if sizes.zeros is not None
        else None
    )
    counts = sizes.counts.get(i)
    if counts is None:
        # Of a square that left the range of fp32 the largest element knows.
        told = norm if largest is None else largest
        counts = Counts(int(math.isnan(told)), int(math.isinf(told)), 0)
    if any(counts):
        return Read(elements, *counts, zero, None, None)
    return Read(
        elements,
        *counts,
        zero,
        None if largest is None else largest * factor,
        norm * factor / math.sqrt(elements) if math.isfinite(norm) else None,
    )


class One:
    """One tensor of the forward or the backward pass."""

    __slots__ = ("counts", "dtype", "elements", "high", "low", "norm", "shape")

    def __init__(self, tensor: Any, readout: Readout) -> None:
        tensor = tensor.detach()
        self.elements = tensor.numel()
        self.shape = tuple(tensor.shape)
        self.dtype = DTYPES.get(tensor.dtype, "")
        self.counts: Optional[Counts] = None
        low, high = torch.aminmax(tensor)
        if tensor.device.type == "cpu" and not (
            math.isfinite(low.item()) and math.isfinite(high.item())
        ):
            self.counts = count(tensor)
        self.low = readout.add(low)
        self.high = readout.add(high)
        self.norm = readout.add(
            torch.linalg.vector_norm(tensor, dtype=torch.float32)
            if tensor.dtype in _HALF
            else torch.linalg.vector_norm(tensor)
        )

    def read(self, readout: Readout) -> Read:
        low, high = readout.value(self.low), readout.value(self.high)
        counts = self.counts or Counts(
            int(math.isnan(low)), int(high == math.inf), int(low == -math.inf)
        )
        if any(counts):
            return Read(self.elements, *counts, None, None, None)
        norm = readout.value(self.norm)
        return Read(
            self.elements,
            *counts,
            None,
            max(abs(low), abs(high)),
            norm / math.sqrt(self.elements) if math.isfinite(norm) else None,
        )
