"""Gradients that are exactly 0, all of a tensor, or that there are none of, and
were not before: lost to underflow, frozen, or of a layer that nothing leads to
any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nanwatch._checks import Checks
from nanwatch._torch.parameters import Parameter

# Updates in a row; one batch may well miss an expert.
_HOLD = 5
# Updates at each of which a parameter must have had a gradient, if it is to
# mean anything that it has none: experts, heads and losses that take turns do
# not always have one.
_STEADY = 10
# One update of so many, of those before, may have been 0 if it "was not
# before"; a gradient in fp16 without a scale comes and goes.
_SELDOM = 16
_NAMES = 3  # that are said


class Zeros(NamedTuple):
    share: float  # of the elements, in tensors of 0 alone
    # To be told by name: the first ones, or there is one that never was all 0
    # before, and was another.
    fresh: bool
    # Ids of parameters whose gradient is 0 beside one of the same layer that is
    # not: what enters that layer is 0, and not what leads back to it.
    behind: frozenset[int] = frozenset()
    # Those that have none any more, which is as if it was 0.
    absent: Sequence[Parameter] = ()


class ZeroedGradients:
    """Of one optimizer. Says in the log of nanwatch, once, which parameters'
    are. What the daemon is to be told is `look`'s."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._looks = 0
        self._seen: set[int] = set()  # ids of parameters with another gradient
        self._known: set[int] = set()  # ids of those that once were all 0
        self._since: dict[int, int] = {}  # step by id, of those that are 0
        self._updates: dict[int, int] = {}  # in a row, the same
        self._before: dict[int, int] = {}  # updates, not in that row
        # Ids of those that did not always have a gradient.
        self._unsteady: set[int] = set()
        self._absent: set[int] = set()  # now, of those that always had one
        self._without: list[int] = []  # now, of all
        self._said = False

    def look(
        self,
        step: int,
        parameters: Sequence[Sequence[Parameter]],
        norms: Sequence[Sequence[float]],
        elements: Sequence[Sequence[int]],
        absent: Sequence[Parameter] = (),
    ) -> Zeros:
        """At one update's gradients, by device each. `absent`: of trained
        parameters that have none."""
        new = self._see(parameters, norms, absent)
        gone = self._gone(absent, new) if absent or self._absent else []
        if not gone and not any(0.0 in group for group in norms):
            for key in list(self._updates):
                self._is_another(key)
            return Zeros(0.0, self._looks == 1)
        zeros = 0
        known = len(self._known)
        behind = _behind(parameters, norms)
        lost: list[Parameter] = []
        for group, of, sizes in zip(parameters, norms, elements):
            for parameter, norm, size in zip(group, of, sizes):
                zeros += size if norm == 0.0 else 0
                if norm != 0.0:
                    self._is_another(id(parameter))
                elif id(parameter) in self._seen and self._is_lost(
                    step, parameter
                ):
                    lost.append(parameter)
        all_of_them = sum(map(sum, elements))
        held = []
        for parameter in gone:
            if self._is_lost(step, parameter):
                lost.append(parameter)
            if self._updates[id(parameter)] >= _HOLD:
                held.append(parameter)
                zeros += parameter.elements()
                all_of_them += parameter.elements()
        if lost and not self._said:
            self._said = True
            self._say(lost, behind)
        self._known.update(map(id, held))
        fresh = len(self._known) > known or self._looks == 1
        return Zeros(zeros / max(1, all_of_them), fresh, behind, held)

    def _see(
        self,
        parameters: Sequence[Sequence[Parameter]],
        norms: Sequence[Sequence[float]],
        absent: Sequence[Parameter],
    ) -> bool:
        """True: a gradient is another than 0 for the first time, and not with
        the first ones."""
        self._looks += 1
        ids = [id(p) for p in absent]
        same = ids == self._without
        self._without = ids
        if same and len(self._seen) >= sum(map(len, parameters)):
            return False
        new = {
            id(parameter)
            for group, of in zip(parameters, norms)
            for parameter, norm in zip(group, of)
            if norm != 0.0 and id(parameter) not in self._seen
        }
        self._seen |= new
        if self._looks == 1 or not new:
            return False
        self._unsteady |= new
        return True

    def _gone(self, absent: Sequence[Parameter], new: bool) -> list[Parameter]:
        """Those of `absent` that always had a gradient. `new`: others have one
        for the first time, in their place."""
        now = {id(p) for p in absent}
        self._unsteady |= self._absent - now  # they have one again
        began = (now & self._seen) - self._absent
        if new or self._looks <= _STEADY:
            self._unsteady |= began
        gone = [
            p
            for p in absent
            if id(p) in self._seen and id(p) not in self._unsteady
        ]
        self._absent = {id(p) for p in gone}
        return gone

    def _is_another(self, key: int) -> None:
        """Than 0."""
        updates = self._updates.pop(key, 0)
        if updates:
            del self._since[key]
            self._before[key] = self._before.get(key, 0) + updates

    def _is_lost(self, step: int, parameter: Parameter) -> bool:
        """At the update that makes it certain."""
        key = id(parameter)
        if key not in self._absent:
            self._known.add(key)
        self._since.setdefault(key, step)
        self._updates[key] = self._updates.get(key, 0) + 1
        return (
            self._updates[key] == _HOLD
            and self._before.get(key, 0) * _SELDOM <= self._looks
        )

    def _say(self, lost: list[Parameter], behind: frozenset[int]) -> None:
        """From the layer on where it begins, backward: all that leads to the
        loss by way of it alone is 0, too."""
        lost.reverse()  # those that the model does not have
        lost.sort(key=lambda p: (id(p) in behind, -p.place))
        names = ", ".join(p.name for p in lost[:_NAMES])
        more = len(lost) - _NAMES
        first = id(lost[0])
        what, why = (
            ("None", ": detached by mistake, or dropped on purpose")
            if first in self._absent
            else ("exactly 0", "")
        )
        self._checks.notice(
            f"the gradient of {names}"
            + (f" and {more} more" if more > 0 else "")
            + f" is {what} since step {self._since[first]}, and was not before"
            + why,
        )


def _behind(
    parameters: Sequence[Sequence[Parameter]], norms: Sequence[Sequence[float]]
) -> frozenset[int]:
    """See `Zeros.behind`."""
    zero: dict[str, list[int]] = {}  # ids by layer
    alive: set[str] = set()
    for group, of in zip(parameters, norms):
        for parameter, norm in zip(group, of):
            layer = parameter.name.rpartition(".")[0]
            if norm == 0.0:
                zero.setdefault(layer, []).append(id(parameter))
            else:
                alive.add(layer)
    return frozenset(
        key for layer in alive & zero.keys() for key in zero[layer]
    )
