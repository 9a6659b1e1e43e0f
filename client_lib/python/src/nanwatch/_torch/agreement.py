"""Ranks that stop at the same step. Each of them hears at another moment that
it is to stop, and who leaves alone leaves the others in a collective."""

from __future__ import annotations

import datetime
import logging
import time
from typing import Any

import torch

log = logging.getLogger("nanwatch")

_EVERY = 8  # steps from one exchange to the next, when it is over on all ranks
# Until all ranks have made theirs. What comes before it in a training, as the
# wrapping of a model, is a collective already, so they come together.
_PATIENCE = datetime.timedelta(seconds=20)
# For an exchange that was begun eight steps before. Some rank is in another
# training by then, or has no more data.
_LATE_SECONDS = 30.0
_LAST_SECONDS = 2.0  # for one that is under way as the training ends
# That long a process does not end whose exchange nobody answers any more, and
# that long one rank may leave the others alone, for an evaluation.
_ANSWER = datetime.timedelta(minutes=10)

_made = 0  # by this process, as by all that make one at the same places
# The default process group, and all of its ranks over gloo: made once, since
# each has threads and sockets of its own.
_over_gloo: tuple[Any, Any] = (None, None)


class Agreement:
    """Made by the ranks of the default process group, and asked by them at each
    step. It talks over gloo, so that nothing waits for a device; of what was
    begun eight steps before. Where some ranks do not make one, or one fails,
    none stops."""

    def __init__(self) -> None:
        global _made
        _made += 1
        self._group: Any = None
        self._store: Any = None
        self._steps = 0
        self._asked: Any = None
        self._work: Any = None
        self._stops = False
        distributed = torch.distributed
        self._is_alone = not (
            distributed.is_available()
            and distributed.is_initialized()
            and distributed.get_world_size() > 1
        )
        if self._is_alone:
            return
        try:
            self._store = _store_of(f"nanwatch/agreement/{_made}")
            if _all_come(self._store):
                self._group = _gloo()
            else:
                log.warning(
                    "nanwatch: stop=True has no effect: not all ranks have it, "
                    "and one that left alone would leave the others in a "
                    "collective"
                )
        except Exception as error:
            self._give_up(error)

    def stops(self, asked: bool) -> bool:
        """`asked`: this rank is. True on all ranks at the same step."""
        if self._is_alone:
            return asked
        self._steps += 1
        if self._group is not None and self._steps % _EVERY == 0:
            try:
                self._exchange(asked)
            except Exception as error:
                self._give_up(error)
        return self._stops

    def close(self) -> None:
        """The training is over, on all ranks at the same step: none leaves
        while another one may still talk to it."""
        work, self._work, self._group = self._work, None, None
        if work is not None:
            _is_over(work, _LAST_SECONDS)

    def _exchange(self, asked: bool) -> None:
        if self._work is not None:
            if not (_is_over(self._work, _LATE_SECONDS) and _came(self._work)):
                # Another rank may have heard of it just before, and stops.
                self._stops = self._ends_with("none")
                if not self._stops:
                    raise TimeoutError("not all of them came to this step")
                self._group = None
                return
            if self._asked.item():
                self._stops = self._ends_with("stop")
                self._group = None
                return
        self._asked = torch.tensor(
            [float(asked)], dtype=torch.float32, device="cpu"
        )
        self._work = torch.distributed.all_reduce(
            self._asked,
            torch.distributed.ReduceOp.MAX,
            self._group,
            async_op=True,
        )

    def _ends_with(self, end: str) -> bool:
        """Whether all stop: as the first one said who came to an end."""
        said = self._store.compare_set("end", "", end)
        return bool(said == b"stop")

    def _give_up(self, error: Exception) -> None:
        self._group = None
        log.warning(
            "nanwatch: stop=True has no effect: ranks cannot agree on a step "
            "over gloo: %r",
            error,
        )


def _is_over(work: Any, seconds: float) -> bool:
    """At once, mostly; after so many seconds a program gets on with it."""
    until = time.monotonic() + seconds
    while not work.is_completed():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _came(work: Any) -> bool:
    """Of one that is over: all ranks made it, and none was too late."""
    try:
        work.wait()
    except Exception:
        return False
    return True


def _store_of(key: str) -> Any:
    distributed = torch.distributed
    return distributed.PrefixStore(
        key, distributed.distributed_c10d._get_default_store()
    )


def _all_come(store: Any) -> bool:
    """All ranks come here. Whoever knows first, that they did or that they do
    not, says so to all, and so all hear the same."""
    if store.add("ranks", 1) == torch.distributed.get_world_size():
        # In PyTorch 2.3 that alone wakes nobody.
        store.set("all", store.compare_set("all", "", "yes"))
    else:
        try:
            store.wait(["all"], _PATIENCE)
        except Exception:  # of which kind depends on the store
            store.compare_set("all", "", "no")
    return bool(store.get("all") == b"yes")


def _gloo() -> Any:
    global _over_gloo
    world = torch.distributed.group.WORLD
    if _over_gloo[0] is not world:
        _over_gloo = (
            world,
            torch.distributed.new_group(backend="gloo", timeout=_ANSWER),
        )
    return _over_gloo[1]
