"""How many elements of the gradients fp16 has lost below its smallest number.

What became 0 is not told apart from what always was (behind a ReLU, of rows of
an embedding that no batch has), but for what lies just above: elements that are
lost leave others behind that are one, two or three times the smallest number.
How their numbers fall off towards 0 says how many more there were below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import beside, local
from nanwatch._torch.update import Update

_SAMPLES = 1 << 14  # elements that are looked at, of all of them
_QUANTA = float(1 << 24)  # in 1: the smallest number of fp16 is 2^-24
# Times the elements at the smallest number: how many below are believed.
_MOST = 8.0


def measure(
    gradients: Sequence[Any], scale: Any, step: int, readout: Readout
) -> Any:
    """Queues the counts of a sample; what `share` reads. `gradients` of one
    device; `scale`: what they are to be multiplied by, to be as fp16 had them.
    `step` moves the sample along. None: there are none."""
    gradients = [g for g in gradients if g.is_contiguous()]
    every = sum(g.numel() for g in gradients) // _SAMPLES | 1
    # An odd stride, from another element each time: not one column alone.
    first = step * 7919 % every
    with torch.no_grad():
        parts = [g.view(-1)[first::every] for g in gradients]
        if not any(part.numel() for part in parts):
            return None
        flat = torch.cat(parts).float().abs_()
        flat.mul_(beside(scale, flat) * _QUANTA)
        return readout.add(
            (
                torch.count_nonzero(flat >= 0.0),  # not NaN
                torch.count_nonzero(flat > 0.0),
                torch.count_nonzero(flat > 0.9),
                torch.count_nonzero(flat > 1.5),
                torch.count_nonzero(flat > 3.5),
            )
        )


def share(counts: Sequence[float], whole: bool) -> float | None:
    """Of the elements, that were lost; as `measure` counted them. None: they
    do not lie where fp16 has its numbers, and the scale is not what it seems.
    `whole`: they should; a mean of several ranks' does not."""
    elements, nonzero, from_one, from_two, from_four = counts
    if elements <= 0.0 or (whole and from_one < nonzero):
        return None
    one, next_ones = nonzero - from_two, from_two - from_four
    # Half as wide as that of 1 is what rounds to 0, and its elements lie as
    # much denser again as those at 1 than those at 2 and 3, two of its widths
    # away: about the root of it, which fits a bell, and is less than all where
    # the range is wide.
    denser = 2.0 * one / next_ones if next_ones > 0.0 else math.inf
    below = min(_MOST, 0.5 * math.sqrt(denser))
    return min(elements - nonzero, one * below) / elements


def measure_update(
    update: Update,
    half: bool,
    scale: Any,
    step: int,
    readout: Readout,
    gradient_of: Callable[[Any], Any] | None,
) -> None:
    """Of those gradients that come out of fp16 arithmetic. `half`: autocast is
    to fp16."""
    for parameters in update.gradients:  # of one device
        found = [
            p.tensor.grad if gradient_of is None else gradient_of(p.tensor)
            for p in parameters
            if (p.half and half) or p.dtype == "fp16"
        ]
        counts = measure(
            [local(g) for g in found if g is not None], scale, step, readout
        )
        if counts is not None:
            update.underflow = counts
            return
