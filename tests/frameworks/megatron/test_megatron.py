"""Megatron-Core's own optimizers and scalers, in one process on a CPU. It makes
its tensors on "cuda" and looks for the types of CUDA's tensors by their names;
`cuda_is_a_cpu` says that a CPU is one. All that it does then is its own code."""

import math

import pytest
import torch
from megatron.core import parallel_state
from megatron.core.optimizer import OptimizerConfig
from megatron.core.optimizer.grad_scaler import (
    ConstantGradScaler,
    DynamicGradScaler,
)
from megatron.core.optimizer.optimizer import (
    ChainedOptimizer,
    Float16OptimizerWithFloat16Params,
)
from verdicts import Verdict

import nanwatch


@pytest.fixture(autouse=True)
def cuda_is_a_cpu(monkeypatch):
    cuda_as_a_cpu(monkeypatch)


def cuda_as_a_cpu(monkeypatch):
    for name in ("tensor", "zeros"):
        def made(*args, make=getattr(torch, name), device=None, **kwargs):
            return make(*args, device="cpu" if device == "cuda" else device,
                        **kwargs)
        monkeypatch.setattr(torch, name, made)
    kind = torch.Tensor.type
    monkeypatch.setattr(
        torch.Tensor, "type", lambda self, *args: kind(self, *args) if args
        else kind(self).replace("torch.", "torch.cuda."))


@pytest.fixture(scope="module", autouse=True)
def one_process():
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group(
        "gloo", store=store, rank=0, world_size=1)
    parallel_state.initialize_model_parallel()
    yield
    parallel_state.destroy_model_parallel()
    torch.distributed.destroy_process_group()


class Half(torch.nn.Module):
    """As Megatron wraps what it trains: in fp16, the inputs too."""

    def __init__(self, module):
        super().__init__()
        self.module = module.half()

    def forward(self, x):
        return self.module(x.half()).float()


def small_net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(),
                               torch.nn.Linear(32, 2))


def dynamic(scale, hysteresis=1):
    return DynamicGradScaler(
        initial_scale=scale, min_scale=1.0, growth_factor=2.0,
        backoff_factor=0.5, growth_interval=1000, hysteresis=hysteresis)


def optimizer_of(parameters, scaler):
    config = OptimizerConfig(optimizer="sgd", lr=0.05, fp16=True,
                             clip_grad=1.0, weight_decay=0.0)
    inner = torch.optim.SGD(parameters, lr=0.05)
    made = Float16OptimizerWithFloat16Params(inner, config, scaler, None)
    made.grad_stats_parallel_group = torch.distributed.group.WORLD
    return made


def train(daemon, name, model, optimizer, steps, strike=None, level="default"):
    torch.manual_seed(2)
    y = torch.randint(0, 2, (16,))
    x = torch.randn(16, 16) + y[:, None]
    results = []
    with nanwatch.megatron.watch(
            model, optimizer, run=name, level=level, budget=1e9,
            address=daemon.address) as watch:
        for i in range(steps):
            data = x.clone()
            if strike is not None and i >= strike:
                data[0, 0] = math.nan
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(data), y)
            optimizer.scale_loss(loss).backward()
            results.append(optimizer.step())
            watch.step(loss)
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    return Verdict(daemon, name), results


def test_a_healthy_training(daemon, name):
    model = Half(small_net())
    optimizer = optimizer_of(model.parameters(), dynamic(2.0**10))
    it, results = train(daemon, name, model, optimizer, 80)
    assert it.worst == "" and it.steps == 80, it
    scaler = it.info["scaler"]
    assert scaler["name"] == "megatron" and scaler["hysteresis"] == "1", it
    assert it.info["clip_norm"] == 1.0 and it.info["precision"] == "fp16", it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1024.0, it
    # As Megatron has it: unscaled, before it clips.
    assert values["grad_norm"] == pytest.approx(results[-1][1], rel=1e-3)
    assert "step" not in vars(optimizer), "closed, all is as it was"


def test_a_scale_that_is_too_high_comes_down(daemon, name):
    model = Half(small_net())
    optimizer = optimizer_of(model.parameters(), dynamic(2.0**30, 2))
    it, results = train(daemon, name, model, optimizer, 60)
    skipped = sum(not ok for ok, *_ in results)
    assert int(it.summary["skipped"]) == skipped > 5, it
    assert it.worst != "critical" and it.steps == 60, it
    # Which gradients overflowed, by the name of the model's parameter.
    assert any(op == "2.weight" for op, _ in it.bad_ops()), it


def test_a_fixed_scale_that_is_too_high(daemon, name):
    model = Half(small_net())
    optimizer = optimizer_of(model.parameters(), ConstantGradScaler(2.0**24))
    it, results = train(daemon, name, model, optimizer, 60)
    assert not any(ok for ok, *_ in results)
    assert it.info["scaler"]["kind"] == "SCALING_KIND_STATIC", it
    assert it.worst == "critical" and int(it.summary["skipped"]) == 60, it


@pytest.mark.parametrize("level", ["default", "ops"])
def test_where_a_nan_is_born(daemon, name, level):
    model = Half(small_net())
    optimizer = optimizer_of(model.parameters(), dynamic(2.0**10))
    it, _ = train(daemon, name, model, optimizer, 60, strike=30, level=level)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "0", it
    assert it.step == 30 + (level == "default"), it


def test_chained_optimizers(daemon, name):
    """One that overflows has both skipped."""
    model = Half(small_net())
    first, second = model.module[0], model.module[2]
    optimizer = ChainedOptimizer([
        optimizer_of(first.parameters(), dynamic(2.0**10)),
        optimizer_of(second.parameters(), dynamic(2.0**10))])
    it, results = train(daemon, name, model, optimizer, 40, strike=30)
    assert sum(not ok for ok, *_ in results) == 10
    assert it.steps == 80 and int(it.summary["skipped"]) == 20, it


def test_what_cannot_be_watched_is_trained(caplog):
    with nanwatch.megatron.watch("a model", "an optimizer") as watch:
        watch.step(1.0)
    assert caplog.text.count("this training is not watched") == 1
