"""Gradients that are exactly 0, all of a tensor, and were not before: lost to
underflow, frozen, or of a layer that nothing leads to any more."""

from __future__ import annotations

from collections.abc import Sequence

from nanwatch._checks import Checks
from nanwatch._torch.optimizers import Parameter

# Attempts in a row; one batch may well miss an expert.
_HOLD = 5
_NAMES = 3  # that are said


class ZeroedGradients:
    """Says in the log of nanwatch, once, which parameters' are; the daemon is
    told which share of the elements."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._seen: set[int] = set()  # ids of parameters with another gradient
        self._since: dict[int, int] = {}  # step by id, of those that are 0
        self._attempts: dict[int, int] = {}  # in a row, the same
        self._said = False

    def share(
        self,
        step: int,
        parameters: Sequence[Sequence[Parameter]],
        norms: Sequence[Sequence[float]],
        elements: Sequence[Sequence[int]],
    ) -> float:
        """Of the elements, in tensors of 0 alone. By device each."""
        if not any(0.0 in group for group in norms):
            if len(self._seen) < sum(map(len, parameters)):
                self._seen.update(id(p) for group in parameters for p in group)
            self._since.clear()
            self._attempts.clear()
            return 0.0
        zeros = 0
        lost: list[Parameter] = []
        for group, of, sizes in zip(parameters, norms, elements):
            for parameter, norm, size in zip(group, of, sizes):
                zeros += size if norm == 0.0 else 0
                if self._is_lost(step, parameter, norm):
                    lost.append(parameter)
        if lost and not self._said:
            self._said = True
            self._say(lost)
        return zeros / max(1, sum(map(sum, elements)))

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
        self._since.setdefault(key, step)
        self._attempts[key] = self._attempts.get(key, 0) + 1
        return self._attempts[key] == _HOLD

    def _say(self, lost: Sequence[Parameter]) -> None:
        names = ", ".join(p.name for p in lost[:_NAMES])
        more = len(lost) - _NAMES
        self._checks.notice(
            f"the gradient of {names}"
            + (f" and {more} more" if more > 0 else "")
            + f" is exactly 0 since step {self._since[id(lost[0])]}, and was "
            "not before",
        )
