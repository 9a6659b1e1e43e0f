"""Looks at weights that take little: one number of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nanwatch._torch.parameters import Parameter


class Glance(NamedTuple):
    """The norms of some weights of an optimizer, before an update; or, where
    they are not compared with other ranks', their `largest` elements."""

    which: Sequence[int]  # places among those that it updates
    parameters: Sequence[Parameter]  # which these are
    norms: Any  # where they are, of a readout
    largest: bool
