"""What is wrong with how an update is made: numbers of the contract's
UpdateFault."""

from __future__ import annotations

(
    NONE,
    NO_BACKWARD,
    ZEROED,
    NO_RATE,
    OTHER_WEIGHTS,
    NO_STEP,
    ALL_ZERO,
    NOT_CLEARED,
    NOT_UNSCALED,
    NOT_HELD,
    HELD_BACK,
    NEVER_CALLED,
    CLIPPED_SCALED,
    NOT_REACHED,
    CLIMBING,
    NOT_SCALED,
    CUT_OFF,
) = range(17)


def of_numbers(grad_norm: float | None, lr: object) -> int:
    """Where nothing but these is seen of it."""
    if isinstance(lr, (int, float)) and lr == 0:
        return NO_RATE
    return ALL_ZERO if grad_norm == 0.0 else NONE
