"""Numbers that are still on a device, and their way to the host.

Nothing here waits on the training's thread: a copy is queued behind what made
the numbers, and read once an event says that it is over.
"""

from __future__ import annotations

from typing import Any, Tuple

import torch


# The device and dtype of a number, and its place among those of its kind.
Place = Tuple[Tuple[Any, Any], int]


class Readout:
    """Collects scalars and vectors, then takes them to the host at once."""

    __slots__ = ("_copies", "_groups", "_read")

    def __init__(self) -> None:
        # By device and dtype: tensors that will lie one behind another.
        self._groups: dict[tuple[Any, Any], list[Any]] = {}
        self._copies: dict[tuple[Any, Any], tuple[Any, Any]] = {}
        self._read: dict[tuple[Any, Any], list[float]] = {}

    def add(self, tensor: Any) -> Place:
        """Of one element, without grad; returns where to find it later."""
        key = (tensor.device, tensor.dtype)
        group = self._groups.setdefault(key, [])
        group.append(tensor)
        return key, len(group) - 1

    def start(self) -> None:
        """Queues the copies. Nothing is added afterwards."""
        for key, tensors in self._groups.items():
            flat = torch.stack(tensors)
            device = key[0]
            if device.type == "cpu":
                self._read[key] = flat.tolist()
            else:
                self._copies[key] = _copy(flat.float())
        self._groups = {}

    def ready(self) -> bool:
        """Asks; does not wait."""
        return all(
            event is None or event.query()
            for _, event in self._copies.values()
        )

    def finish(self) -> None:
        """Reads what arrived; waits for it where it did not."""
        for key, (host, event) in self._copies.items():
            if event is not None:
                event.synchronize()
            self._read[key] = host.tolist()
        self._copies = {}

    def value(self, place: Place) -> float:
        key, index = place
        return float(self._read[key][index])


def _copy(flat: Any) -> tuple[Any, Any]:
    """The host's copy, and the event after which it is there."""
    if flat.device.type == "cuda":
        host = torch.empty(flat.shape, dtype=flat.dtype, pin_memory=True)
        host.copy_(flat, non_blocking=True)
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(flat.device))
        return host, event
    return flat, None  # read a step later, when it is long over
