"""Trainings on a GPU, as people write them. They need one, and
NANWATCH_TEST_DEVICE=cuda; without, no test with `needs_a_gpu` runs."""

import pytest
import torch
from models import (
    DEVICE, CharTransformer, ConvNet, Pictures, Texts, Training)
from verdicts import Verdict

import nanwatch

needs_a_gpu = pytest.mark.skipif(
    DEVICE == "cpu", reason="needs a GPU and NANWATCH_TEST_DEVICE=cuda")
ALL_MODULES = 1e9
BEGIN = 150  # of a fault
HALF = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def text(kind="fp16", clip=1.0, optimizer=None, model=None, lr=3e-4, **scaling):
    """A transformer of 0.8 million weights."""
    it = Training("text", dtype=HALF[kind], clip=clip,
                  scaler=True if kind == "fp16" else None, **scaling)
    torch.manual_seed(1)
    it.model = (model or (lambda: CharTransformer(
        width=128, heads=4, blocks=4, length=64)))().to(DEVICE)
    it.batches = Texts(1, 32, 64)
    it.optimizer = (optimizer or torch.optim.AdamW)(
        it.model.parameters(), lr=lr)
    return it


def pictures(kind="fp16", channels_last=False):
    it = text(kind, model=ConvNet)
    it.batches = Pictures(1, 64)
    if channels_last:
        it.model.to(memory_format=torch.channels_last)
    return it


def watched(it, daemon, name, level="default", budget=ALL_MODULES, model=None):
    return nanwatch.torch.watch(
        model or it.model, it.optimizer, it.scaler, run=name, level=level,
        budget=budget, address=daemon.address)


def train(it, watch, steps):
    for _ in range(steps):
        watch.step(it.step())


def verdict(daemon, watch, name, steps=None):
    assert watch.close(30), watch.run.stats
    assert watch.run.stats.bad_input == 0, watch.run.stats
    it = Verdict(daemon, name)
    assert steps is None or it.steps == steps, it
    return it


def fused(parameters, lr):
    return torch.optim.AdamW(parameters, lr=lr, fused=True)


def foreach(parameters, lr):
    return torch.optim.AdamW(parameters, lr=lr, foreach=True)


def one_by_one(parameters, lr):
    return torch.optim.AdamW(parameters, lr=lr, foreach=False)


def capturable(parameters, lr):
    rate = torch.tensor(lr, device=DEVICE)
    return torch.optim.AdamW(parameters, lr=rate, capturable=True)


class TwoStreams(CharTransformer):
    """A part of it is computed on a stream of its own."""

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        other = torch.cuda.Stream()
        for block in self.blocks:
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                fed = block.fc2(block.act(block.fc1(block.norm2(x))))
            mixed = block.attention(block.norm1(x))
            torch.cuda.current_stream().wait_stream(other)
            x = x + mixed + fed
        return self.head(self.norm(x))


def two_streams():
    return TwoStreams(width=128, heads=4, blocks=4, length=64)


def told_by(watch):
    """(Number, loss, norm of gradients) of each step, as they are told."""
    told, teller = [], watch._teller
    tell = teller._tell_step

    def tell_step(step, loss, numbers):
        told.append((step.number, loss, numbers["grad_norm"]))
        tell(step, loss, numbers)

    teller._tell_step = tell_step
    return told


def said(caplog):
    """What the client says in the log of nanwatch."""
    return [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
