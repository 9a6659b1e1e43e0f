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

import math
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from nanwatch._torch.hooks import Hook, keep_from_copies, release
from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import One, measurable
from nanwatch._torch.tracing import is_traced

# What wrappers put before a module's own path.
_WRAPPERS = (
    "_orig_mod.",
    "_fsdp_wrapped_module.",
    "_checkpoint_wrapped_module.",
    "_forward_module.",  # of Lightning's Fabric
)
# Of a step: of all that a run takes at once, gradients and weights need some.
_ROWS = 15_000
_TENSORS = 4  # of one call's inputs, and of its outputs
# Arguments that hold no tensor, and tensors.
_PLAIN = (torch.Tensor, int, float, str, torch.dtype, torch.device)
_VIEWS = 3  # nodes that only change a shape, between a module and its result
# Reading a byte on a GPU takes so long, which its host does not see.
_SECONDS_A_BYTE = 1e-12
# Where one module a step is too much, each waits for so many turns.
_TURNS = 16
_SMOOTH = 1 / 16  # of a step, where not each has one
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


def tensors_in(value: Any, depth: int = 2) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        if measurable(value):
            yield value
    elif depth > 0 and isinstance(value, (list, tuple)):
        for entry in value:
            yield from tensors_in(entry, depth - 1)
    elif depth > 0 and isinstance(value, dict):
        for name, entry in value.items():
            if not _is_mask(name):
                yield from tensors_in(entry, depth - 1)


def _is_mask(name: Any) -> bool:
    """Masks hold -infinity on purpose."""
    return "mask" in str(name)


def _some(value: Any) -> list[Any]:
    found = []
    for tensor in tensors_in(value):
        found.append(tensor)
        if len(found) == _TENSORS:
            break
    return found


def _is_hidden(value: Any, depth: int = 2) -> bool:
    """It may hold tensors that `tensors_in` does not find."""
    if isinstance(value, (list, tuple)):
        return any(depth == 0 or _is_hidden(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(
            depth == 0
            or _is_hidden(v, depth - 1)
            or (_is_mask(name) and any(True for _ in tensors_in(v, depth - 1)))
            for name, v in value.items()
        )
    if isinstance(value, torch.Tensor):
        return _holds_numbers(value) and not measurable(value)
    return not (value is None or isinstance(value, _PLAIN))


def _holds_numbers(tensor: Any) -> bool:
    """That may be NaN."""
    kind = tensor.dtype
    return bool(kind.is_floating_point or kind.is_complex) and (
        tensor.layout is not torch.strided or tensor.numel() > 0
    )


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
        self._hooked: list[tuple[weakref.ref[Any], Any]] = []  # with a handle
        self._within: int | None = None  # the thread of a forward pass
        self.all = False  # every module tells, whatever it costs
        self._stride = 1  # else each so many-th one
        self._spent = 0.0  # share of a step's time, of late
        self._sampled = False  # a module did not tell, since `take`
        self._turn = 0
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
        """Those that the model has by now."""
        if self._hooked:
            return
        begin = self._model.register_forward_pre_hook(Hook(self._begin))
        self._hooked.append((weakref.ref(self._model), begin))
        for place, module in self._list():
            keep_from_copies(module)
            hook = Hook(self._hook(place))
            handle = module.register_forward_hook(hook, with_kwargs=True)
            self._hooked.append((weakref.ref(module), handle))

    def disable(self) -> None:
        for reference, handle in self._hooked:
            handle.remove()
            module = reference()
            if module is not None:
                release(module)
        self._hooked = []
        self._within = None

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
        if count < len(self.rows) and self.readout.empty():
            first, self.rows = self.rows[:count], self.rows[count:]
            return first, Readout(), self._sampled
        taken = self.rows, self.readout, self._sampled
        self.rows, self.readout, self._sampled = [], Readout(), False
        self._recent = {}
        return taken

    def forget_seconds(self) -> None:
        """Those of a step in which all told, whatever it cost."""
        self.seconds = 0.0

    def keep_within(self, share: float, step_seconds: float) -> None:
        """Fewer modules at a step where their share of its time is more than
        `share`, and then none at most steps but the one that is called first;
        all again where there is room."""
        if step_seconds <= 0:
            return
        spent = _UNSEEN * self.seconds / step_seconds
        self.seconds = 0.0
        self._turn += 1
        every = len(self.named)
        if self._stride < every:
            self._spent = spent
            if spent > share:
                wanted = math.ceil(self._stride * spent / share)
                self._stride = min(every, max(self._stride + 1, wanted))
            elif spent < share / 2 and self._stride > 1:
                self._stride -= 1
            return
        self._spent += _SMOOTH * (spent - self._spent)
        by = max(1, int(_SMOOTH * self._stride))
        if self._spent > share:
            self._stride = min(_TURNS * every, self._stride + by)
        elif self._spent < share / 2:
            self._stride = max(1, self._stride - by)

    @property
    def turns(self) -> int:
        """For how many turns of all of them one waits, 1 to 16: how much less
        often than usual it is that anything is looked at."""
        return max(1, self._stride // len(self.named))

    def _hook(self, index: int) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if is_traced():
                return
            # What is called without gradients is an evaluation. Within a
            # forward pass, as with checkpoints that call again what they hold,
            # it may be where something begins.
            if not (module.training and torch.is_grad_enabled()) and (
                self._within != threading.get_ident()
            ):
                return
            if index == 0:
                self._within = None
            # The first one that is called tells at each step: what is bad in
            # a batch is seen there.
            if (
                self.rows
                and not self.all
                and (index + self._turn) % self._stride
                and index not in self.followed
            ):
                self._sampled = True
                return
            if _graph_task() != -1:  # recomputed
                return
            if len(self.rows) >= _ROWS:
                self._sampled = True
                return
            begun = time.perf_counter()
            self._guard(
                "modules", lambda: self._forward(index, args, kwargs, output)
            )
            self.seconds += time.perf_counter() - begun

        return hook

    def _forward(self, index: int, args: Any, kwargs: Any, output: Any) -> None:
        inputs = [*_some(args), *_some(kwargs)]
        outputs = _some(output)
        # It is asked of those that call others.
        whole = self.named[index].leaf or not (
            len(inputs) >= _TENSORS or _is_hidden(args) or _is_hidden(kwargs)
        )
        with torch.no_grad():
            for place, tensor in enumerate(inputs):
                one = self._measure(tensor)
                self.rows.append(Row(index, False, "input", one, place, whole))
            for place, tensor in enumerate(outputs):
                one = self._measure(tensor)
                self.rows.append(Row(index, False, "output", one, place, whole))
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
            for tensor in _some(gradients):
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
