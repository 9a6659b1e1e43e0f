"""How large the updates of one optimizer are: its weights after one against
copies of them from before."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from nanwatch._torch.backwards import tensors_of
from nanwatch._torch.statistics import Shapes, local, norms_of

# Bytes of weights that are copied where it has to be cheap: a larger model may
# have no room for them.
_MOST_COPIED = 64 << 20


class UpdateSize:
    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._before: list[Any] | None = None
        self._rates: list[float] = []  # see _keeps_rates

    def copy_weights(self, *, cheap: bool) -> None:
        """Before an update. Its size is judged as a share of the learning rate:
        where the groups' rates come to differ otherwise it is none of that, and
        none is measured. `cheap`: nor where it takes much memory, or where most
        weights are left as they are."""
        self.forget()
        if not self._keeps_rates():
            return
        weights = real_weights(self._optimizer)
        if cheap and (
            sum(local(p).nbytes for p in weights) > _MOST_COPIED
            or any(p.grad is not None and p.grad.is_sparse for p in weights)
        ):
            return
        self._before = [local(p).clone() for p in weights]

    def are_due(self) -> bool:
        """The weights were copied before this update."""
        return self._before is not None

    def take_norms(self) -> list[Any] | None:
        """After it: of each weight's update, on its device; None where the
        weights were not copied. The copies are let go."""
        before, self._before = self._before, None
        if before is None:
            return None
        weights = [local(p) for p in real_weights(self._optimizer)]
        torch._foreach_sub_(before, weights)
        return norms_of(before, Shapes(before).half)

    def forget(self) -> None:
        """The update did not come, or raised."""
        self._before = None

    def _keeps_rates(self) -> bool:
        """Each group's learning rate is the same share of the largest as it was
        when this was first asked of so many groups. Of rates that are tensors
        it is not known."""
        rates = [group.get("lr") for group in self._optimizer.param_groups]
        if len(rates) == 1:
            return True
        if not all(isinstance(rate, (int, float)) for rate in rates):
            return False
        largest = max(rates, default=0.0)
        if largest <= 0.0:
            return False
        shares = [rate / largest for rate in rates]
        if len(shares) != len(self._rates):
            self._rates = shares
        return all(map(_is_close, shares, self._rates))


def real_weights(optimizer: Any) -> list[Any]:
    """Those of its tensors that have a norm in real numbers."""
    return [
        p
        for p in tensors_of(optimizer)
        if p.is_floating_point() and not (p.is_meta or is_lazy(p))
    ]


def _is_close(share: float, other: float) -> bool:
    return math.isclose(share, other, rel_tol=1e-3)
