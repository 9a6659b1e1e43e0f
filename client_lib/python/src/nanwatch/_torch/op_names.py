"""What the ops of a run are called, and in which order they are executed."""

from __future__ import annotations

from collections.abc import Sequence

from nanwatch._run import Run
from nanwatch._torch.modules import Modules, Named, Row
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.parameters import Parameter

# Places in the execution order: the backward pass comes after the forward one.
_BACKWARD = 1 << 20


class OpNames:
    """The indices that a run gives to ops: those of one that was named before
    stay what they were."""

    def __init__(self, run: Run, modules: Modules) -> None:
        self._run = run
        self._modules = modules
        self.half = False  # autocast to fp16, as the first forward pass said
        self._gradients: dict[int, int] = {}
        self._weights: dict[int, int] = {}
        self._on_all_ranks: dict[int, int] = {}
        self._of_modules: dict[tuple[int, bool], int] = {}
        self._losses: dict[str, int] = {}  # by name
        self._between: dict[int, int] = {}
        self._order_of: dict[int, int] = {}  # of modules' forward ops
        self._orders = [0, _BACKWARD]  # of modules, forward and backward

    def is_half(self, parameter: Parameter) -> bool:
        return (parameter.half and self.half) or parameter.dtype == "fp16"

    def gradient(self, parameter: Parameter) -> int:
        op = self._gradients.get(id(parameter))
        if op is None:
            # Of earlier layers later: behind all modules' gradients. (By the
            # model's use of them: groups of an optimizer, weights and then
            # biases, have another order.)
            place = parameter.place
            order = 2 * _BACKWARD - place if place >= 0 else None
            op = self._run.register_op(
                parameter.name,
                type="Parameter",
                dtype="fp16" if self.is_half(parameter) else parameter.dtype,
                shape=parameter.shape,
                order=order,
            )
            self._gradients[id(parameter)] = op
        return op

    def weight(self, parameter: Parameter) -> int:
        op = self._weights.get(id(parameter))
        if op is None:
            op = self._run.register_op(
                parameter.name,
                type="Parameter",
                dtype=parameter.dtype,
                shape=parameter.shape,
            )
            self._weights[id(parameter)] = op
        return op

    def name_weights(self, followed: Sequence[Followed]) -> None:
        """Before anything else is, so that their ops have the same indices on
        all ranks, whatever one of them tells besides."""
        for each in followed:
            for parameter in each.weights():
                op = self.weight(parameter)
                self._on_all_ranks[id(parameter)] = op

    def place_on_all_ranks(self, parameter: Parameter) -> int | None:
        """The index plus 1 of a weight's op, which all ranks gave it."""
        op = self._on_all_ranks.get(id(parameter), -1)
        return op + 1 if op >= 0 and parameter.place >= 0 else None

    def between(self, module: int, row: Row) -> int:
        """What the one that calls `module` computes before it does; `row` is of
        the first that is called in there."""
        op = self._between.get(module)
        if op is None:
            path, kind = _caller(self._modules.named, module)
            op = self._run.register_op(
                path,
                type=kind,
                dtype=row.one.dtype,
                shape=row.one.shape,
                order=self._order_of.get(row.module, 1) - 1,
            )
            self._between[module] = op
        return op

    def name_backward(self, rows: Sequence[Row]) -> None:
        """In the order in which they end: a container's gradient arrives
        before its children's, and leaves after them."""
        last: dict[int, Row] = {}
        for row in rows:
            if row.backward and (row.module, True) not in self._of_modules:
                last.pop(row.module, None)
                last[row.module] = row
        for row in last.values():
            self.module(row)

    def module(self, row: Row) -> int:
        key = (row.module, row.backward)
        op = self._of_modules.get(key)
        if op is None:
            path, kind, _ = self._modules.named[row.module]
            op = self._run.register_op(
                path,
                type=kind + "Backward" if row.backward else kind,
                dtype=row.one.dtype,
                shape=row.one.shape,
                order=self._orders[row.backward],
            )
            if not row.backward:
                self._order_of[row.module] = self._orders[False]
            self._orders[row.backward] += 2  # room for what is between
            self._of_modules[key] = op
        return op

    def loss(self, bad_part: int | None, parts: int) -> int:
        """What a program computes of the model's output: `bad_part` of so many
        `parts`."""
        name = "loss"
        if bad_part is not None and parts > 1:
            name += f", part {bad_part + 1} of {parts}"
        op = self._losses.get(name)
        if op is None:
            op = self._run.register_op(
                name, type="Loss", dtype="fp32", order=_BACKWARD - 1
            )
            self._losses[name] = op
        return op


def _caller(named: Sequence[Named], module: int) -> tuple[str, str]:
    """Path and type of the module whose forward pass calls this one."""
    by_path = {each.path: each.kind for each in named}
    path = named[module].path
    while "." in path:
        path = path.rpartition(".")[0]
        if by_path.get(path) not in (None, "ModuleList", "ModuleDict"):
            return path, by_path[path]
    return named[0].path, named[0].kind
