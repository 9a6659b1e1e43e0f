"""Gradients that are exactly 0, all of a tensor, and were not before: lost to
underflow, frozen, or of a layer that nothing leads to any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nanwatch._checks import Checks
from nanwatch._torch.optimizers import Parameter

# Attempts in a row; one batch may well miss an expert.
_HOLD = 5
_NAMES = 3  # that are said


class Zeros(NamedTuple):
    share: float  # of the elements, in tensors of 0 alone
    fresh: bool  # there is one that never was all 0 before, and was another
    # Ids of parameters whose gradient is 0 beside one of the same layer that is
    # not: what enters that layer is 0, and not what leads back to it.
    behind: frozenset[int] = frozenset()


class ZeroedGradients:
    """Says in the log of nanwatch, once, which parameters' are. What the daemon
    is to be told is `look`'s."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._seen: set[int] = set()  # ids of parameters with another gradient
        self._known: set[int] = set()  # ids of those that once were all 0
        self._since: dict[int, int] = {}  # step by id, of those that are 0
        self._attempts: dict[int, int] = {}  # in a row, the same
        self._said = False

    def look(
        self,
        step: int,
        parameters: Sequence[Sequence[Parameter]],
        norms: Sequence[Sequence[float]],
        elements: Sequence[Sequence[int]],
    ) -> Zeros:
        """At one attempt's gradients, by device each."""
        if not any(0.0 in group for group in norms):
            if len(self._seen) < sum(map(len, parameters)):
                self._seen.update(id(p) for group in parameters for p in group)
            self._since.clear()
            self._attempts.clear()
            return Zeros(0.0, False)
        zeros = 0
        known = len(self._known)
        behind = _behind(parameters, norms)
        lost: list[Parameter] = []
        for group, of, sizes in zip(parameters, norms, elements):
            for parameter, norm, size in zip(group, of, sizes):
                zeros += size if norm == 0.0 else 0
                if self._is_lost(step, parameter, norm):
                    lost.append(parameter)
        if lost and not self._said:
            self._said = True
            self._say(lost, behind)
        fresh = len(self._known) > known
        return Zeros(zeros / max(1, sum(map(sum, elements))), fresh, behind)

    def _is_lost(self, step: int, parameter: Parameter, norm: float) -> bool:
        """At the attempt that makes it certain."""
        key = id(parameter)
        if norm != 0.0:
            self._seen.add(key)
            self._since.pop(key, None)
            self._attempts.pop(key, None)
            return False
        if key not in self._seen:  # never another: meant to be so
            return False
        self._known.add(key)
        self._since.setdefault(key, step)
        self._attempts[key] = self._attempts.get(key, 0) + 1
        return self._attempts[key] == _HOLD

    def _say(self, lost: Sequence[Parameter], behind: frozenset[int]) -> None:
        """From the layer on where it begins, backward: all that leads to the
        loss by way of it alone is 0, too."""
        lost = [
            *(p for p in reversed(lost) if id(p) not in behind),
            *(p for p in reversed(lost) if id(p) in behind),
        ]
        names = ", ".join(p.name for p in lost[:_NAMES])
        more = len(lost) - _NAMES
        self._checks.notice(
            f"the gradient of {names}"
            + (f" and {more} more" if more > 0 else "")
            + f" is exactly 0 since step {self._since[id(lost[0])]}, and was "
            "not before",
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
