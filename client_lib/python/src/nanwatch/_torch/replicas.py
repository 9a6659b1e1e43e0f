"""Digests of weights that all ranks of a data-parallel training hold alike,
made so that two of them say where they differ
(daemon/detect/replica_locator.h).

A quarter of the weights is looked at each step, where they are many; the digest
is of all of them, each as it was when it was looked at last.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch

from nanwatch._torch.places import is_distributed

_MODULUS = 2097143
_BITS = 21
_MOST_TURNS = 4
# Of few weights a turn has so many at least: where all of them differ, that is
# not taken for one that does.
_LEAST = 8
_SMALL = 1 << 18  # elements


def is_replica(model: Any) -> bool:
    """All ranks hold the same weights."""
    return isinstance(
        getattr(model, "_orig_mod", model),
        torch.nn.parallel.DistributedDataParallel,
    )


def is_digested(model: Any, says_so: bool) -> bool:
    """All ranks hold the same weights, or may: then its run `says_so`."""
    return is_replica(model) or (says_so and is_alike(model))


def is_alike(model: Any) -> bool:
    """There are other ranks, nothing that is known here makes them replicas,
    and no weight of this one is a part of a larger one."""
    if is_replica(model) or not _has_others():
        return False
    if any(_shards(module) for module in model.modules()):
        return False
    return all(
        type(p) is torch.nn.Parameter
        and not hasattr(p, "ds_id")
        and not getattr(p, "tensor_model_parallel", False)
        for p in model.parameters()
    )


def _has_others() -> bool:
    if is_distributed():
        return bool(torch.distributed.get_world_size() > 1)
    size = os.environ.get("WORLD_SIZE", "")
    return size.isdigit() and int(size) > 1


def _shards(module: Any) -> bool:
    name = type(module).__name__
    return name.startswith(("FSDP", "FullyShardedDataParallel"))


def shapes_of(model: Any) -> int:
    """A digest of the names and shapes of its parameters, not 0."""
    said = repr([(n, tuple(p.shape)) for n, p in model.named_parameters()])
    digest = hashlib.blake2b(said.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


class Sized(Protocol):
    def numel(self) -> int: ...


class Turn(NamedTuple):
    """Whose turn it is."""

    which: range  # places among an optimizer's weights
    all: bool  # of them
    comparable: bool  # all were looked at when other ranks looked at them


class Turns:
    """The same on all ranks, since they follow from the steps' numbers."""

    def __init__(self) -> None:
        self._tensors = 0
        self._turns = 1
        self._last = -1  # number
        self._since = 0  # the number after which none was left out
        self._jumped = False  # to the last number

    def next(self, number: int, tensors: Sequence[Sized]) -> Turn:
        """Of the step `number`, of these weights."""
        if len(tensors) != self._tensors:
            self._tensors = len(tensors)
            self._turns = _turns([tensor.numel() for tensor in tensors])
            self._last = -1
        every = self._turns
        jumps = number != self._last + 1 or self._last < 0
        self._last = number
        if every == 1:
            return Turn(range(self._tensors), True, True)
        if jumps:
            known, self._jumped, self._since = self._jumped, True, number
            return Turn(range(self._tensors), True, known)
        self._jumped = False
        return Turn(
            range(number % every, self._tensors, every),
            False,
            number - self._since >= every - 1,
        )


def _turns(elements: Sequence[int]) -> int:
    most = _MOST_TURNS if sum(elements) > _SMALL else len(elements) // _LEAST
    return max(1, min(most, _MOST_TURNS, len(elements)))


class Digest:
    """Of one optimizer's weights."""

    def __init__(self, weights: int) -> None:
        """`weights`: how many."""
        self._places = [0] * weights
        self._numbers = [0] * weights
        self._lacking = weights  # places
        self._sums = (0, 0, 0)

    @property
    def weights(self) -> int:
        """How many."""
        return len(self._places)

    def lacks_places(self) -> bool:
        return self._lacking > 0

    def place(self, weight: int, place: int) -> None:
        """Of the weight `weight`, before it is taken: the index of its op plus
        1; the first that is said stays."""
        if self._places[weight] == 0:
            self._places[weight] = place
            self._lacking -= 1

    def take(self, which: Sequence[int], norms: Sequence[float]) -> None:
        """The norms of the weights `which`."""
        if not math.isfinite(sum(norms)):
            # A NaN has one of many patterns of bits.
            norms = [n if n == n else math.nan for n in norms]
        n = len(norms)
        patterns = struct.unpack(f"<{n}Q", struct.pack(f"<{n}d", *norms))
        numbers, places = self._numbers, self._places
        a, b, c = self._sums
        for i, pattern in zip(which, patterns):
            number = pattern % _MODULUS
            apart = number - numbers[i]
            if apart:
                numbers[i] = number
                a += apart
                apart *= places[i]
                b += apart
                c += apart * places[i]
        self._sums = a % _MODULUS, b % _MODULUS, c % _MODULUS

    @property
    def value(self) -> int:
        a, b, c = self._sums
        return a | b << _BITS | c << 2 * _BITS
