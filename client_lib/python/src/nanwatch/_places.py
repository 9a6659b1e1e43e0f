"""A rank's places in its parallel groups, from what the axes of a mesh are
called."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CALLED = {
    "dp": "dp data ddp fsdp hsdp replica replicate shard batch",
    "tp": "tp tensor model mp",
    "pp": "pp pipe pipeline stage",
    "ep": "ep expert experts",
    "cp": "cp sp context seq sequence",
}
_KINDS = {
    word: kind for kind, words in _CALLED.items() for word in words.split()
}


def kind_of(axis: str) -> str:
    """dp, tp, pp, ep or cp; empty: none of them. Of "dp_shard_in_ep", which is
    a part of the first, the first."""
    for word in re.split(r"[^a-z]+", axis.lower()):
        if word in _KINDS:
            return _KINDS[word]
    return ""


def places_of(axes: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """Of (kind, size, place) of each axis, the outer ones first; several of
    one kind are counted through."""
    places: dict[str, int] = {}
    for kind, size, place in axes:
        if kind:
            places[kind] = places.get(kind, 0) * size + place
    return places
