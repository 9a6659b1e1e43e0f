"""What is right on a GPU stays unaccused."""

import contextlib

import pytest
import torch
from gpu_trainings import (
    HALF, capturable, foreach, fused, needs_a_gpu, one_by_one, pictures, said,
    text, train, two_streams, verdict, watched)
from models import DEVICE, CharTransformer
from torch import nn
from torch.utils import checkpoint

pytestmark = needs_a_gpu


def compiled(it, **how):
    it.plain, it.model = it.model, torch.compile(it.model, **how)
    return it


class Checkpointed(CharTransformer):
    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = checkpoint.checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(self.norm(x))


def checkpointed(reentrant):
    def make():
        model = Checkpointed(width=128, heads=4, blocks=4, length=64)
        model.reentrant = reentrant
        return model

    return text("bf16", model=make)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(64, 64)
        self.lstm = nn.LSTM(64, 128, 2, batch_first=True)
        self.head = nn.Linear(128, 64)

    def forward(self, x):
        return self.head(self.lstm(self.token(x))[0])


class SparseWords(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(64, 64, sparse=True)
        self.head = nn.Linear(64, 64)

    def forward(self, x):
        return self.head(self.token(x))


def accumulating():
    """With a sum of losses that grows in place, as many have it."""
    it = text("bf16")

    def step():
        it.optimizer.zero_grad()
        total = torch.zeros((), device=DEVICE)
        for _ in range(4):
            loss = it.forward(*it.batches()) / 4
            loss.backward()
            total += loss.detach()
        it._clip()
        it.optimizer.step()
        it.number += 1
        return total

    it.step = step
    return it


def in_backward():
    """Each parameter is updated as soon as its gradient is there."""
    it = text("bf16", clip=None, model=lambda: CharTransformer(
        width=64, heads=2, blocks=1, length=64))
    each = {p: torch.optim.AdamW([p], lr=3e-4) for p in it.model.parameters()}
    it.optimizer = list(each.values())

    def hook(p):
        each[p].step()
        each[p].zero_grad()

    for p in it.model.parameters():
        p.register_post_accumulate_grad_hook(hook)

    def step():
        loss = it.forward(*it.batches())
        loss.backward()
        it.number += 1
        return loss

    it.step = step
    return it


def on_a_stream():
    """Of its own; `watch.step` is called on the usual one, at once."""
    it = text("bf16")
    stream, step = torch.cuda.Stream(), it.step
    stream.wait_stream(torch.cuda.current_stream())

    def on_stream():
        with torch.cuda.stream(stream):
            return step()

    it.step = on_stream
    return it


RIGHT = {
    **{kind: lambda kind=kind: text(kind) for kind in HALF},
    "fp16, not clipped": lambda: text(clip=None),
    "fp16, fused": lambda: text(optimizer=fused),
    "fp16, fused, not clipped": lambda: text(optimizer=fused, clip=None),
    "fp16, foreach, not clipped": lambda: text(optimizer=foreach, clip=None),
    "fp16, one by one": lambda: text(optimizer=one_by_one),
    "bf16, fused": lambda: text("bf16", optimizer=fused),
    "bf16, capturable": lambda: text("bf16", optimizer=capturable),
    "fp16, compiled": lambda: compiled(text()),
    "bf16, compiled": lambda: compiled(text("bf16")),
    "bf16, compiled to graphs": lambda: compiled(
        text("bf16"), mode="reduce-overhead"),
    "fp16, compiled to graphs": lambda: compiled(
        text(), mode="reduce-overhead"),
    "checkpoints": lambda: checkpointed(False),
    "checkpoints, reentrant": lambda: checkpointed(True),
    "lstm, fp16": lambda: text(model=Recurrent),
    "sparse": lambda: text("fp32", clip=None, model=SparseWords,
                           optimizer=torch.optim.SGD, lr=0.5),
    "pictures, fp16": pictures,
    "pictures, bf16, channels last": lambda: pictures("bf16", True),
    "accumulates": accumulating,
    "updates in backward": in_backward,
    "another stream": on_a_stream,
    "two streams": lambda: text("bf16", model=two_streams),
}


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("kind", RIGHT)
def test_right(daemon, name, caplog, kind, level):
    it = RIGHT[kind]()
    watch = watched(it, daemon, name, level)
    steps = 300 if level == "default" else 100
    train(it, watch, steps)
    told = verdict(daemon, watch, name, steps)
    assert told.worst in ("", "info"), told
    assert not [each for each in said(caplog) if "could not" in each]


@pytest.mark.parametrize(
    "how", ["default device", "deterministic", "anomalies"])
def test_right_in_a_mode(daemon, name, how):
    with contextlib.ExitStack() as stack:
        if how == "default device":
            stack.enter_context(torch.device(DEVICE))
            it = text("bf16", model=lambda: nn.Sequential(
                nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 8)))
            it.batches = lambda: (torch.randn(64, 8), torch.randn(64, 8))
            it.forward = lambda x, y: (it.model(x) - y).square().mean()
        else:
            it = text("bf16")
        if how == "deterministic":
            torch.use_deterministic_algorithms(True, warn_only=False)
            stack.callback(torch.use_deterministic_algorithms, False)
        if how == "anomalies":
            stack.enter_context(torch.autograd.set_detect_anomaly(True))
        watch = watched(it, daemon, name, "ops")
        train(it, watch, 40)
        told = verdict(daemon, watch, name, 40)
    assert told.worst in ("", "info"), told
