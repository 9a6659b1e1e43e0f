"""Ranks that stop at the same step. Each of them hears at another moment that
it is to stop, and who leaves alone leaves the others in a collective."""

from __future__ import annotations

import logging
from typing import Any

import torch

log = logging.getLogger("nanwatch")

_EVERY = 8  # steps from one exchange to the next, when it is over on all ranks


class Agreement:
    """Made by all ranks of the default process group, and asked by all of them
    at each step. It talks over gloo, so that nothing waits for a device; of
    what was begun eight steps before."""

    def __init__(self) -> None:
        self._group: Any = None
        self._steps = 0
        self._asked = torch.zeros(1)
        self._work: Any = None
        self._stops = False
        # Where ranks cannot agree none of them stops.
        self._may_stop = True
        distributed = torch.distributed
        if not (distributed.is_available() and distributed.is_initialized()):
            return
        if distributed.get_world_size() < 2:
            return
        try:
            self._group = distributed.new_group(backend="gloo")
        except Exception as error:
            self._may_stop = False
            log.warning(
                "nanwatch: stop=True has no effect: ranks cannot agree on a "
                "step without gloo: %r",
                error,
            )

    def stops(self, asked: bool) -> bool:
        """`asked`: this rank is. True on all ranks at the same step."""
        if self._group is None:
            return asked and self._may_stop
        self._steps += 1
        if self._stops or self._steps % _EVERY:
            return self._stops
        if self._work is not None:
            self._work.wait()
            self._stops = bool(self._asked.item())
        if not self._stops:
            self._asked = torch.tensor([float(asked)])
            self._work = torch.distributed.all_reduce(
                self._asked,
                torch.distributed.ReduceOp.MAX,
                self._group,
                async_op=True,
            )
        return self._stops
