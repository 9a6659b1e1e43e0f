"""Colossal-AI's own optimizers and scaler, in one process on its CPU
accelerator. Its scaler asks that how many devices there are, which it does not
know of a CPU; `one_cpu` says one."""

import math

import pytest
import torch
from colossalai.accelerator import CpuAccelerator
from colossalai.amp.naive_amp.mixed_precision_optimizer import (
    MixedPrecisionOptimizer,
)
from verdicts import Verdict

import nanwatch


@pytest.fixture(autouse=True)
def one_cpu(monkeypatch):
    count_one_cpu(monkeypatch)


def count_one_cpu(monkeypatch):
    monkeypatch.setattr(CpuAccelerator, "device_count", lambda self: 1)


@pytest.fixture(scope="module", autouse=True)
def one_process():
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def small_net(dtype):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(),
                               torch.nn.Linear(32, 2)).to(dtype)


def train(daemon, name, steps, precision="fp16", strike=None, level="default",
          **scaling):
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}[precision]
    model = small_net(dtype)
    optimizer = MixedPrecisionOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.05), precision, max_norm=0.1,
        **scaling)
    torch.manual_seed(2)
    y = torch.randint(0, 2, (16,))
    x = torch.randn(16, 16) + y[:, None]
    with nanwatch.colossalai.watch(
            model, optimizer, run=name, level=level, budget=1e9,
            address=daemon.address) as watch:
        for i in range(steps):
            data = x.clone()
            if strike is not None and i >= strike:
                data[0, 0] = math.nan
            loss = torch.nn.functional.cross_entropy(
                model(data.to(dtype)).float(), y)
            optimizer.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            watch.step(loss)
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    assert "step" not in vars(optimizer), "closed, all is as it was"
    return Verdict(daemon, name)


def test_a_healthy_training(daemon, name):
    it = train(daemon, name, 80, initial_scale=2.0**10)
    assert it.worst == "" and it.steps == 80, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1024.0, it
    # Before it clips, which is at 0.1; unscaled.
    assert 0.1 < values["grad_norm"] < 2.0, it
    assert it.info["scaler"]["max_scale"] == 2.0**32, it


def test_bf16_has_no_scaler(daemon, name):
    it = train(daemon, name, 40, "bf16")
    assert it.worst == "" and it.steps == 40, it
    assert it.info["precision"] == "bf16", it
    assert it.info["scaler"]["kind"] == "SCALING_KIND_NONE", it


def test_a_scale_that_is_too_high_comes_down(daemon, name):
    it = train(daemon, name, 60, initial_scale=2.0**28, hysteresis=1)
    assert it.steps == 60 and it.worst != "critical", it
    assert int(it.summary["skipped"]) > 5, it
    # Which gradients overflowed, by the name of the model's parameter.
    assert any(op == "2.weight" for op, _ in it.bad_ops()), it


@pytest.mark.parametrize("level", ["default", "ops"])
def test_where_a_nan_is_born(daemon, name, level):
    it = train(daemon, name, 60, strike=30, level=level, initial_scale=2.0**10)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "0", it
    assert it.step == 30 + (level == "default"), it
