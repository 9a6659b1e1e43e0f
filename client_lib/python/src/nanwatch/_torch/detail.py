"""How closely a training is looked at: which steps' weights, and from when to
when all modules."""

from __future__ import annotations

from nanwatch._torch.modules import Modules
from nanwatch._torch.step import Seen

# Steps from one look at all weights to the next. (As `Current.count` has them,
# here and below: a program's own numbers may go by epochs, or by parts.)
WEIGHTS_EVERY = 32
# Steps of detail that a client gives itself when a loss or a gradient is not
# finite, and the least number of steps between two such.
_DETAIL_STEPS = 16
_DETAIL_APART = 256
# The same where something was not finite while some modules were not looked at.
_LOOK_STEPS = 4
_LOOK_APART = 64
# Overflows in a row that are not a scaler's usual work.
_STREAK = 3


class Detail:
    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._until = -1
        self._last = -_DETAIL_APART
        self._stayed = -_DETAIL_APART  # for overflows that stay
        self._look_last = -_LOOK_APART
        self._request = 0
        self._streak = 0  # overflows in a row
        self._weights_at = 0  # the next step whose weights are looked at
        self._weights_of = -1  # the newest whose turn it was
        # The newest with bad gradients, and where those in a row begin.
        self._bad_at = self._bad_since = -2

    def covers(self, number: int) -> bool:
        return number <= self._until

    def request_of(self, number: int) -> int:
        """The id of the daemon's that asks for this step's; 0: it did not."""
        return self._request if self.covers(number) else 0

    def takes_weights(self, number: int, known_bad: bool) -> bool:
        """Of one optimizer at the step `number`. `known_bad`: a gradient is,
        before the first update that it could spoil: was it they?"""
        if number >= self._weights_at:
            self._weights_of = number
            self._weights_at = number - number % WEIGHTS_EVERY + WEIGHTS_EVERY
        if known_bad:
            if number not in (self._bad_at, self._bad_at + 1):
                self._bad_since = number
            self._bad_at = number
        return number == self._weights_of or (
            known_bad and number == self._bad_since
        )

    def after(self, seen: Seen, number: int) -> None:
        """What a step that was told means for the next ones, from `number`
        on."""
        self._streak = self._streak + 1 if seen.overflow else 0
        if (
            seen.overflow and (seen.applied or self._streak == 1)
        ) or seen.loss_bad:
            self._weights_at = number  # are they lost, or were they?
        if seen.lost:  # modules would tell of nothing else
            if self._request == 0:
                self._until = -1
            return
        unusual = (
            seen.loss_bad
            or (seen.overflow and seen.applied)
            or self._streak == _STREAK
        )
        # One bad batch not long ago does not hide what stays.
        stays = (
            self._streak == _STREAK and number - self._stayed >= _DETAIL_APART
        )
        if unusual and (stays or number - self._last >= _DETAIL_APART):
            self._last = number
            if stays:
                self._stayed = number
            self.ask(number, _DETAIL_STEPS)
        elif seen.unexplained and number - self._look_last >= _LOOK_APART:
            self._look_last = number
            self.ask(number, _LOOK_STEPS)

    def ask(self, number: int, steps: int, request: int = 0) -> None:
        """For the next `steps`, from `number` on."""
        until = number + max(1, steps)
        if request or not self.covers(number):
            self._request = request
        self._until = max(until, self._until)
        self._weights_at = min(self._weights_at, number)
        self._modules.all = True
        self._modules.enable()

    def end(self, keep: bool) -> None:
        """It is over. `keep`: some modules are looked at all the same."""
        self._request = 0
        self._modules.all = False
        if not keep:
            self._modules.disable()
