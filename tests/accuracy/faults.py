"""Faults that people put into trainings, each with a size drawn from a range
whose low end is just visible in the loss or in the gradients."""

import functools
import math

import torch
from fault import BEGIN, Fault
from models import Training
from reference import born_backward
from torch import nn
from wrong_updates import WRONG_UPDATES


def change_output(module, change):
    forward = module.forward
    module.forward = lambda *args: change(forward(*args))


class NanInBatch(Fault):
    lasts = False
    causes = ("nan_from_forward",)
    op = "features.0"

    def strike(self, training):
        def poison(x):
            if training.number == BEGIN:
                x = x.clone()
                x.view(-1)[self.seed % x.numel()] = math.nan
            return x

        training.before_forward = poison


class OutlierBatch(Fault):
    """One batch is upside down, and so many times as large."""

    lasts = False
    causes = ("outlier_batch",)
    sizes = (1.0, 2.0**12)
    late = 0

    @functools.cached_property
    def op(self):
        return born_backward(self)

    def strike(self, training):
        training.before_forward = lambda x: (
            -x * self.size if training.number == BEGIN else x)


class WeightBitFlipped(Fault):
    """The highest bit of an exponent: about 2^128 times as large."""

    causes = ("silent_corruption", "nan_from_forward")
    op = ("features.2", "features.2.weight")

    def strike(self, training):
        weight = training.model.features[2].weight.detach().view(-1)
        at = self.seed * 7 % weight.numel()
        bits = weight[at:at + 1].view(torch.int32)
        bits ^= 1 << 30


class LearningRate(Fault):
    """So many times as high from here on."""

    causes = ("divergence",)
    sizes = (100.0, 300.0)
    late = 60

    def training(self):
        return Training(self.kind, seed=self.seed, clip=None)

    def strike(self, training):
        for group in training.optimizer.param_groups:
            group["lr"] *= self.size


class SoftmaxWithoutMaximum(Fault):
    """exp() of scores in fp16 that have grown so many times."""

    kind = "text"
    causes = ("nan_from_forward",)
    op = "blocks.1.attention"
    sizes = (2.0**5, 2.0**7)
    begin, steps = 20, 40

    def strike(self, training):
        attention = training.model.blocks[1].attention

        def softmax(scores):
            powers = torch.exp((scores * self.size).half())
            return powers / powers.sum(-1, keepdim=True)

        attention.softmax = softmax


class ZeroedLayer(Fault):
    """A layer gets no gradient any more: a backward pass loses it, what the
    layer makes is multiplied by 0, or nothing of it passes the ReLU behind
    it."""

    causes = ("underflow", "collapse_with_underflow")
    # The last of its tensors, or where modules are looked at the ReLU behind it,
    # through which no gradient comes.
    op = ("features.2.bias", "features.2", "features.3")
    level = "layers"
    more_levels = ("ops",)
    late = 5

    def strike(self, training):
        layer = training.model.features[2]

        def zero(_):
            for parameter in training.model.features.parameters():
                parameter.grad.zero_()

        def dead():
            with torch.no_grad():
                layer.bias.fill_(-1e3)

        ways = (
            lambda: setattr(training, "before_update", zero),
            lambda: change_output(layer, lambda x: x * 0),
            dead,
        )
        ways[self.seed % len(ways)]()


class FixedScaleTooHigh(Fault):
    causes = ("range_overflow",)
    # At 2^17 none overflows; at 2^18 a tenth of the steps, up to a third.
    sizes = (2.0**18, 2.0**30)
    begin, steps = 0, 60
    late = 60

    @functools.cached_property
    def op(self):
        return born_backward(self)

    def training(self):
        return Training(self.kind, seed=self.seed, init_scale=self.size,
                        growth_interval=1 << 30, backoff_factor=1 - 2.0**-53)


class NoUpdateOfTheScale(Fault):
    """update() is called with the scale that there was."""

    causes = ("scaler_misuse",)
    begin, steps = 0, 60
    late = 60

    def training(self):
        training = Training(self.kind, seed=self.seed, init_scale=2.0**30)
        update = training.scaler.update
        training.scaler.update = lambda: update(training.scaler.get_scale())
        return training


class PaddingLog(Fault):
    """A log of padding, which a mask takes out: nothing is wrong but what
    the op says."""

    harmless = True
    causes = ("harmless_padding", "nan_from_forward")
    op = "0.log"
    begin, steps = 0, 60

    class Log(nn.Module):
        def forward(self, x):
            return torch.log(x)

    class Features(nn.Module):
        def __init__(self):
            super().__init__()
            self.log = PaddingLog.Log()

        def forward(self, x):
            x = x.abs() + 0.01
            x[..., 7] = 0  # padding
            return torch.where(x == 0, 0.0, self.log(x))

    def training(self):
        training = Training(self.kind, seed=self.seed)
        training.model = nn.Sequential(self.Features(), training.model)
        return training


class UnscaledTwice(Fault):
    told_by_client = "divided by the loss scale twice"
    causes = ("scaler_misuse",)
    begin, steps = 0, 70

    def training(self):
        training = Training(self.kind, seed=self.seed, clip=None)

        def unscale(_):
            training.scaler.unscale_(training.optimizer)
            for parameter in training.model.parameters():
                parameter.grad.div_(training.scaler.get_scale())

        training.before_update = unscale
        return training


class ClippedBeforeUnscaling(Fault):
    told_by_client = "before they are unscaled"
    causes = ("scaler_misuse",)
    late = 4  # a start's overflows come before it
    begin, steps = 0, 30

    def training(self):
        training = Training(self.kind, seed=self.seed, clip=None)
        training.before_update = lambda _: nn.utils.clip_grad_norm_(
            training.model.parameters(), 1.0)
        return training


class OnOneRank(Fault):
    """Of two; ddp.py brings it in at step 50 of 100."""

    causes = ("rank_disagreement",)
    ranks = 2
    begin, steps = 50, 100
    late = 5
    fault = ""


class NormDriftsOnOneRank(OnOneRank):
    """A layer-norm weight is so much larger on one."""

    kind = "text"
    fault = "drift"
    op = "norm.weight"
    sizes = (0.002, 0.05)


class ScalerOfItsOwn(OnOneRank):
    """One rank's scale is so many times lower."""

    fault = "own scaler"
    sizes = (2.0, 64.0)


ON_TWO_RANKS = {
    fault.__name__: fault for fault in (NormDriftsOnOneRank, ScalerOfItsOwn)
}
ON_ONE_PROCESS = {
    fault.__name__: fault
    for fault in (NanInBatch, OutlierBatch, WeightBitFlipped, LearningRate,
                  SoftmaxWithoutMaximum, ZeroedLayer, FixedScaleTooHigh,
                  NoUpdateOfTheScale, PaddingLog, UnscaledTwice,
                  ClippedBeforeUnscaling, *WRONG_UPDATES)
}
