"""A fault of a training, as trials play it."""

import math
import random

from models import Training

BEGIN = 150  # the step at which a fault begins
STEPS = 210


class Fault:
    """`causes`: any of them is right. `op`: where it is born, or a tuple of what
    is right; "": no op is at fault, and none is to be named. `late`: steps until
    it shows. `lasts`: for five steps or more. `told_by_client`: what the log of
    nanwatch says of it, too, in the training itself."""

    kind = "pictures"
    ranks = 1
    lasts = True
    told_by_client = ""
    # At "default" there is nothing to see, and nothing is to be said.
    harmless = False
    level = "ops"
    more_levels = ()  # beside that and "default"
    causes = ()
    op = ""
    late = 1
    sizes = (1.0, 1.0)  # drawn log-uniformly
    begin, steps = BEGIN, STEPS

    def __init__(self, seed):
        low, high = map(math.log2, self.sizes)
        self.size = 2.0 ** random.Random(seed).uniform(low, high)
        self.seed = seed

    def training(self):
        return Training(self.kind, seed=self.seed)

    def strike(self, training):
        """Called once, before step `begin`."""
