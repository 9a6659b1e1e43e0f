"""What all optimizers of a model did in a step, as if they were one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nanwatch._torch.optimizers import total
from nanwatch._torch.update import Update

_NORMS = ("grad_norm", "param_norm", "update_norm")


def as_one(
    updates: Sequence[Update], told: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """`told`: the numbers of each update. Those that overflowed say whether an
    overflow was applied; what some of those that have gradients do not have is
    left out, and what says nothing of all."""
    bad = [numbers for numbers in told if numbers["overflow"]]
    one: dict[str, Any] = {
        "scale": _first([numbers["scale"] for numbers in told]),
        "overflow": bool(bad)
        or _first([numbers["overflow"] for numbers in told]),
        "skipped": all(numbers["skipped"] for numbers in bad or told),
        "grad_norm": None,
        "lr": _first([numbers["lr"] for numbers in told]),
    }
    known = [
        (numbers, sum(sum(sizes.elements) for sizes in update.sizes))
        for update, numbers in zip(updates, told)
        if numbers["grad_norm"] is not None
    ]
    for name in _NORMS:
        norms = [numbers.get(name) for numbers, _ in known]
        if known and None not in norms:
            one[name] = total([norm for norm in norms if norm is not None])
    shares = [(numbers.get("zero_fraction"), n) for numbers, n in known]
    if known and all(share is not None for share, _ in shares):
        zeros = sum(n * (share or 0.0) for share, n in shares)
        one["zero_fraction"] = zeros / max(1, sum(n for _, n in shares))
    for name in ("update_fault", "fault_of"):
        value = _first([numbers.get(name) for numbers in told])
        if value:
            one[name] = value
    return one


def _first(values: Sequence[Any]) -> Any:
    """That is known."""
    return next((value for value in values if value is not None), None)
