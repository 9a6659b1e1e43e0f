"""Updates that a program makes wrong, with odd seeds from its first step on and
with even ones in the middle of a training that was right until then."""

import torch
from fault import BEGIN, Fault
from models import Training
from torch import nn


class WrongUpdate(Fault):
    causes = ("update_made_wrong",)
    level = "default"
    # What is not followed at each update is looked at each 16th.
    late = 20
    scaled = False

    def __init__(self, seed):
        super().__init__(seed)
        self.begin = 0 if seed % 2 else BEGIN

    def training(self):
        if self.scaled:
            return Training(self.kind, seed=self.seed, clip=None)
        return Training(self.kind, seed=self.seed, scaler=None, clip=None,
                        dtype=torch.float32)


class NoBackward(WrongUpdate):
    def strike(self, training):
        forward = training.forward

        def step():
            x, y = training.batches()
            training.optimizer.zero_grad()
            loss = forward(x, y)
            training.optimizer.step()
            return loss.detach()

        training.step = step


class ClearedBetween(WrongUpdate):
    def strike(self, training):
        training.before_update = lambda _: training.optimizer.zero_grad()


class NeverCleared(WrongUpdate):
    def strike(self, training):
        training.optimizer.zero_grad = lambda *args, **more: None


class NoRate(WrongUpdate):
    def strike(self, training):
        for group in training.optimizer.param_groups:
            group["lr"] = 0.0


class OtherWeights(WrongUpdate):
    """The model's are replaced, and the optimizer has those of before."""

    def strike(self, training):
        for module in training.model.modules():
            for name, p in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(p.detach().clone()))


class NeverUnscaled(WrongUpdate):
    scaled = True

    def strike(self, training):
        training.scaler.step = lambda optimizer: optimizer.step()
        training.scaler.update = lambda: None


class LossCutOff(WrongUpdate):
    late = 60

    def strike(self, training):
        forward = training.forward
        training.forward = lambda x, y: forward(x, y) * 0.0 + 2.0


class LostInRounding(Fault):
    """Weights in bf16, and a rate that they do not feel."""

    causes = ("update_lost",)
    level = "default"
    begin = 0
    late = 80

    def training(self):
        training = Training(self.kind, seed=self.seed, scaler=None,
                            dtype=torch.float32, lr=1e-7)
        training.model.to(torch.bfloat16)
        before = training.before_forward
        training.before_forward = lambda x: before(x).to(torch.bfloat16)
        return training


WRONG_UPDATES = (NoBackward, ClearedBetween, NeverCleared, NoRate, OtherWeights,
                 NeverUnscaled, LossCutOff, LostInRounding)
