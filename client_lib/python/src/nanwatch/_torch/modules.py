"""What goes through the modules of a model: forward and backward.

Hooks are there only while somebody wants to know (level "ops", or the next
steps after the daemon asked). A module that is called tells its inputs and
outputs; gradients come from hooks on the tensors and on the graph's nodes, so
nothing is put into the graph that an operation in place could trip over.

A module stands in the execution order where its call ends. What functions
between modules make counts as an op of the module that calls them. Gradients
come after all of that; they are left out where the loss is not finite, since
then none of them is.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from nanwatch._torch.found_tensors import (
    MOST,
    is_hidden,
    some_tensors,
    tensors_in,
)
from nanwatch._torch.hooked import Hooked
from nanwatch._torch.hooks import Hook
from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import One, is_known_finite
from nanwatch._torch.strides import Stride
from nanwatch._torch.tracing import has_compiled, is_traced

# What wrappers put before a module's own path.
_WRAPPERS = (
    "_orig_mod.",
    "_fsdp_wrapped_module.",
    "_checkpoint_wrapped_module.",
    "_forward_module.",  # of Lightning's Fabric
)
# Of a step: of all that a run takes at once, gradients and weights need some.
_ROWS = 15_000
_VIEWS = 3  # nodes that only change a shape, between a module and its result
# Reading a byte on a GPU takes so long, which its host does not see.
_SECONDS_A_BYTE = 1e-12
# Turns after which all hooks are there for once: another module may be called
# first by now.
_LOOK_EVERY = 64
# What a step takes more for the time that is seen here: to call hooks, and to
# fetch again what they put out of the processor's caches (measured).
_UNSEEN = 4 / 3
# It may not be missing in another version: hooks are called by trainings.
_graph_task: Callable[[], int] = getattr(
    torch._C, "_current_graph_task_id", lambda: -1
)


class Named(NamedTuple):
    """What is known of a module, which is not kept: programs replace some."""

    path: str
    kind: str  # its class
    leaf: bool


class Row(NamedTuple):
    """One tensor of one call; the sequence of rows is that of execution."""

    module: int  # place among `Modules.named`
    backward: bool
    slot: str
    one: One
    place: int = 0  # among those of its slot
    whole: bool = True  # all arguments of its call were looked at
    begins: bool = False  # before it no module was called in its step


def own_path(path: str) -> str:
    for wrapper in _WRAPPERS:
        path = path.replace(wrapper, "")
    return path


def inner(model: Any) -> Any:
    """Without DDP's, FSDP's or the compiler's wrapping."""
    while True:
        if hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif isinstance(
            model,
            (
                torch.nn.parallel.DistributedDataParallel,
                torch.nn.DataParallel,
            ),
        ):
            model = model.module
        else:
            return model


def _is_view(node: Any) -> bool:
    name = type(node).__name__
    return "View" in name or "Reshape" in name or name.startswith("Squeeze")


def _node_of(tensor: Any) -> Any:
    """The node that computed it, views skipped; None: there is none."""
    node = tensor.grad_fn
    for _ in range(_VIEWS):
        if node is None or not _is_view(node) or not node.next_functions:
            break
        node = node.next_functions[0][0]
    return node


# Of a step in which no module told anything; nobody adds to it.
NONE_TOLD: tuple[list[Row], Readout, bool] = ([], Readout(), False)


class Modules:
    """The hooks of one model. All calls are of the training's threads."""

    def __init__(self, model: Any, guard: Callable[..., Any]) -> None:
        """`guard` runs a function and keeps what it raises from training."""
        self._guard = guard
        self._model = inner(model)
        self.named: list[Named] = []
        self._places: dict[tuple[str, str, bool], int] = {}
        for _ in self._list():
            pass
        self._hooked = Hooked()
        self._begins: Any = None  # the handle of `_begin`; None: it has none
        # Modules without a hook, which cannot say that they do not tell.
        self._are_left_out = False
        # That have one, besides those that always have; None: all have.
        self._chosen: tuple[int, ...] | None = None
        # Those that were the first one called, while all had hooks.
        self.first: set[int] = set()
        self._has_begun = False  # a module was called, since `take`
        self._within: int | None = None  # the thread of a forward pass
        self._is_within = False  # one called a module without gradients; ever
        self.all = False  # every module tells, whatever it costs
        self.stride = Stride(len(self.named))
        self._sampled = False  # a module did not tell, since `take`
        # Modules that tell at each step: what they make is not finite, and
        # does no harm. Somebody else changes it.
        self.followed: set[int] = set()
        self.rows: list[Row] = []
        self.readout = Readout()
        self.seconds = 0.0  # spent here since the last `take`
        # What was measured last, with the tensor: the output of one module is
        # the input of the next.
        self._recent: dict[int, tuple[Any, int, One]] = {}

    @property
    def on(self) -> bool:
        return bool(self._hooked)

    def enable(self) -> None:
        """Those that the model has by now; all tell at the next step, if they
        are to."""
        if not self._hooked:
            for place, module in self._list():
                self._hooked.add(place, module, self._hook(place))
            self.stride.modules = len(self.named)
        self._put_on_all()

    def disable(self) -> None:
        self._watch_begin(False)
        self._hooked.close()
        self._chosen, self._are_left_out = None, False

    def _choose(self) -> None:
        """Hooks are on those that are to tell at the next step."""
        stride, chosen = self.stride, None
        if (
            self.first
            and not self.all
            and stride.by > 1
            and stride.turn % _LOOK_EVERY
        ):
            chosen = (*self.followed, *stride.places())
        if chosen == self._chosen:
            return
        if chosen is None or has_compiled():
            self._put_on_all()
            return
        self._chosen, self._are_left_out = chosen, True
        self._watch_begin(self._is_within)
        around = (0,) if self._is_within else ()
        self._hooked.put_on({*around, *self.first, *chosen})

    def _put_on_all(self) -> None:
        self._chosen, self._are_left_out = None, False
        self._watch_begin(True)
        self._hooked.put_on_all()

    def _watch_begin(self, on: bool) -> None:
        """Of forward passes: for modules that are called without gradients
        within one."""
        if on and self._begins is None:
            self._begins = self._model.register_forward_pre_hook(
                Hook(self._begin)
            )
        elif not on and self._begins is not None:
            self._begins.remove()
            self._begins = self._within = None

    def _begin(self, module: Any, args: Any) -> None:
        """A forward pass, which may be one of the training."""
        if is_traced():
            return
        follows = module.training and torch.is_grad_enabled()
        self._within = threading.get_ident() if follows else None

    def _list(self) -> Iterator[tuple[int, Any]]:
        """Each module with its place among `named`, where new ones are
        added."""
        for path, module in self._model.named_modules():
            kind = type(module).__name__
            leaf = next(module.children(), None) is None
            key = (path, kind, leaf)
            place = self._places.setdefault(key, len(self.named))
            if place == len(self.named):
                self.named.append(Named(own_path(path) or "model", kind, leaf))
            yield place, module

    def take(self, count: int) -> tuple[list[Row], Readout, bool]:
        """The first rows since the last call, where their numbers will be, and
        whether there were modules that did not tell. Numbers of a device travel
        together: all of the rows, then."""
        self._has_begun = False
        sampled = self._sampled or self._are_left_out
        if not self.rows:
            self._sampled = False
            return *NONE_TOLD[:2], sampled
        if count < len(self.rows) and self.readout.empty():
            first, self.rows = self.rows[:count], self.rows[count:]
            return first, Readout(), sampled
        taken = self.rows, self.readout, sampled
        self.rows, self.readout, self._sampled = [], Readout(), False
        self._recent = {}
        return taken

    def forget_seconds(self) -> None:
        """Those of a step in which all told, whatever it cost."""
        self.seconds = 0.0

    def keep_within(self, share: float, step_seconds: float) -> None:
        """Chooses those that tell at the next step, so that what is spent on
        them stays within `share` of its time."""
        if step_seconds <= 0:
            return
        spent = _UNSEEN * self.seconds / step_seconds
        self.seconds = 0.0
        self.stride.keep_within(share, spent)
        if self._hooked:
            self._choose()

    def _hook(self, index: int) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if is_traced():
                return
            # What is called without gradients is an evaluation. Within a
            # forward pass, as with checkpoints that call again what they hold,
            # it may be where something begins.
            if not (module.training and torch.is_grad_enabled()):
                if self._within != threading.get_ident():
                    return
                self._is_within = True
            if index == 0:
                self._within = None
            # What is bad in a batch is seen at the first one that is called,
            # which is looked at in each step.
            tells = (
                self.all
                or self.stride.has_turn(index)
                or index in self.followed
            )
            if self._has_begun and not tells:
                self._sampled = True
                return
            if _graph_task() != -1:  # recomputed
                return
            if len(self.rows) >= _ROWS:
                self._sampled = True
                return
            begun = time.perf_counter()
            begins, self._has_begun = not self._has_begun, True
            if begins and not self._are_left_out:
                self.first.add(index)
            look = self._forward
            if not tells and self.stride.is_sparse():
                look = self._glance
            begins = begins and index in self.first
            self._guard("modules", look, index, args, kwargs, output, begins)
            self.seconds += time.perf_counter() - begun

        return hook

    def _glance(
        self, index: int, args: Any, kwargs: Any, output: Any, begins: bool
    ) -> None:
        """Tells what is not finite; the rest in its turn. (Of a device it is
        not known yet.)"""
        found = tensors_in((args, kwargs, output), depth=3)
        for tensor in itertools.islice(found, 3 * MOST):
            if not is_known_finite(tensor):
                self._forward(index, args, kwargs, output, begins)
                return
        self._sampled = True

    def _forward(
        self, index: int, args: Any, kwargs: Any, output: Any, begins: bool
    ) -> None:
        inputs = [*some_tensors(args), *some_tensors(kwargs)]
        outputs = some_tensors(output)
        # It is asked of those that call others.
        whole = self.named[index].leaf or not (
            len(inputs) >= MOST or is_hidden(args) or is_hidden(kwargs)
        )
        with torch.no_grad():
            for slot, tensors in (("input", inputs), ("output", outputs)):
                for place, tensor in enumerate(tensors):
                    one = self._measure(tensor)
                    self.rows.append(
                        Row(index, False, slot, one, place, whole, begins)
                    )
        self._follow_gradients(index, inputs, outputs)

    def _follow_gradients(
        self, index: int, inputs: list[Any], outputs: list[Any]
    ) -> None:
        for tensor in outputs:
            # A parameter that is passed on would keep it.
            if tensor.requires_grad and tensor.grad_fn is not None:
                tensor.register_hook(self._gradient(index, "grad_output"))
        # The node that made the result has gradients of its own inputs, which
        # nobody else added to; the tensors have what it does before that.
        if self.named[index].leaf and outputs and outputs[0].requires_grad:
            node = _node_of(outputs[0])
            if node is not None:
                node.register_hook(self._node(index))
        for tensor in inputs:
            if tensor.requires_grad and tensor.grad_fn is not None:
                tensor.register_hook(self._gradient(index, "grad_input"))

    def _gradient(self, index: int, slot: str) -> Callable[[Any], None]:
        def hook(gradient: Any) -> None:
            self._backward(index, slot, (gradient,))

        return hook

    def _node(self, index: int) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            self._backward(index, "grad_input", grad_inputs)

        return hook

    def _backward(self, index: int, slot: str, gradients: Any) -> None:
        if is_traced():
            return
        begun = time.perf_counter()
        self._guard(
            "gradients", lambda: self._measure_all(index, slot, gradients)
        )
        self.seconds += time.perf_counter() - begun

    def _measure_all(self, index: int, slot: str, gradients: Any) -> None:
        with torch.no_grad():
            for tensor in some_tensors(gradients):
                one = self._measure(tensor)
                self.rows.append(Row(index, True, slot, one))

    def _measure(self, tensor: Any) -> One:
        known = self._recent.get(id(tensor))
        if (
            known is not None
            and known[0] is tensor
            and known[1] == tensor._version
        ):
            return known[2]
        one = One(tensor, self.readout)
        if tensor.device.type != "cpu":
            self.seconds += 2 * tensor.nbytes * _SECONDS_A_BYTE
        if len(self._recent) >= 8:  # autograd holds them, but not for ever
            self._recent.pop(next(iter(self._recent)))
        self._recent[id(tensor)] = (tensor, tensor._version, one)
        return one
