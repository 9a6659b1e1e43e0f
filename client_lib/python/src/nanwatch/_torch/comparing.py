"""What two runs are compared by: digests and sketches of all that a step reads
and makes, at some steps, and a digest of each step's batch. Hooks are on the
modules at those steps alone."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from nanwatch import _sketches
from nanwatch._compared_rows import (
    PARAMETER,
    ComparedRows,
    Taken,
    with_batch,
)
from nanwatch._compared_steps import ComparedSteps
from nanwatch._run import Run
from nanwatch._torch.guard import Guard
from nanwatch._torch.hooks import Hook, keep_from_copies, release
from nanwatch._torch.input_places import places_of
from nanwatch._torch.modules import _graph_task, _node_of, inner, own_path
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.sketching import can_be_taken, take
from nanwatch._torch.step import Step
from nanwatch._torch.tracing import is_traced
from nanwatch._torch.untold import Untold

LEVEL = "compare"
_TENSORS = 4  # of one call's inputs, and of its outputs


class NotComparing:
    """At other levels."""

    on = False

    def close(self) -> None:
        pass

    def gradients(self, *of: Any) -> None:
        pass

    def end(self, *of: Any) -> None:
        pass


def begin(
    level: str, run: Run, model: Any, guard: Guard, scaler: Any
) -> Comparing | NotComparing:
    """`scaler`: of `scaling.of`."""
    if level != LEVEL:
        return NotComparing()
    library = _sketches.library()
    if library is None:
        run._checks.refuse(
            "compare",
            _sketches.MISSING,
        )
        return NotComparing()
    return Comparing(library, run, model, guard, scaler)


class Comparing:
    """Of one model. All calls are of the training's threads."""

    def __init__(
        self,
        library: _sketches.Library,
        run: Run,
        model: Any,
        guard: Guard,
        scaler: Any,
    ) -> None:
        self._library = library
        self._model = weakref.ref(model)
        self._guard = guard
        self._scaler = scaler
        self._scale = 0.0  # as the backward pass of this step had it
        self._rows = ComparedRows(run)
        self.steps = ComparedSteps()
        self._handles: list[tuple[weakref.ref[Any], Any]] = []
        self._recent: dict[int, tuple[Any, int, Taken | None]] = {}
        self._batch: int | None = None
        keep_from_copies(model)
        self._begun: Any = model.register_forward_pre_hook(
            Hook(self._begins), with_kwargs=True
        )
        self._enable()

    def close(self) -> None:
        self._disable()
        if self._begun is not None:
            self._begun.remove()
            self._begun = None
        self._rows.clear()
        self._recent = {}

    @property
    def on(self) -> bool:
        """The step that goes on is looked at."""
        return bool(self._handles)

    # ------------------------------------------------------------ what hooks do

    def _begins(self, module: Any, args: Any, kwargs: Any) -> None:
        if not self.steps.has_batch or is_traced():
            return
        if module.training and torch.is_grad_enabled():
            self._timed("batch", self._take_batch, args, kwargs)

    def _take_batch(self, args: Any, kwargs: Any) -> None:
        for tensor in _tensors_in((args, kwargs)):
            taken = self._take(tensor)
            if taken is None:
                continue
            self._batch = with_batch(self._batch, taken)
            if self.on:
                self._rows.add("batch", "Batch", "input", taken)

    def _enable(self) -> None:
        model = self._model()
        if model is None or self._handles:
            return
        for path, module in inner(model).named_modules():
            name = own_path(path) or "model"
            leaf = next(module.children(), None) is None
            kind = type(inner(module)).__name__
            if not path:
                module = _compiled(model)
            keep_from_copies(module)
            handle = module.register_forward_hook(
                Hook(self._hook(name, kind, leaf)),
                with_kwargs=True,
            )
            self._handles.append((weakref.ref(module), handle))

    def _disable(self) -> None:
        model = self._model()
        for reference, handle in self._handles:
            handle.remove()
            module = reference()
            if module is not None and module is not model:
                release(module)
        self._handles = []

    def _hook(self, name: str, kind: str, leaf: bool) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if is_traced() or _graph_task() != -1:
                return
            if module.training and torch.is_grad_enabled():
                self._timed(
                    "comparing", self._forward, name, kind, leaf, args, output
                )

        return hook

    def _forward(
        self, name: str, kind: str, leaf: bool, args: Any, output: Any
    ) -> None:
        inputs, outputs = _some(args), _some(output)
        for tensor in inputs:
            self._rows.add(name, kind, "input", self._take(tensor))
        for tensor in outputs:
            self._rows.add(name, kind, "output", self._take(tensor))
            if tensor.requires_grad and tensor.grad_fn is not None:
                tensor.register_hook(self._gradient(name, kind, "grad_output"))
        # What the node that made the result gives on is this module's alone;
        # the tensor's gradient is what all that read it gave.
        if leaf and outputs and outputs[0].requires_grad:
            node = _node_of(outputs[0])
            places = places_of(inputs, node)
            if places:
                node.register_hook(self._node(name, kind, places))
        for tensor in inputs:
            if tensor.requires_grad and tensor.grad_fn is not None:
                tensor.register_hook(self._gradient(name, kind, "grad_input"))

    def _gradient(self, name: str, kind: str, slot: str) -> Callable[..., None]:
        def hook(gradient: Any) -> None:
            if not is_traced():
                self._timed(
                    "comparing",
                    self._backward,
                    name,
                    kind,
                    slot,
                    (gradient,),
                    slot == "grad_input",
                )

        return hook

    def _node(
        self, name: str, kind: str, places: list[int]
    ) -> Callable[..., None]:
        """`places`: of the module's inputs among what its node gives on."""

        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            its = [grad_inputs[place] for place in places]
            if not is_traced():
                self._timed(
                    "comparing",
                    self._backward,
                    name,
                    kind,
                    "grad_input",
                    its,
                )

        return hook

    def _backward(
        self,
        name: str,
        kind: str,
        slot: str,
        gradients: Any,
        of_all: bool = False,
    ) -> None:
        if not self._scale:
            scale = self._scaler and self._scaler.present_scale()
            self._scale = float(scale or 1.0)
        for tensor in _some(gradients):
            taken = self._take(tensor)
            self._rows.add_backward(
                name, kind, slot, taken, self._scale, of_all
            )

    def gradients(
        self,
        followed: Followed,
        divide_by: Any,
        gradient_of: Callable[[Any], Any] | None,
    ) -> None:
        """Before they are clipped; and at the weights. Arguments are as for
        `Followed.measure_gradients`."""
        pairs = list(zip(followed.weights(), followed.tensors()))
        scale = 1.0 if divide_by is None else float(divide_by)
        self._timed("comparing", self._gradients, pairs, scale, gradient_of)

    def _gradients(
        self,
        pairs: Sequence[tuple[Any, Any]],
        scale: float,
        gradient_of: Callable[[Any], Any] | None,
    ) -> None:
        self._rows.forget_parameters({parameter.name for parameter, _ in pairs})
        for parameter, tensor in pairs:
            gradient = tensor.grad if gradient_of is None else None
            if gradient_of is not None:
                gradient = gradient_of(tensor)
            if gradient is not None:
                taken = self._take(gradient)
                self._rows.add(
                    parameter.name, PARAMETER, "grad_input", taken, scale
                )
        for parameter, tensor in pairs:
            taken = self._take(tensor)
            self._rows.add(parameter.name, PARAMETER, "parameter", taken)

    # --------------------------------------------------------------- its end

    def end(self, step: Step, untold: Untold) -> None:
        """`step` is over, those before it may be `untold`."""
        step.batch, self._batch = self._batch, None
        if self.on:
            begun = time.perf_counter()
            untold.tell_ready()
            self._guard("comparing", self._rows.tell, step.number, step.time)
            self._recent, self._scale = {}, 0.0
            self.steps.spent += time.perf_counter() - begun
        self.steps.end(recorded=self.on)
        if self.steps.has_next(step.number):
            self._enable()
        else:
            self._disable()

    # ------------------------------------------------------------------ tensors

    def _take(self, tensor: Any) -> Taken | None:
        """The output of one module is the input of the next."""
        known = self._recent.get(id(tensor))
        if (
            known is not None
            and known[0] is tensor
            and known[1] == tensor._version
        ):
            return known[2]
        taken = take(self._library, tensor)
        if len(self._recent) >= 8:  # autograd holds them, but not for ever
            self._recent.pop(next(iter(self._recent)))
        self._recent[id(tensor)] = (tensor, tensor._version, taken)
        return taken

    def _timed(self, what: str, work: Callable[..., None], *of: Any) -> None:
        begun = time.perf_counter()
        with torch.no_grad():
            self._guard(what, work, *of)
        self.steps.spent += time.perf_counter() - begun


def _tensors_in(value: Any, depth: int = 3) -> Iterator[Any]:
    """Those of integers, too."""
    if isinstance(value, torch.Tensor):
        if hasattr(value, "to_local") or can_be_taken(value):
            yield value
    elif depth > 0 and isinstance(value, (list, tuple)):
        for entry in value:
            yield from _tensors_in(entry, depth - 1)
    elif depth > 0 and isinstance(value, dict):
        for entry in value.values():
            yield from _tensors_in(entry, depth - 1)


def _compiled(model: Any) -> Any:
    """The model as the compiler wraps it, whose hooks are not compiled; else
    the model."""
    while not hasattr(model, "_orig_mod") and model is not inner(model):
        model = model.module
    return model


def _some(value: Any) -> list[Any]:
    found = []
    for tensor in _tensors_in(value):
        found.append(tensor)
        if len(found) == _TENSORS:
            break
    return found
