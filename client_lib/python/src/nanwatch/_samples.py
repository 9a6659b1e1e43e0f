"""Which data a step trained on: the numbers of its samples, as a range."""

from __future__ import annotations

from typing import Any

from nanwatch._checks import Checks, describe

_MOST = (1 << 53) - 1


def of(checks: Checks, batch: Any) -> tuple[int, int] | None:
    """The lowest and the highest of `batch`: a number, a range, a sequence, an
    array or a tensor of numbers that lies on the host. None: none is given, or
    it is none of these."""
    if batch is None:
        return None
    ends = _ends(batch)
    if ends is not None and all(
        type(end) is int and -_MOST <= end <= _MOST for end in ends
    ):
        return ends
    checks.refuse(
        "batch",
        "batch= takes numbers of samples that are on the host, not a "
        f"{describe(batch)} of others",
    )
    return None


def settle(checks: Checks, more: dict[str, Any]) -> None:
    """`batch` among the arguments of a step, before the program goes on with
    it."""
    if more.get("batch") is not None:
        more["batch"] = of(checks, more["batch"])


def _ends(batch: Any) -> tuple[Any, Any] | None:
    """The lowest and the highest; a tensor of a device would have to be waited
    for."""
    device = getattr(batch, "device", None)
    if getattr(device, "type", "cpu") != "cpu":
        return None
    try:
        if isinstance(batch, range):
            numbers: Any = batch[:: max(1, len(batch) - 1)]
        elif hasattr(batch, "tolist"):
            numbers = batch.tolist()
        else:
            numbers = batch if type(batch) is int else list(batch)
        if type(numbers) is int:
            return numbers, numbers
        return min(numbers), max(numbers)
    except (TypeError, ValueError):
        return None
