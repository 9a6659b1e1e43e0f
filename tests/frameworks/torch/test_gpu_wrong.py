"""What is wrong on a GPU is told with its op, its step and its cause."""

import math

import pytest
import torch
from gpu_trainings import (
    BEGIN, fused, needs_a_gpu, pictures, said, text, train, verdict, watched)
from models import CharTransformer
from torch import nn

pytestmark = needs_a_gpu


class Log(nn.Module):
    """Of values that are 0 from some step on."""

    def __init__(self):
        super().__init__()
        self.begins = False

    def forward(self, x):
        x = torch.sigmoid(x) + 0.1
        if self.begins:
            x = torch.cat([x[..., :1] * 0, x[..., 1:]], -1)
        return torch.log(x)


class WithLog(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = CharTransformer(width=128, heads=4, blocks=4, length=64)
        self.body.blocks[2].act = Log()

    def forward(self, tokens):
        return self.body(tokens)


class Wrong:
    """`causes`: any is right; `op`: "" none can be known; `late`: steps."""

    causes = ("nan_from_forward",)
    op, late = "", 1

    def make(self):
        return text()

    def strike(self, it):
        pass


class LogOf0(Wrong):
    op = ("body.blocks.2.act",)

    def make(self):
        return text(model=WithLog)

    def strike(self, it):
        it.model.body.blocks[2].act.begins = True


class LogOf0InBf16(LogOf0):
    def make(self):
        return text("bf16", model=WithLog)


class WeightTooLarge(Wrong):
    """What it makes leaves the range of fp16."""

    causes = ("nan_from_forward", "silent_corruption")
    op = ("blocks.1.fc1", "blocks.1.fc1.weight")

    def strike(self, it):
        with torch.no_grad():
            it.model.blocks[1].fc1.weight[7] *= 2e6


class ScaleCollapses(Wrong):
    """A gradient is infinite at each step from here on."""

    causes = ("nan_from_backward", "scale_collapse", "range_overflow",
              "backward_overflow")
    op = ("blocks.3.fc2", "blocks.3.fc2.weight", "blocks.3.fc2.bias")
    late = 30

    class Grows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * math.inf

    def strike(self, it):
        module = it.model.blocks[3].fc2
        forward = module.forward
        module.forward = lambda x: forward(self.Grows.apply(x))


class RateTooHigh(Wrong):
    causes = ("divergence",)
    late = 60

    def make(self):
        return text("bf16", clip=None)

    def strike(self, it):
        for group in it.optimizer.param_groups:
            group["lr"] *= 300


class NanBatch(Wrong):
    op = ("features.0",)

    def make(self):
        return pictures()

    def strike(self, it):
        at = it.number
        it.before_forward = lambda x: x * math.nan if it.number == at else x


class NanBatchInBf16(NanBatch):
    def make(self):
        return pictures("bf16")


class NeverCleared(Wrong):
    causes = ("update_made_wrong",)
    late = 20

    def strike(self, it):
        it.optimizer.zero_grad = lambda *args, **more: None


class NeverClearedInBf16(NeverCleared):
    def make(self):
        return text("bf16")


class OtherWeights(Wrong):
    causes = ("update_made_wrong",)
    late = 20

    def make(self):
        return text("bf16", optimizer=fused)

    def strike(self, it):
        for module in it.model.modules():
            for name, p in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(p.detach().clone()))


class WeightIsNan(Wrong):
    op = ("blocks.1.fc1.weight", "blocks.1.fc1")

    def make(self):
        return text("bf16")

    def strike(self, it):
        with torch.no_grad():
            it.model.blocks[1].fc1.weight[3, 5] = math.nan


WRONG = [LogOf0, LogOf0InBf16, WeightTooLarge, ScaleCollapses, RateTooHigh,
         NanBatch, NanBatchInBf16, NeverCleared, NeverClearedInBf16,
         OtherWeights, WeightIsNan]


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("kind", WRONG)
def test_wrong(daemon, name, kind, level, record_property):
    fault = kind()
    it = fault.make()
    watch = watched(it, daemon, name, level)
    train(it, watch, BEGIN)
    fault.strike(it)
    train(it, watch, 150)
    told = verdict(daemon, watch, name, 300)
    right = [c for c in told.causes if c["cause"] in fault.causes]
    late = int(right[0]["step"]) - BEGIN if right else None
    op = right[0].get("origin", {}).get("op", "") if right else None
    record_property("fault", f"{kind.__name__:24} {level:8} {told.worst:8} "
                    f"{told.cause:22} {op!s:30} {late!s:>4}")
    assert right, told
    assert 0 <= late <= max(fault.late, 5 if level == "default" else 0), told
    if fault.op and (level == "ops" or op):
        assert op in fault.op, told


def test_clipped_before_it_is_unscaled(daemon, name, caplog):
    it = text()

    def clip(_):
        nn.utils.clip_grad_norm_(it.model.parameters(), 1.0)

    it.before_update, it.clip = clip, None
    watch = watched(it, daemon, name)
    train(it, watch, 100)
    assert watch.close(30)
    assert any("clipped before they are unscaled" in s for s in said(caplog))
