"""What a training hands over, made a plain number or refused. Nothing here
reads a tensor: that could wait for a device."""

from __future__ import annotations

import logging
import numbers
import sys
from collections.abc import Iterable
from typing import Any

from nanwatch import _wire

log = logging.getLogger("nanwatch")

# As the daemon has them: steps in 0 .. 2^53, times before the year 10000.
STEP_MOST = 1 << 53
SECONDS_MOST = 253402300799.0
FLOAT32_MAX = 3.4028234663852886e38


def describe(value: object) -> str:
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


def is_numpy_array(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _is_numpy_bool(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.bool_)


def quote(value: object) -> str:
    """A string in quotes, cut; of anything else only what kind it is."""
    return repr(value[:64]) if isinstance(value, str) else describe(value)


class Checks:
    """Counts what was refused, and says it once for each argument."""

    def __init__(self) -> None:
        self.refused = 0
        self._told: dict[str, object] = {}

    def refuse(self, what: str, sentence: str) -> None:
        """`what` is an argument's name; sentences of one are alike."""
        self.refused += 1
        mine = object()
        # One operation: the training and the sender may both be here.
        if self._told.setdefault(what, mine) is mine:
            log.warning(
                "nanwatch: %s (said once; Stats.bad_input counts the rest)",
                sentence,
            )

    def unknown(self, function: str, names: Iterable[str]) -> None:
        """Arguments that a function does not have."""
        for name in names:
            self.refuse(
                "an argument", f"{function}() has no argument {name[:64]!r}"
            )

    def notice(self, sentence: str) -> None:
        """Something of the training, not of what it handed over."""
        log.warning("nanwatch: %s", sentence)

    def real(self, name: str, value: Any) -> float | None:
        """None: absent, or no number."""
        if value is None or type(value) is float:
            return value
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            try:
                return float(value)
            except OverflowError:
                return _infinity(value)
            except (TypeError, ValueError):
                pass
        self.refuse(
            name,
            f"{name}= takes a number, not a {describe(value)} (of a tensor, "
            "give its value when you have it, not before)",
        )
        return None

    def share(self, name: str, value: Any) -> float | None:
        """Of a whole, 0 to 1; NaN is what 0 of 0 are."""
        number = self.real(name, value)
        if number is None or not (number < 0.0 or number > 1.0):
            return number
        self.refuse(name, f"{name}= takes a share from 0 to 1, not {number}")
        return None

    def real32(self, name: str, value: Any) -> float | None:
        """What no float holds becomes the largest float."""
        number = self.real(name, value)
        if number is None or number - number != 0.0:
            return number
        return min(max(number, -FLOAT32_MAX), FLOAT32_MAX)

    def flag(self, name: str, value: Any) -> bool | None:
        if value is None or type(value) is bool:
            return value
        if type(value) in (int, float) or _is_numpy_bool(value):
            return bool(value)
        self.refuse(
            name, f"{name}= takes True or False, not a {describe(value)}"
        )
        return None

    def integer(
        self, name: str, value: Any, least: int, most: int
    ) -> int | None:
        """None: no integer, or none from `least` to `most`."""
        number: int | None = None
        if type(value) is int:
            number = value
        elif (
            isinstance(value, numbers.Integral) and not isinstance(value, bool)
        ) or (type(value) is float and value.is_integer()):
            number = int(value)
        if number is not None and least <= number <= most:
            return number
        self.refuse(
            name,
            f"{name}= takes an integer"
            + (
                f" of {least} to {most}, not {_short(value)}"
                if number is not None
                else f", not a {describe(value)}"
            ),
        )
        return None

    def count(self, name: str, value: Any) -> int | None:
        if value is None:
            return None
        return self.integer(name, value, 0, _wire.MASK64)

    def step(self, value: Any) -> int | None:
        return self.integer("step", value, 0, STEP_MOST)

    def seconds(self, value: Any, now: float) -> float:
        """Unix seconds; of before 1970 or beyond the year 9999, or no
        number: now."""
        number = self.real("time", value)
        if number is None or not 0.0 <= number <= SECONDS_MOST:
            return now
        return number

    def text(self, name: str, value: Any) -> str:
        """Longer ones are cut where they are encoded."""
        if value is None:
            return ""
        if not isinstance(value, str):
            self.refuse(
                name, f"{name}= takes a string, not a {describe(value)}"
            )
            return ""
        if len(value) > 512:
            self.refuse(
                name, f"{name}= of {len(value)} characters is cut to 512 bytes"
            )
            return value[:512]
        return value


def _infinity(value: Any) -> float:
    return float("-inf") if value < 0 else float("inf")


def _short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 64:
        return f"one of {value.bit_length()} bits"
    return str(value)[:32]
