"""What all optimizers of a model did in a step, as if they were one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nanwatch._torch.optimizers import Attempt, total

_NORMS = ("grad_norm", "param_norm", "update_norm")


def as_one(
    attempts: Sequence[Attempt], told: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """`told`: the numbers of each attempt. What they have not all is left out,
    and what says nothing of all."""
    overflows = [numbers["overflow"] for numbers in told]
    one: dict[str, Any] = {
        "scale": _first([numbers["scale"] for numbers in told]),
        "overflow": any(overflows) or _first(overflows),
        "skipped": all(numbers["skipped"] for numbers in told),
        "grad_norm": None,
        "lr": _first([numbers["lr"] for numbers in told]),
    }
    for name in _NORMS:
        norms = [numbers.get(name) for numbers in told]
        if None not in norms:
            one[name] = total([norm for norm in norms if norm is not None])
    shares = [numbers.get("zero_fraction") for numbers in told]
    if None not in shares:
        elements = [
            sum(sum(sizes.elements) for sizes in attempt.sizes)
            for attempt in attempts
        ]
        zeros = sum(n * (share or 0.0) for n, share in zip(elements, shares))
        one["zero_fraction"] = zeros / max(1, sum(elements))
    return one


def _first(values: Sequence[Any]) -> Any:
    """That is known."""
    return next((value for value in values if value is not None), None)
