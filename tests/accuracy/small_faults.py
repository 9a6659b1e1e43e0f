"""Four faults for the small nets of frameworks other than PyTorch: each works
on numpy's arrays, so that the same is done to all."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy

from verdicts import Verdict

BEGIN = 150  # the step at which a fault begins
STEPS = 210
FEATURES, CLASSES, BATCH = 16, 4, 16


@dataclass
class Kind:
    """As the faults of PyTorch (faults.py): any of `causes` is right, `late`
    is how many steps it may take to show, sizes are drawn log-uniformly."""

    name: str
    causes: tuple
    late: int
    sizes: tuple = (1.0, 1.0)


KINDS = {kind.name: kind for kind in (
    Kind("NanInBatch", ("nan_from_forward",), 1),
    Kind("OutlierBatch", ("outlier_batch",), 0, (2.0, 8.0)),
    # In fp32 what is made of it may still be finite, or so on the way forward.
    Kind("WeightBitFlipped", ("nan_from_forward", "nan_from_backward",
                              "divergence"), 1),
    Kind("LearningRate", ("divergence", "nan_from_forward",
                          "nan_from_backward"), 60, (100.0, 300.0)),
)}


class Fault:
    """One of a kind, or none ("")."""

    def __init__(self, kind, seed):
        self.kind = KINDS.get(kind)
        self.name, self.seed = kind, seed
        low, high = map(math.log2, self.kind.sizes if kind else (1.0, 1.0))
        self.size = 2.0 ** random.Random(seed).uniform(low, high)

    def batches(self):
        """Features and classes of each step. Four corners of a noisy cube."""
        rng = numpy.random.default_rng(self.seed)
        corners = numpy.eye(CLASSES, FEATURES, dtype="float32") * 2
        for step in range(STEPS):
            y = rng.integers(0, CLASSES, BATCH).astype("int32")
            x = rng.normal(0, 0.7, (BATCH, FEATURES)).astype("float32")
            x += corners[y]
            if step == BEGIN and self.name == "NanInBatch":
                x.reshape(-1)[self.seed % x.size] = math.nan
            if step == BEGIN and self.name == "OutlierBatch":
                x = -x * self.size
            yield x.astype("float32"), y

    def rate(self, step, rate):
        """The learning rate of a step."""
        raised = self.name == "LearningRate" and step >= BEGIN
        return rate * self.size if raised else rate

    def flip(self, step, weight):
        """A weight with the highest bit of an exponent flipped; None: it is as
        it is."""
        if self.name != "WeightBitFlipped" or step != BEGIN:
            return None
        flipped = numpy.array(weight, dtype="float32")
        bits = flipped.reshape(-1).view("uint32")
        bits[self.seed * 7 % bits.size] ^= 1 << 30
        return flipped


@dataclass
class Outcome:
    fault: Fault
    first: str
    told: bool
    late: int | None
    verdict: Verdict

    @property
    def right(self):
        if not self.fault.name:
            return self.verdict.worst not in ("warning", "critical")
        return self.told and 0 <= self.late <= self.fault.kind.late


def play(train, kind, seed, daemon, run):
    """`train(fault, address, run)` trains with it. What the daemon says."""
    fault = Fault(kind, seed)
    train(fault, daemon.address, run)
    it = Verdict(daemon, run)
    causes = fault.kind.causes if kind else ()
    right = [c for c in it.causes if c["cause"] in causes]
    late = int(right[0]["step"]) - BEGIN if right else None
    return Outcome(fault, it.cause, bool(right), late, it)
