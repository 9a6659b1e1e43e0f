"""What two runs of a training in MindSpore are compared by. In PyNative mode:
what each cell gets and makes, and its gradients; of graphs, whose insides are
not seen, the weights, and the gradients that the training tells."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import mindspore
import numpy

from nanwatch import _compared_arrays
from nanwatch._run import Run

_TENSORS = 4  # of one call's inputs, and of its outputs
_ASKED = "NANWATCH_FUSION"  # "off", "on" or "parts:" and a region's name
_PARTS = "parts:"
_COMPILE = mindspore.jit
# By cell. Their class's call is taken, not their hooks: a cell with hooks of
# Python is not compiled.
_NAMES: weakref.WeakKeyDictionary[Any, tuple[Cells, str]] = (
    weakref.WeakKeyDictionary()
)


class Cells:
    """Of one network."""

    def __init__(
        self,
        compared: _compared_arrays.ComparedArrays,
        network: Any,
        scale: Callable[[], float],
    ) -> None:
        self._compared = compared
        self._network = weakref.ref(network)
        self._scale = scale
        _take_calls()
        for name, cell in network.cells_and_names():
            _NAMES[cell] = (self, name or "model")

    def call(
        self, run: Any, name: str, cell: Any, given: Any, more: Any
    ) -> Any:
        given_here = _tensors((*given, *more.values()))
        if cell is self._network():
            self._compared.take_batch(given_here)
        made = run(cell, *given, **more)
        if not self._compared.on:
            return made
        kind, made_here = type(cell).__name__, _tensors(made)
        self._compared.add(name, kind, "input", *given_here)
        self._compared.add(name, kind, "output", *made_here)
        if not _is_graph():
            for slot, tensors in (
                ("grad_output", made_here),
                ("grad_input", given_here),
            ):
                for tensor in tensors:
                    self._follow(name, kind, slot, tensor)
        return made

    def _follow(self, name: str, kind: str, slot: str, tensor: Any) -> None:
        if isinstance(tensor, mindspore.Parameter):
            return
        known = self._compared

        def hook(gradient: Any) -> None:
            if isinstance(gradient, mindspore.Tensor):
                known.add_backward(name, kind, slot, self._scale(), gradient)

        try:
            tensor.register_hook(hook)
        except Exception as error:
            known.failed("comparing", error)


def begin(
    level: str,
    run: Run,
    network: Any,
    parameters: Iterable[Any],
    scale: Callable[[], float] = lambda: 1.0,
) -> _compared_arrays.ComparedArrays | None:
    compared = _compared_arrays.begin(level, run, array_of)
    if compared is None:
        return None
    if network is not None:
        if _wants_parts():
            _compile_parts(network)
        Cells(compared, network, scale)
    compared.add_weights((p.name, p) for p in parameters)
    return compared


def prepare() -> None:
    """Before the program compiles anything: at the import of
    nanwatch.mindspore. Where `nanwatch fusion` wants no graphs, or those of
    parts alone, the program makes none."""
    if _asked() in ("", "on"):
        return
    setting = mindspore.set_context
    setting(mode=mindspore.PYNATIVE_MODE)

    @functools.wraps(setting)
    def set_others(**more: Any) -> None:
        more.pop("mode", None)
        if more:
            setting(**more)

    mindspore.set_context = mindspore.context.set_context = set_others
    if _wants_parts():
        mindspore.jit = _not_compiled


def _asked() -> str:
    return os.environ.get(_ASKED, "")


def _wants_parts() -> bool:
    return _asked().startswith(_PARTS)


def _not_compiled(function: Any = None, **more: Any) -> Any:
    return (lambda given: given) if function is None else function


def _compile_parts(network: Any) -> None:
    for _, cell in network.cells_and_names():
        if next(iter(cell.cells()), None) is None:
            cell.construct = _COMPILE(cell.construct)


@functools.lru_cache(maxsize=1)
def _take_calls() -> None:
    kind = mindspore.nn.Cell
    run = kind.__call__

    @functools.wraps(run)
    def call(self: Any, *given: Any, **more: Any) -> Any:
        known = _NAMES.get(self) if _NAMES else None
        if known is None:
            return run(self, *given, **more)
        cells, name = known
        return cells.call(run, name, self, given, more)

    kind.__call__ = call


def _is_graph() -> bool:
    return bool(
        mindspore.get_context("mode") == mindspore.GRAPH_MODE
        and os.environ.get("MS_JIT") != "0"
    )


def _tensors(value: Any) -> list[Any]:
    of = value if isinstance(value, (list, tuple)) else [value]
    return [x for x in of if isinstance(x, mindspore.Tensor)][:_TENSORS]


def array_of(tensor: Any) -> tuple[Any, str]:
    if mindspore.get_context("device_target") != "CPU":
        return None, ""
    if tensor.dtype == mindspore.bfloat16:
        # NumPy has no such format: the high half of the same number in fp32.
        high = tensor.astype(mindspore.float32).asnumpy().view(numpy.uint32)
        return (high >> 16).astype(numpy.uint16), "bf16"
    return tensor.asnumpy(), ""
