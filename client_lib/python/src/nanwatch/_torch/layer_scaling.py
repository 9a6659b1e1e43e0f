"""Layers that have loss scales of their own: the scales, and how large what
arrives at each layer and at its weights is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from nanwatch._checks import Checks, describe
from nanwatch._torch.guard import Guard
from nanwatch._torch.hooks import Hook
from nanwatch._torch.readout import Readout, on_host
from nanwatch._torch.statistics import DTYPES, local

Scales = Mapping[Any, Any]

# Binary exponents that are told apart, from the first on; what is below or
# above is with the first or the last. fp16 has those from -24 to 15.
_FIRST, _BINS = -40, 64
# Places in the execution order, as those of op_names.py.
_BACKWARD = 1 << 20


class _Found(NamedTuple):
    """Of one gradient at one step."""

    op: int
    slot: str
    elements: int
    numbers: Any  # of a readout


class LayerScaling:
    """Looks at the layers that are named, in each `every`-th step."""

    def __init__(
        self,
        model: torch.nn.Module,
        register: Callable[..., int],
        checks: Checks,
        guard: Guard,
        readout: Callable[[], Readout],
    ) -> None:
        self._names = {id(m): name for name, m in model.named_modules()}
        self._modules = dict(model.named_modules())
        self._register = register
        self._checks = checks
        self._guard = guard
        self._readout = readout
        self._given: Scales | Callable[[], Scales] = {}
        self._every = 1
        self._dtype: str | None = None
        self._step = 0
        self._hooks: dict[str, list[Any]] = {}  # by layer
        self._ops: dict[tuple[str, str], int] = {}  # by name and dtype
        self._found: list[_Found] = []

    def give(
        self,
        scales: Scales | Callable[[], Scales],
        every: int,
        dtype: str | None,
    ) -> None:
        self._given, self._every, self._dtype = scales, max(1, every), dtype
        for name in self._named(self._now()):
            self._look_at(name)

    def close(self) -> None:
        for hooks in self._hooks.values():
            for hook in hooks:
                hook.remove()
        self._hooks.clear()

    def _now(self) -> Scales:
        given = self._given() if callable(self._given) else self._given
        if isinstance(given, Mapping):
            return given
        self._checks.refuse(
            "layer_scales",
            "layer_scales() takes a dict of modules or their names, or a "
            f"function that gives one, not a {describe(given)}",
        )
        return {}

    def _named(self, scales: Scales) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for layer, scale in scales.items():
            name = (
                layer if isinstance(layer, str) else self._names.get(id(layer))
            )
            if name is not None and name in self._modules:
                named[name] = scale
                continue
            self._checks.refuse(
                "layer_scales",
                f"layer_scales(): {layer!s:.60} is no module of the model",
            )
        return named

    def _look_at(self, name: str) -> None:
        if name in self._hooks:
            return
        module = self._modules[name]

        def arrives(_: Any, __: Any, out: Any) -> None:
            first = out[0] if isinstance(out, (tuple, list)) and out else out
            if isinstance(first, torch.Tensor) and first.requires_grad:
                first.register_hook(
                    lambda g: self._guard("layers", self._arrived, name, g)
                )

        hooks = [module.register_forward_hook(Hook(arrives))]
        for own, weight in module.named_parameters(recurse=False):
            if not weight.requires_grad or not hasattr(
                weight, "register_post_accumulate_grad_hook"
            ):
                continue  # before PyTorch 2.1

            def made(w: Any, path: str = f"{name}.{own}") -> None:
                self._guard("layers", self._made, path, w)

            hooks.append(weight.register_post_accumulate_grad_hook(made))
        self._hooks[name] = hooks

    def _looks(self) -> bool:
        return self._step % self._every == 0

    def _op(self, name: str, kind: str, dtype: str, shape: Any) -> int:
        op = self._ops.get((name, kind))
        if op is None:
            # In the order of the backward pass, behind all of the forward one.
            op = self._register(
                name,
                type=kind,
                dtype=dtype,
                shape=shape,
                order=_BACKWARD + len(self._ops),
            )
            self._ops[name, kind] = op
        return op

    def _arrived(self, name: str, gradient: Any) -> None:
        if not self._looks():
            return
        dtype = self._dtype or DTYPES.get(gradient.dtype, "")
        kind = type(self._modules[name]).__name__ + "Backward"
        op = self._op(name, kind, dtype, gradient.shape)
        with torch.no_grad():
            numbers = self._readout().add(_measure(local(gradient)))
        self._found.append(_Found(op, "grad_output", gradient.numel(), numbers))

    def _made(self, path: str, weight: Any) -> None:
        if not self._looks() or weight.grad is None:
            return
        gradient = local(weight.grad)
        dtype = DTYPES.get(gradient.dtype, "")
        op = self._op(path, "Parameter", dtype, weight.shape)
        with torch.no_grad():
            square = gradient.double().square().sum().reshape(1)
            numbers = self._readout().add(square)
        self._found.append(_Found(op, "grad_input", gradient.numel(), numbers))

    def take(self) -> Told | None:
        """What was seen since the step before, and the scales of now."""
        found, self._found = self._found, []
        self._step += 1
        scales = self._named(self._now())
        for name in scales:
            self._look_at(name)
        if not scales:
            return None
        readout = self._readout()
        # None: the step's scale is on it.
        numbers = {
            name: readout.add([scale.detach()])
            if isinstance(scale, torch.Tensor) and not on_host(scale)
            else float(scale)
            for name, scale in scales.items()
            if scale is not None
        }
        return Told(readout, found, numbers)


class Told:
    """Of one step; its numbers may be on their way."""

    def __init__(
        self, readout: Readout, found: list[_Found], scales: dict[str, Any]
    ) -> None:
        self._readout = readout
        self._found = found
        self._scales = scales

    def tell(self, run: Any, step: int, time: float) -> dict[str, Any]:
        """Says the gradients; what the step's record has more of."""
        for one in self._found:
            numbers = self._readout.numbers(one.numbers)
            if one.slot == "grad_input":
                rms = math.sqrt(numbers[0] / one.elements)
                run.op(one.op, step=step, slot=one.slot, rms=rms, time=time)
                continue
            counts = [int(n) for n in numbers[:_BINS]]
            zero, nan, inf, largest, square = numbers[_BINS:]
            finite = max(one.elements - int(nan) - int(inf), 1)
            run.op(
                one.op,
                step=step,
                slot=one.slot,
                zero=int(zero),
                nan=int(nan),
                pos_inf=int(inf),
                abs_max=largest,
                rms=math.sqrt(square / finite),
                exponents=(_FIRST, counts),
                time=time,
            )
        scales = {
            name: s if type(s) is float else self._readout.number(s)
            for name, s in self._scales.items()
        }
        return {"layer_scales": scales} if scales else {}


def _measure(gradient: Any) -> Any:
    """Counts by exponent, and the rest; one tensor, without a wait."""
    sizes = gradient.float().abs().flatten()
    finite = sizes.isfinite()
    nonzero = finite & (sizes > 0)
    exponents = torch.frexp(sizes)[1].long() - 1 - _FIRST
    counts = torch.zeros(_BINS, dtype=torch.float64, device=sizes.device)
    counts.scatter_add_(
        0, exponents.clamp_(0, _BINS - 1), nonzero.to(torch.float64)
    )
    usual = torch.where(finite, sizes, torch.zeros_like(sizes)).double()
    # What `Told.tell` takes apart.
    rest = torch.stack(
        [
            (sizes == 0).sum().double(),
            sizes.isnan().sum().double(),
            sizes.isinf().sum().double(),
            usual.max(),
            usual.square().sum(),
        ]
    )
    return torch.cat([counts, rest])
