"""Whether the optimizers of a model follow losses against each other, as the
two of a GAN do, or an actor's and its critic's: what lowers one raises the
other. Optimizers that share a loss do not, nor do those of parts that have
nothing to do with one another. And which of them are called for a backward pass
of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nanwatch._torch.optimizers import Followed


class Rivals:
    def __init__(self, followed: Sequence[Followed]) -> None:
        self._followed = followed
        self._touched: set[int] = set()  # since an optimizer was called
        self._updated: set[int] = set()  # ever
        # By optimizer: its loss goes through what another one updates.
        self._crosses: dict[int, bool] = {}
        self.seen = False
        self._heard = False  # a pass, since any of them was called
        self._last: Followed | None = None  # that was called
        # Ids of those that are called for a pass that others are called for.
        self._sharing: set[int] = set()

    def backward(self, touched: Iterable[int]) -> None:
        """A backward pass computed gradients of these, places in `followed`."""
        self._touched.update(touched)
        self._heard = True

    def updated(self, followed: Followed) -> None:
        """It was called, or skipped."""
        if len(self._followed) < 2:
            return
        if not self._heard and self._last not in (None, followed):
            self._sharing |= {id(self._last), id(followed)}
        self._heard, self._last = False, followed
        if not self.seen:
            self._see(followed)

    def are_none(self) -> bool:
        """There is one optimizer alone."""
        return len(self._followed) < 2

    def has_own_pass(self, followed: Followed) -> bool:
        """It is about to be called: for a pass that no other one is called
        for."""
        return self._heard and id(followed) not in self._sharing

    def _see(self, followed: Followed) -> None:
        place = next(
            i for i, each in enumerate(self._followed) if each is followed
        )
        touched, self._touched = self._touched, set()
        if place in touched:
            others = touched - {place}
            self._crosses[place] = bool(others) or self._others_are_frozen(
                place
            )
            # Where all losses go through everything it may be one in parts.
            self.seen = len(set(self._crosses.values())) == 2
        self._updated.add(place)

    def _others_are_frozen(self, place: int) -> bool:
        """For this update: programs spare themselves gradients that way."""
        return any(
            not any(t.requires_grad for t in self._followed[i].tensors())
            for i in self._updated - {place}
        )
