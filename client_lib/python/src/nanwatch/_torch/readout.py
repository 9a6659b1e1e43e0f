"""Numbers that are still on a device, and their way to the host.

Nothing here waits on the training's thread: a copy is queued behind what made
the numbers, on the stream that makes them, and read once an event says that it
is over. What is on the host is read at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

# What is on these is read at once: it costs no wait. Empty: nothing is.
HOSTS = {"cpu"}
# Of these `torch.cuda` and its like have events and streams.
_WITH_EVENTS = {"cuda", "npu"}
# And these have numbers of 64 bits, in which counts of elements are exact.
WITH_64_BITS = {"cpu", "cuda"}
# Of a device's place among all: costs a tenth of what the stream itself does.
_raw_stream: Callable[[int], int] | None = getattr(
    torch._C, "_cuda_getCurrentRawStream", None
)


# By device and id: a device has some dozens.
_streams: dict[Any, Any] = {}


def on_host(tensor: Any) -> bool:
    return bool(HOSTS) and tensor.is_cpu


class Later:
    """Numbers that `Readout.finish` brings: from which queue, which part of it,
    and where they begin and how many they are."""

    __slots__ = ("begin", "count", "part", "queue")

    def __init__(self, queue: Any, part: Any, begin: int, count: int) -> None:
        self.queue = queue
        self.part = part
        self.begin = begin
        self.count = count


class _Queue:
    """What is made on one stream of a device."""

    __slots__ = ("_many", "_single", "device", "stream", "stream_id")

    def __init__(self, device: Any, stream_id: Any) -> None:
        self.device = device
        self.stream_id = stream_id
        self.stream = _stream_of(device, stream_id)  # None: the device has none
        self._single: dict[Any, list[Any]] = {}  # of one element each, by type
        self._many: list[Any] = []

    def add(self, tensors: Any) -> tuple[Any, int, int]:
        """Part, begin and count."""
        if isinstance(tensors, torch.Tensor):
            self._many.append(tensors)
            return len(self._many) - 1, 0, tensors.numel()
        begin, part = -1, None
        for tensor in tensors:
            if part is not None and tensor.dtype is not part:
                return self.add(torch.stack([t.double() for t in tensors]))
            part = tensor.dtype
        group = self._single.setdefault(part, [])
        begin = len(group)
        group.extend(tensors)
        return part, begin, len(tensors)

    def flat(self) -> tuple[Any, dict[Any, int]]:
        """All of it in one tensor, and where each part begins. (A call for each
        number takes the host as long as a layer.)"""
        parts = {
            **{part: torch.stack(of) for part, of in self._single.items()},
            **dict(enumerate(self._many)),
        }
        first = next(iter(parts.values()))
        wide = first.device.type in WITH_64_BITS
        kind = torch.float64 if wide else torch.float32
        begins, end = {}, 0
        for part, tensor in parts.items():
            begins[part] = end
            end += tensor.numel()
        all_of_it = [tensor.to(kind) for tensor in parts.values()]
        one = len(all_of_it) == 1
        return all_of_it[0] if one else torch.cat(all_of_it), begins


class _Made(_Queue):
    """That is over."""

    __slots__ = ("_flat",)

    def __init__(self, device: Any, flat: tuple[Any, dict[Any, int]]) -> None:
        super().__init__(device, _stream_id(device))
        self._flat = flat

    def flat(self) -> tuple[Any, dict[Any, int]]:
        return self._flat


class Readout:
    """Collects numbers, then takes them to the host at once."""

    __slots__ = ("_copies", "_queues", "_read", "_tag")

    def __init__(self, tag: Any = None) -> None:
        """`tag`: tells what it collects from what others do."""
        self._tag = tag
        self._queues: dict[Any, _Queue] = {}  # by device, stream and tag
        self._copies: dict[Any, tuple[Any, Any, dict[Any, int]]] = {}
        self._read: dict[Any, tuple[list[float], dict[Any, int]]] = {}

    def add(self, tensors: Any) -> Any:
        """Tensors of one element, of one device, without grad; or one tensor of
        several elements. Returns what `numbers` takes."""
        if isinstance(tensors, torch.Tensor):
            if on_host(tensors):
                return tensors.tolist()
            device = tensors.device
        else:
            device = tensors[0].device
            if on_host(tensors[0]):
                return [t.item() for t in tensors]
        key = (device, _stream_id(device), self._tag)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue(device, key[1])
        return Later(key, *queue.add(tensors))

    def add_again(self, other: Readout) -> None:
        """What another one collected, as it is now; what that returned has its
        numbers here, too."""
        for key, queue in other._queues.items():
            flat, begins = queue.flat()
            self._queues[key] = _Made(queue.device, (flat.clone(), begins))

    def add_mixed(self, tensors: Sequence[Any]) -> list[Any]:
        """The same of any devices; in another order. Returns what `mixed`
        takes."""
        by_device: dict[Any, list[Any]] = {}
        for tensor in tensors:
            by_device.setdefault(tensor.device, []).append(tensor)
        return [self.add(group) for group in by_device.values()]

    def empty(self) -> bool:
        """Nothing is to be copied: all was read at once."""
        return not self._queues

    def let_come_first(self, tensor: Any) -> None:
        """What is computed of `tensor` from now on comes after what was
        collected: who calls an optimizer on a stream of his own, and us on the
        usual one, does not say that he waits for it."""
        device = tensor.device
        now = _stream_id(device)
        for queue in self._queues.values():
            if queue.device == device and queue.stream_id != now:
                here = _stream(device)
                here.wait_stream(queue.stream)
                tensor.record_stream(here)

    def start(self) -> None:
        """Queues the copies. Nothing is added afterwards."""
        queues, self._queues = self._queues, {}
        for key, queue in queues.items():
            with _on_stream(queue):
                flat, begins = queue.flat()
                self._copies[key] = (*_copy(flat), begins)

    def ready(self) -> bool:
        """Asks; does not wait."""
        for key, (host, event, begins) in self._copies.items():
            if event is not None:
                if not event.query():
                    return False
                self._copies[key] = (host, None, begins)
        return True

    def finish(self) -> None:
        """Reads what arrived; waits for it where it did not."""
        for key, (host, event, begins) in self._copies.items():
            if event is not None:
                event.synchronize()
            self._read[key] = host.tolist(), begins
        self._copies = {}

    def numbers(self, added: Any) -> list[float]:
        """What `add` was given."""
        if isinstance(added, Later):
            all_of_it, begins = self._read[added.queue]
            begin = begins[added.part] + added.begin
            return all_of_it[begin : begin + added.count]
        numbers: list[float] = added
        return numbers

    def mixed(self, added: Sequence[Any]) -> list[float]:
        """What `add_mixed` was given."""
        return [number for each in added for number in self.numbers(each)]

    def number(self, added: Any) -> float:
        """Of the only one."""
        return self.numbers(added)[0]


def _stream_id(device: Any) -> Any:
    """Of the stream that this thread queues on."""
    if device.type == "cuda" and _raw_stream is not None:
        return _raw_stream(device.index)
    return _stream(device)


def _stream(device: Any) -> Any:
    """That stream; None: the device has none."""
    if device.type not in _WITH_EVENTS:
        return None
    return getattr(torch, device.type).current_stream(device)


def _stream_of(device: Any, stream_id: Any) -> Any:
    """The one that this thread queues on, whose id is known."""
    stream = _streams.get((device, stream_id))
    if stream is None:
        stream = _streams[device, stream_id] = _stream(device)
    return stream


def _on_stream(queue: _Queue) -> Any:
    if queue.stream is None or queue.stream_id == _stream_id(queue.device):
        return contextlib.nullcontext()
    return getattr(torch, queue.device.type).stream(queue.stream)


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
