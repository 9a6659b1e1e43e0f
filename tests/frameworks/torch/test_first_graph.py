"""Models that list their parameters in another order than they use them, and
whose weights lie in other classes than nn.Linear: what is said of them is
learnt from the first graph."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import (
    GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM)
from verdicts import Verdict

import nanwatch
from nanwatch._torch.first_graph import uses_of
from nanwatch._torch.naming import name_parameters

WORDS = 64
FAULT, STEPS = 60, 90


def llama(words=WORDS):
    """Its layers list the norm before the MLP behind that one."""
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=words, hidden_size=32, intermediate_size=64,
        num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=2,
        max_position_embeddings=32))


def gpt2():
    """Conv1D is a Linear by another name; its embedding is its head, too."""
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=WORDS, n_positions=32, n_embd=32, n_layer=3, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))


class Encoder(nn.Module):
    """nn.MultiheadAttention's weights are its own; the layers list their norms
    behind what comes after these."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 32)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(
                32, 2, 64, dropout=0.0, batch_first=True, norm_first=True),
            3, enable_nested_tensor=False)
        self.out = nn.Linear(32, WORDS)

    def forward(self, x):
        return self.out(self.encoder(self.embed(x)))


def batch(generator):
    first = torch.randint(WORDS, (8, 1), generator=generator)
    return (first + 3 * torch.arange(16)) % WORDS


def loss_of(model, x):
    with torch.autocast("cpu", torch.float16):
        if isinstance(model, Encoder):
            out = model(x).float()
            return nn.functional.cross_entropy(
                out[:, :-1].flatten(0, 1), x[:, 1:].flatten())
        return model(x, labels=x).loss


def times_zero(layer):
    forward = layer.forward
    layer.forward = lambda x: forward(x) * 0


def feed_forward(model):
    """The last layer of one, and what its gradients are called."""
    if isinstance(model, Encoder):
        return (model.encoder.layers[0].linear2,
                "encoder.layers.0.linear2.")
    if isinstance(model, GPT2LMHeadModel):
        return model.transformer.h[1].mlp.c_proj, "transformer.h.1.mlp.c_proj."
    return model.model.layers[1].mlp.down_proj, "model.layers.1.mlp.down_proj."


def train(model, watch, optimizer, scaler, steps, at=lambda _: None, by=1.0):
    generator = torch.Generator().manual_seed(1)
    for i in range(steps):
        at(i)
        optimizer.zero_grad()
        loss = loss_of(model, batch(generator))
        scaler.scale(loss / by).backward()
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0


@pytest.mark.parametrize("level", ["default", "layers", "ops"])
@pytest.mark.parametrize("make", [llama, lambda: llama(4096), gpt2, Encoder],
                         ids=["llama", "many words", "gpt2", "encoder"])
def test_the_layer_that_gets_no_gradient_is_named(
        daemon, name, caplog, make, level):
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    watch = nanwatch.torch.watch(
        model, optimizer, scaler, run=name, level=level,
        address=daemon.address)
    layer, called = feed_forward(model)

    def at(step):
        if step == FAULT:
            times_zero(layer)

    train(model, watch, optimizer, scaler, STEPS, at)
    it = Verdict(daemon, name)
    assert it.cause == "underflow" and it.step == FAULT, it
    assert it.origin["op"].startswith(called), it
    said = [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
    assert len(said) == 1 and f"the gradient of {called}" in said[0], said


@pytest.mark.parametrize("make", [llama, gpt2, Encoder])
def test_what_fp16_loses_is_measured(daemon, name, make):
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=10**6)
    watch = nanwatch.torch.watch(
        model, optimizer, scaler, run=name, level="layers",
        address=daemon.address)
    train(model, watch, optimizer, scaler, 150, by=4096.0)
    it = Verdict(daemon, name)
    assert it.cause == "underflow" and it.worst in ("warning", "critical"), it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["underflow_fraction"] > 0.01, values


def learnt(model):
    """The parameters in the order of their use, and those of fp16."""
    named = name_parameters(model)
    generator = torch.Generator().manual_seed(1)
    if isinstance(model, Encoder):
        with torch.autocast("cpu", torch.float16):
            outputs = [model(batch(generator))]
    else:
        outputs = [loss_of(model, batch(generator))]
    named.learn(uses_of(outputs))
    found = named.of(list(model.parameters()))
    return ([p.name for p in sorted(found, key=lambda p: p.place)],
            {p.name for p in found if p.half})


class Flat(nn.Module):
    """Computes with copies of its weights in one buffer of fp16, as an RNN on a
    GPU does, and with two weights as one."""

    def __init__(self):
        super().__init__()
        self.flat, self.q, self.k = (nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        buffer = torch.zeros(20, dtype=torch.half)
        weight = buffer[:16].view(4, 4)
        weight.copy_(self.flat.weight.view(4, 4))
        bias = buffer[16:]
        bias.copy_(self.flat.bias.view(4))
        x = nn.functional.linear(x, weight, bias)
        both = torch.cat([self.q.weight, self.k.weight])
        return nn.functional.linear(x, both) + self.q.bias.repeat(2)


def test_what_is_a_part_of_another_tensor_is_as_its_class_says():
    model = Flat()
    named = name_parameters(model)
    with torch.autocast("cpu", torch.float16):
        named.learn(uses_of([model(torch.randn(2, 4))]))
    half = {p.name for p in named.of(list(model.parameters())) if p.half}
    assert {"flat.weight", "flat.bias", "q.weight", "k.weight"} <= half, half


class Within(nn.Module):
    """Autocast is in its forward pass, as where Accelerate prepares it."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(16, 32), nn.Linear(32, 1)

    def forward(self, x):
        with torch.autocast("cpu", torch.float16, enabled=self.training):
            return self.leave(torch.relu(self.enter(x))).float()


class Checkpointed(Within):
    """By a function that computes all of it once more, with gradients."""

    def forward(self, x):
        return checkpoint(super().forward, x.requires_grad_(),
                          use_reentrant=True)


@pytest.mark.parametrize("how", ["", "tried", "compiled", "checkpointed"])
def test_what_fp16_loses_within_the_model_is_measured(daemon, name, how):
    """`tried`: the first forward pass is in fp32, for shapes alone."""
    torch.manual_seed(1)
    model = Checkpointed() if how == "checkpointed" else Within()
    if how == "compiled":
        model = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0,
                                  growth_interval=10**6)
    with nanwatch.torch.watch(model, optimizer, scaler, run=name,
                              level="layers",
                              address=daemon.address) as watch:
        if how == "tried":
            model.eval()(torch.randn(2, 16))
            model.train()
        for _ in range(100):
            optimizer.zero_grad()
            x = torch.randn(64, 16)
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            scaler.scale(loss / 65536).backward()
            scaler.step(optimizer)
            scaler.update()
            watch.step(loss)
    assert watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "underflow", it


def test_what_is_compiled_in_bf16_is_not_of_fp16(daemon, name):
    """Though a scaler is there."""
    model = torch.compile(nn.Linear(16, 1), backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    with nanwatch.torch.watch(model, optimizer, scaler, run=name,
                              address=daemon.address) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = model(torch.randn(8, 16)).float().square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            watch.step(loss)
        assert not watch._teller.names.half


def test_norms_and_embeddings_are_not_of_fp16():
    order, half = learnt(gpt2())
    assert order[0] == "transformer.wte.weight", order
    assert order[-1] == "transformer.ln_f.bias", order
    assert half == {
        f"transformer.h.{i}.{layer}.{kind}"
        for i in range(3) for kind in ("weight", "bias")
        for layer in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")}


def test_parts_of_attention_are_known_by_their_use():
    order, half = learnt(Encoder())
    layer = "encoder.layers.1."
    assert {layer + "self_attn.in_proj_weight",
            layer + "self_attn.out_proj.weight"} <= half
    assert not any("norm" in each or "embed" in each for each in half)
    used = [layer + each for each in (
        "norm1.weight", "self_attn.in_proj_weight",
        "self_attn.out_proj.weight", "norm2.weight", "linear1.weight",
        "linear2.weight")]
    assert sorted(used, key=order.index) == used


class Branches(nn.Module):
    """Of which a batch uses some, listed backward."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 4)
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.first(x))


def test_what_is_not_used_stays_behind_what_is_listed_before_it():
    model = Branches()
    named = name_parameters(model)
    named.learn(uses_of([model(torch.randn(2, 4))]))
    found = sorted(named.of(list(model.parameters())), key=lambda p: p.place)
    assert [p.name for p in found] == [
        "first.weight", "first.bias", "last.weight", "last.bias",
        "unused.weight", "unused.bias"]


def test_a_graph_of_nothing_and_one_too_large_say_nothing(monkeypatch):
    model = nn.Linear(4, 4)
    assert uses_of([torch.randn(2)]) == {}
    monkeypatch.setattr("nanwatch._torch.first_graph._MOST", 1)
    assert uses_of([model(torch.randn(2, 4))]) == {}
