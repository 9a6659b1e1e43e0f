"""Numbers that are still on a device, and their way to the host.

Nothing here waits on the training's thread: a copy is queued behind what made
the numbers, and read once an event says that it is over. What is on the host
is read at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

# What is on these is read at once: it costs no wait. Empty: nothing is.
HOSTS = {"cpu"}
# Of these `torch.cuda` and its like have events and streams.
_WITH_EVENTS = {"cuda", "npu"}


def on_host(tensor: Any) -> bool:
    return bool(HOSTS) and tensor.is_cpu


class Later:
    """Numbers that `Readout.finish` brings: their device, and where they begin
    and how many they are among all of it."""

    __slots__ = ("begin", "count", "device")

    def __init__(self, device: Any, begin: int, count: int) -> None:
        self.device = device
        self.begin = begin
        self.count = count


class Readout:
    """Collects scalars, then takes them to the host at once."""

    __slots__ = ("_copies", "_groups", "_read")

    def __init__(self) -> None:
        self._groups: dict[Any, list[Any]] = {}  # of one element each
        self._copies: dict[Any, tuple[Any, Any]] = {}
        self._read: dict[Any, list[float]] = {}

    def add(self, tensors: Sequence[Any]) -> Any:
        """Tensors of one element, of one device, without grad. Returns what
        `numbers` takes."""
        if on_host(tensors[0]):
            return [t.item() for t in tensors]
        device = tensors[0].device
        group = self._groups.setdefault(device, [])
        begin = len(group)
        group.extend(tensors)
        return Later(device, begin, len(tensors))

    def add_mixed(self, tensors: Sequence[Any]) -> list[Any]:
        """The same of any devices; in another order. Returns what `mixed`
        takes."""
        by_device: dict[Any, list[Any]] = {}
        for tensor in tensors:
            by_device.setdefault(tensor.device, []).append(tensor)
        return [self.add(group) for group in by_device.values()]

    def empty(self) -> bool:
        """Nothing is to be copied: all was read at once."""
        return not self._groups

    def start(self) -> None:
        """Queues the copies. Nothing is added afterwards."""
        if not self._groups:
            return
        for device, tensors in self._groups.items():
            flat = torch.stack([t.float() for t in tensors])
            self._copies[device] = _copy(flat)
        self._groups = {}

    def ready(self) -> bool:
        """Asks; does not wait."""
        return all(
            event is None or event.query() for _, event in self._copies.values()
        )

    def finish(self) -> None:
        """Reads what arrived; waits for it where it did not."""
        if not self._copies:
            return
        for device, (host, event) in self._copies.items():
            if event is not None:
                event.synchronize()
            self._read[device] = host.tolist()
        self._copies = {}

    def numbers(self, added: Any) -> list[float]:
        """What `add` was given."""
        if isinstance(added, Later):
            all_of_it = self._read[added.device]
            return all_of_it[added.begin : added.begin + added.count]
        numbers: list[float] = added
        return numbers

    def mixed(self, added: Sequence[Any]) -> list[float]:
        """What `add_mixed` was given."""
        return [number for each in added for number in self.numbers(each)]

    def number(self, added: Any) -> float:
        """Of the only one."""
        return self.numbers(added)[0]


def _copy(flat: Any) -> tuple[Any, Any]:
    """The host's copy, and the event after which it is there."""
    if flat.device.type in _WITH_EVENTS:
        kind = getattr(torch, flat.device.type)
        # A program may have another default device, which cannot be pinned.
        host = torch.empty(
            flat.shape, dtype=flat.dtype, device="cpu", pin_memory=True
        )
        host.copy_(flat, non_blocking=True)
        event = kind.Event()
        event.record(kind.current_stream(flat.device))
        return host, event
    return flat, None  # read a step later, when it is long over
