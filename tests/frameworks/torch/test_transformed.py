"""A model that is watched, in the hands of what makes another program of it:
nothing raises, nothing is measured of what is no training, and the training
goes on. Each is the same without nanwatch."""

import copy
import io
import math
import warnings

import pytest
import torch
from torch import nn
from torch.utils import checkpoint
from verdicts import Verdict

import nanwatch

X = torch.randn(4, 8, generator=torch.Generator().manual_seed(1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        return x + torch.relu(self.norm(self.fc(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(Block(), Block())
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x))


def weights(model):
    return {n: p.detach() for n, p in model.named_parameters()}


def called(model, given, x):
    return torch.func.functional_call(model, given, (x,))


def per_sample_gradients(model):
    one = torch.func.grad(lambda w, x: called(model, w, x).sum())
    return torch.func.vmap(one, in_dims=(None, 0))(weights(model), X)["head.bias"]


def fake(model):
    mode = torch._subclasses.fake_tensor.FakeTensorMode(
        allow_non_fake_inputs=True)
    with mode:
        shape = model(mode.from_tensor(X)).shape
    return torch.zeros(shape)


def pickled(model):
    stream = io.BytesIO()
    torch.save(model, stream)
    stream.seek(0)
    return torch.load(stream, weights_only=False)(X)


def quantized(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is to be somewhere else
        made = torch.ao.quantization.quantize_dynamic(
            copy.deepcopy(model).eval(), {nn.Linear}, dtype=torch.qint8)
    return made(X)


def traced_fx(model):
    from torch.fx.experimental.proxy_tensor import make_fx
    return make_fx(lambda x: model(x))(X)(X)


USES = {
    "torch.jit.script": lambda m: torch.jit.script(m)(X),
    "torch.jit.trace": lambda m: torch.jit.trace(m, X)(X),
    "torch.jit.freeze": lambda m: torch.jit.freeze(
        torch.jit.script(copy.deepcopy(m).eval()))(X),
    "torch.export": lambda m: torch.export.export(m, (X,)).module()(X),
    "torch.fx": lambda m: torch.fx.symbolic_trace(m)(X),
    "make_fx": traced_fx,
    "torch.compile": lambda m: torch.compile(
        m, backend="eager", fullgraph=True)(X),
    "functional_call": lambda m: called(m, dict(m.named_parameters()), X),
    "torch.func.grad": per_sample_gradients,
    "torch.func.jvp": lambda m: torch.func.jvp(
        m, (X,), (torch.ones_like(X),))[1],
    "torch.func.hessian": lambda m: torch.func.hessian(
        lambda x: m(x).sum())(X[:1]),
    "autograd.functional": lambda m: torch.autograd.functional.jacobian(m, X),
    "fake tensors": fake,
    "torch.save": pickled,
    "quantize_dynamic": quantized,
}


def made(name, level, address):
    torch.manual_seed(1)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, budget=1e9, address=address)
    return model, optimizer, watch


def step(model, optimizer, watch, bad=1.0):
    optimizer.zero_grad()
    loss = model(X * bad).square().mean()
    loss.backward()
    optimizer.step()
    watch.step(loss)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("level, steps", [("default", 0), ("ops", 2)])
def test_is_as_without(daemon, name, use, level, steps):
    model, optimizer, watch = made(name, level, daemon.address)
    for _ in range(steps):
        step(model, optimizer, watch)
    alone = Net()
    alone.load_state_dict(model.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error", torch.jit.TracerWarning)
        got = USES[use](model)
    assert torch.allclose(got, USES[use](alone), equal_nan=True)
    for _ in range(3):
        step(model, optimizer, watch)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == steps + 3, it
    assert {n for m in model.modules() for n in vars(m) if n[0] == "_"} <= {
        n for m in alone.modules() for n in vars(m)}, "all is taken off"


class Checkpointed(Net):
    def __init__(self, **how):
        super().__init__()
        self.how = how

    def forward(self, x):
        x.requires_grad_()
        for block in self.body:
            x = checkpoint.checkpoint(block, x, **self.how)
        return self.head(x)


def selective():
    return checkpoint.create_selective_checkpoint_contexts(
        [torch.ops.aten.addmm.default])


HOW = {
    "reentrant": {"use_reentrant": True},
    "not reentrant": {"use_reentrant": False},
    "selective": {"use_reentrant": False, "context_fn": selective},
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("level", ["default", "ops"])
def test_activations_that_are_computed_again(daemon, name, how, level):
    """The same to the last bit, and a NaN is found in them."""
    results = []
    for watched in (False, True):
        torch.manual_seed(1)
        model = Checkpointed(**HOW[how])
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        if watched:
            watch = nanwatch.torch.watch(
                model, optimizer, run=name, level=level, budget=1e9,
                address=daemon.address)
        for i in range(20):
            if i == 15:
                with torch.no_grad():
                    model.body[1].fc.weight[0, 0] = math.nan
            optimizer.zero_grad()
            loss = model(X.clone()).square().mean()
            loss.backward()
            optimizer.step()
            if watched:
                watch.step(loss)
            if i == 14:
                results.append(weights(copy.deepcopy(model)))
    assert watch.close(20) and watch.run.stats.bad_input == 0
    for key, weight in results[0].items():
        assert torch.equal(weight, results[1][key]), key
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward" and it.step == 15, it
    assert it.origin["op"] in ("body.1.fc", "body.1.fc.weight"), it


class LowRank(nn.Module):
    """As adapters are: the model's own weight is frozen."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, 2, bias=False)
        self.up = nn.Linear(2, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def spoilt(daemon, name, level, model, spoil):
    """The verdict on 60 steps, of which the 51st is spoilt."""
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, budget=1e9,
        address=daemon.address)
    for i in range(60):
        step(model, optimizer, watch, spoil(model) if i == 50 else 1.0)
        if i == 45:
            assert watch.flush(20)
            assert Verdict(daemon, name).worst == ""
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward" and it.step == 50, it
    return it


def spoil_adapter(model):
    with torch.no_grad():
        model.body[1].fc.up.weight[0, 0] = math.nan
    return 1.0


@pytest.mark.parametrize("level", ["default", "ops"])
def test_adapters(daemon, name, level):
    torch.manual_seed(1)
    model = Net().requires_grad_(False)
    for block in model.body:
        block.fc = LowRank(block.fc)
    it = spoilt(daemon, name, level, model, spoil_adapter)
    assert it.origin["op"] in ("body.1.fc.up", "body.1.fc.up.weight"), it


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("kind", ["weight_norm", "orthogonal"])
def test_weights_that_are_computed(daemon, name, level, kind):
    torch.manual_seed(1)
    model = Net()
    getattr(nn.utils.parametrizations, kind)(model.body[1].fc)
    spoilt(daemon, name, level, model, lambda _: math.nan)
