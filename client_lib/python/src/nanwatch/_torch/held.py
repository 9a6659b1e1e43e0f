"""Calls of `Watch.step` that no optimizer came before: parts of a step that
accumulates gradients, or updates that a program leaves out."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nanwatch._torch.optimizers import Followed

_LATELY = 8  # steps
_MOST = 64  # parts of a first step
_UNHEARD = 64  # that went backward for nobody, in a row


class Part(NamedTuple):
    """How much was told and went backward when it was over, and when."""

    losses: int
    backward: int
    number: int | None  # that the program gave
    time: float
    rows: int  # of modules, of which more come with the next forward pass
    trains: bool = False  # its loss has a graph that leads somewhere


NO_PART = Part(0, 0, None, 0.0, 0)  # before the first


class Evaluation(NamedTuple):
    """A loss that was told, and of which nothing was computed."""

    loss: Any  # float, or a tensor of a device
    number: int | None
    time: float


class Held:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._most = 0  # parts of a step
        self._lately: collections.deque[int] = collections.deque(maxlen=_LATELY)
        self._versions: dict[int, int] = {}  # of gradients, by tensor
        self._adds_up = True
        self._heard = 0  # parts that went backward
        self._told = 0  # that were none of a step, since one was

    def applied(self) -> None:
        """An optimizer was called: they are parts of its step."""
        parts = len(self.parts) + 1
        if parts > self._most:
            self._most = parts
        self._lately.append(parts)
        self._told = 0
        self.forget()

    def strange(self) -> None:
        """They were told, though nothing is known of an optimizer."""
        self._told = 0
        self.forget()

    def forget(self) -> None:
        if self.parts:
            self.parts = []
            self._versions = {}
            self._adds_up = True
            self._heard = 0

    def take(self) -> list[Part]:
        """They are told, each as an update that was left out."""
        taken = self.parts
        self._told += len(taken)
        self.forget()
        return taken

    def hold(self, part: Part, followed: Sequence[Followed]) -> None:
        begun = self.parts[-1].backward if self.parts else 0
        self._heard += part.backward > begun
        self.parts.append(part)
        versions: dict[int, int] = {}
        for each in followed:
            versions |= each.some_versions()
        if len(self.parts) > 1 and not _add_up(self._versions, versions):
            self._adds_up = False
        self._versions = versions

    def is_alone(self) -> bool:
        """The only part, where each step had one of late."""
        return (
            len(self.parts) == 1
            and bool(self._lately)
            and max(self._lately) == 1
        )

    def adds_up(self) -> bool:
        """Each of several added to the gradients of those before."""
        return self._adds_up and len(self.parts) > 1

    def take_evaluations(self, losses: list[Any]) -> list[Evaluation]:
        """What was told and did not go backward, as other parts did. Theirs of
        `losses`, which all parts have told, are taken away."""
        if self._heard == len(self.parts):
            return []
        taken, parts, kept = [], [], []
        begun = NO_PART
        for part in self.parts:
            its = losses[begun.losses : part.losses]
            if part.backward > begun.backward:
                kept += its
                parts.append(part._replace(losses=len(kept)))
            else:
                taken += [Evaluation(x, part.number, part.time) for x in its]
            begun = part
        losses[: begun.losses] = kept
        self.parts = parts
        return taken

    def are_unheard(self, known: bool) -> bool:
        """Dozens in a row that could have gone backward, and did not. `known`:
        of those before them."""
        if self._heard or not all(part.trains for part in self.parts):
            return False
        return known or len(self.parts) >= _UNHEARD

    def may_be_a_step(self, bad: bool) -> bool:
        """No fewer than those of late had: who gathers gradients elsewhere
        takes them away after each part. `bad`: one is not finite, and is not
        to be one's loss whose update is applied."""
        if not self._lately:
            return False
        return bad or len(self.parts) >= max(self._lately)

    def are_as_many(self) -> bool:
        """As the last step had, so that they are one."""
        return bool(self._lately) and len(self.parts) == self._lately[-1]

    def is_too_much(self) -> bool:
        """No step has so many parts."""
        if self._heard < len(self.parts):
            return False
        most = 2 * self._most or _MOST
        return self._told + len(self.parts) > most and not self.adds_up()


def _add_up(before: Mapping[int, int], now: Mapping[int, int]) -> bool:
    """The gradients of a part to those before it: none is gone or begun anew,
    and some grew. A part need not reach all of them, and others may be new."""
    if any(key not in now or now[key] < old for key, old in before.items()):
        return False
    grew = any(now[key] > old for key, old in before.items())
    return grew or len(now) > len(before)
