"""What is measured of tensors, on the device where they lie.

The smallest and the largest element, or a norm, tell whether there is NaN or an
infinity at all: each passes through. So a healthy tensor is read once or twice
and nothing in it is counted. How many bad elements there are is counted where
that can be decided without waiting; elsewhere 1 is told, for "some".
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from nanwatch._torch.readout import WITH_64_BITS, Readout, on_host
from nanwatch._torch.stacking import Stacks

DTYPES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    getattr(torch, "float8_e4m3fn", None): "fp8_e4m3",
    getattr(torch, "float8_e5m2", None): "fp8_e5m2",
}
HALF = (torch.float16, torch.bfloat16)
WIDE = 2.0**64  # a norm whose square leaves the range of fp32


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
        and tensor.dtype in DTYPES
        and tensor.layout is torch.strided
        and tensor.numel() > 0
        and not tensor.is_meta
    )


def beside(scale: Any, tensor: Any) -> Any:
    """On the device of `tensor`: a model on several has a scale on one."""
    if isinstance(scale, torch.Tensor) and scale.device != tensor.device:
        # The host reads a copy at once; a device after it is there.
        return scale.to(tensor.device, non_blocking=tensor.is_cuda)
    return scale


class Shapes:
    """What of tensors does not change from step to step."""

    __slots__ = ("elements", "half", "stacks")

    def __init__(self, tensors: list[Any]) -> None:
        self.elements = [t.numel() for t in tensors]
        self.half = any(t.dtype in HALF for t in tensors)
        # Of a host, where there are some; those of 16 bits are none of them.
        self.stacks: Stacks | None = None
        if tensors and on_host(tensors[0]) and not self.half:
            self.stacks = Stacks(tensors) or None


def norms_of(tensors: list[Any], half: bool, order: float = 2.0) -> list[Any]:
    """`half`: some are in 16 bits. Of a tensor whose squares leave the range
    of fp32 it is infinity: see `Sizes`."""
    with torch.set_grad_enabled(False):  # in fewer calls than no_grad()
        if not half:
            return list(torch._foreach_norm(tensors, order))
        # On a CPU the largest element takes four times as long that way.
        if order != math.inf or tensors[0].is_cuda:
            # Not before PyTorch 2.4, nor where some have 64 bits.
            with contextlib.suppress(TypeError, RuntimeError):
                return list(torch._foreach_norm(tensors, order, torch.float32))
        # One at a time: copies of a whole model need not fit beside it.
        return [torch._foreach_norm([t.float()], order)[0] for t in tensors]


def wide_norms_of(tensors: list[Any], order: float = 2.0) -> list[Any] | None:
    """On a device, in 64 bits, in which the squares of all that 32 hold are
    finite. None: these have 64 themselves, or this device or PyTorch does not
    do it at once. (It takes no longer: the memory decides.)"""
    if any(t.dtype is torch.float64 for t in tensors) or (
        tensors[0].device.type not in WITH_64_BITS
    ):
        return None
    with torch.no_grad(), contextlib.suppress(TypeError, RuntimeError):
        return list(torch._foreach_norm(tensors, order, torch.float64))
    return None


def best_norms_of(
    tensors: list[Any], half: bool, order: float = 2.0
) -> list[Any]:
    """In 64 bits on a device, where it does that."""
    wide = None if on_host(tensors[0]) else wide_norms_of(tensors, order)
    return wide or norms_of(tensors, half, order)


def _divided(norms: list[Any], scale: Any) -> Any:
    """Of a device, for a readout: each alone would take as long as a layer."""
    if scale is None:
        return norms
    together = torch.stack(norms)
    return together / beside(scale, together)


def _nonzero(tensors: list[Any]) -> list[Any]:
    """How many elements of each are not 0."""
    if not on_host(tensors[0]):
        # In one call, which takes the host a third as long.
        counts = wide_norms_of(tensors, 0.0)
        if counts is not None:
            return counts
    return [torch.count_nonzero(t) for t in tensors]


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

    Norms and largest elements come from one call each, and cost the same: the
    second is made only where `largest` asks for it.

    Finite elements may have squares that leave the range of fp32. On a CPU
    their norm is taken in 64 bits then; on a GPU, where nobody knows of it in
    time, all are. Where a device cannot do that, what the norm is at least
    stands for it: the largest element, or `WIDE`.
    """

    __slots__ = (
        "_least",
        "_norms",
        "counts",
        "elements",
        "largest",
        "odd",
        "plain",
        "zeros",
    )

    def __init__(
        self,
        tensors: list[Any],
        shapes: Shapes,
        readout: Readout,
        *,
        largest: bool,
        zeros: bool,
        divide_by: Any = None,
        norms: list[float] | None = None,
    ) -> None:
        """`norms`: of the tensors, where they are known; not with
        `divide_by`."""
        self.elements = shapes.elements
        self.counts: dict[int, Counts] = {}
        self.largest: Any = None
        self.zeros: Any = None
        at_once = on_host(tensors[0])
        known = norms is not None
        stacks = shapes.stacks
        if norms is None and at_once:
            if stacks is not None:
                norms = stacks.norms(tensors)
            else:
                norms = readout.add(norms_of(tensors, shapes.half))
            if divide_by is not None:
                norms = [v / float(divide_by) for v in norms]
        elif norms is None:
            wide = wide_norms_of(tensors)
            known = wide is not None
            found = wide or norms_of(tensors, shapes.half)
            norms = readout.add(_divided(found, divide_by))
        self._norms: Any = norms
        self._least = WIDE if divide_by is None else 0.0
        if at_once and largest:
            if stacks is not None:
                most = stacks.largest(tensors, _largest)
            else:
                most = [_largest(t) for t in tensors]
            scale = 1.0 if divide_by is None else float(divide_by)
            self.largest = [v / scale for v in most]
        elif largest or not (at_once or known):
            found = norms_of(tensors, shapes.half, math.inf)
            self.largest = readout.add(_divided(found, divide_by))
        if zeros:
            self.zeros = readout.add(_nonzero(tensors))
        # On the host, and finite; or on the host, and not so in 32 bits.
        self.plain = at_once and math.isfinite(sum(self._norms))
        self.odd = at_once and not self.plain
        if self.odd:
            self._look_again(tensors, divide_by)

    def _look_again(self, tensors: list[Any], divide_by: Any) -> None:
        """On the host, where looking costs no wait."""
        for i, norm in enumerate(self._norms):
            if math.isfinite(norm):
                continue
            counts = count(tensors[i])
            if any(counts):
                self.counts[i] = counts
            else:
                self._norms[i] = _wide_norm(tensors[i], divide_by)
        self.plain = not self.counts and math.isfinite(sum(self._norms))

    def norms(self, readout: Readout) -> list[float]:
        """Not finite where an element is not."""
        norms = readout.numbers(self._norms)
        if self.largest is None or math.isfinite(sum(norms)):
            return norms
        return [
            max(most, self._least) if math.isinf(norm) else norm
            for norm, most in zip(norms, readout.numbers(self.largest))
        ]

    def healthy(self, readout: Readout) -> bool:
        """In a glance; False where a closer look is needed."""
        return self.plain or math.isfinite(sum(self.norms(readout)))

    def read(self, readout: Readout, factors: Sequence[float]) -> list[Read]:
        """`factors`: what each size is multiplied by, e.g. the loss scale."""
        unknown = [None] * len(self.elements)
        largest = readout.numbers(self.largest) if self.largest else unknown
        nonzero = readout.numbers(self.zeros) if self.zeros else unknown
        return [
            _read(n, norm, most, full, self.counts.get(i), factor)
            for i, (n, norm, most, full, factor) in enumerate(
                zip(
                    self.elements,
                    self.norms(readout),
                    largest,
                    nonzero,
                    factors,
                )
            )
        ]


def _wide_norm(tensor: Any, divide_by: Any) -> float:
    """Of finite elements; if even its square does not fit, the largest."""
    tensor = tensor.detach()
    norm: float = torch.linalg.vector_norm(tensor, dtype=torch.float64).item()
    if math.isinf(norm):
        norm = _largest(tensor)
    return norm if divide_by is None else norm / float(divide_by)


def _largest(tensor: Any) -> float:
    """Of a tensor on the host. NaN, if there is one."""
    least, most = torch.aminmax(tensor.detach())
    low: float = least.item()
    high: float = most.item()
    return max(abs(low), abs(high))


class Read(NamedTuple):
    """One tensor, as plain numbers; None is "not known"."""

    elements: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int | None
    abs_max: float | None
    rms: float | None

    @property
    def bad(self) -> bool:
        return self.nan + self.pos_inf + self.neg_inf > 0


def _read(
    elements: int,
    norm: float,
    largest: float | None,
    nonzero: float | None,
    counts: Counts | None,
    factor: float,
) -> Read:
    # Of a tensor that grows while it is looked at, in place.
    zero = None if nonzero is None else max(0, elements - int(nonzero))
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


def is_known_finite(tensor: Any) -> bool:
    """At once: on a host. (A norm that leaves the range of fp32 is not.)"""
    if not on_host(tensor):
        return False
    kind = torch.float32 if tensor.dtype in HALF else None
    norm = torch.linalg.vector_norm(tensor.detach(), dtype=kind)
    return math.isfinite(norm.item())


class One:
    """One tensor of the forward or the backward pass."""

    __slots__ = ("_ends", "_norm", "counts", "dtype", "elements", "shape")

    def __init__(self, tensor: Any, readout: Readout) -> None:
        tensor = tensor.detach()
        self.elements = tensor.numel()
        self.shape = tuple(tensor.shape)
        self.dtype = DTYPES.get(tensor.dtype, "")
        self.counts: Counts | None = None
        low, high = torch.aminmax(tensor)
        norm = (
            torch.linalg.vector_norm(tensor, dtype=torch.float32)
            if tensor.dtype in HALF
            else torch.linalg.vector_norm(tensor)
        )
        self._ends = readout.add((low, high))
        self._norm = readout.add((norm,))
        if on_host(tensor):
            low, high = self._ends
            if not (math.isfinite(low) and math.isfinite(high)):
                self.counts = count(tensor)

    def read(self, readout: Readout) -> Read:
        low, high = readout.numbers(self._ends)
        norm = readout.number(self._norm)
        counts = self.counts or Counts(
            int(math.isnan(low)), int(high == math.inf), int(low == -math.inf)
        )
        if any(counts):
            return Read(self.elements, *counts, None, None, None)
        return Read(
            self.elements,
            *counts,
            None,
            max(abs(low), abs(high)),
            norm / math.sqrt(self.elements) if math.isfinite(norm) else None,
        )
