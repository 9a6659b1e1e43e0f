"""A layer that gets no gradient any more: all that leads to the loss by way of
it alone gets none either, and what it gave to the next layer is 0."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch

FAULT, STEPS = 60, 90
LAYER = {"enc.3.weight", "enc.3.bias"}


class Lost(torch.autograd.Function):
    """Its gradient leaves the range of fp16."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return (gradient.float() * 2.0**-40).half()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(),
            nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.enc(x))


def changed(layer, change):
    forward = layer.forward
    layer.forward = lambda x: change(forward(x))


def dead(layer):
    with torch.no_grad():
        layer.bias.fill_(-1e3)


FAULTS = {
    "dead": dead,
    "times 0": lambda layer: changed(layer, lambda x: x * 0),
    "underflow": lambda layer: changed(layer, Lost.apply),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("level", ["default", "layers"])
def test_the_layer_where_it_begins_is_named(
        daemon, name, caplog, fault, level):
    torch.manual_seed(1)
    model = Net()
    truth = torch.randn(16, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu")
    watch = nanwatch.torch.watch(
        model, optimizer, scaler, run=name, level=level,
        address=daemon.address)
    for i in range(STEPS):
        if i == FAULT:
            FAULTS[fault](model.enc[3])
        x = torch.randn(64, 16)
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x)
        loss = nn.functional.cross_entropy(out.float(), (x @ truth).argmax(1))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    said = [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
    assert len(said) == 1, said
    assert "gradient of enc.3.bias, enc.3.weight, enc.1.bias" in said[0], said
    it = Verdict(daemon, name)
    assert it.cause == "underflow" and it.step == FAULT, it
    assert it.origin["op"] in LAYER, it
    assert "A layer gets no gradient any more" in " ".join(
        daemon.nanwatch("diagnose", name).stdout.split()), it


@pytest.mark.parametrize("level", ["default", "layers"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_rate_that_kills_fresh_units_is_told(
        daemon, name, level, first):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
        nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, address=daemon.address)
    truth = torch.randn(64, 10)
    for i in range(300):
        x = torch.randn(64, 64)
        loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss, step=first + i)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    # The loss shoots up from the first steps on, and its units die of that.
    assert it.cause == "divergence" and it.worst == "critical", it
    assert it.step in (first, first + 1), it
    said = " ".join(daemon.nanwatch("diagnose", name, "--all").stdout.split())
    assert "the gradient elements are exactly 0" in said
    assert "lower learning rate" in said


class Heads(nn.Module):
    """A body, and heads of which a batch may use some."""

    def __init__(self, heads=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(16, 32), nn.ReLU(),
                                 nn.Linear(32, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, 4) for _ in range(heads))
        self.cut = False

    def forward(self, x, heads):
        x = self.enc(x)
        x = x.detach() if self.cut else x
        return sum(self.heads[i](x) for i in heads)


def train_heads(daemon, name, heads_of, steps=STEPS, level="default", at=None,
                parts=1):
    """`heads_of` a step are used; `at` a step something is done."""
    torch.manual_seed(1)
    model = Heads()
    truth = torch.randn(16, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, address=daemon.address)
    for i in range(steps):
        if at is not None and i == FAULT:
            at(model)
        optimizer.zero_grad()
        for part in range(parts):
            x = torch.randn(64, 16)
            loss = nn.functional.cross_entropy(
                model(x, heads_of(i * parts + part)), (x @ truth).argmax(1))
            (loss / parts).backward()
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0


def said_in(caplog):
    return [r.getMessage() for r in caplog.records if r.name == "nanwatch"]


@pytest.mark.parametrize("level", ["default", "layers"])
def test_a_layer_that_is_cut_off(daemon, name, caplog, level):
    """Its gradients are None, as zero_grad leaves them."""
    train_heads(daemon, name, lambda i: [0, 1], level=level,
                at=lambda model: setattr(model, "cut", True))
    said = said_in(caplog)
    assert len(said) == 1, said
    assert (f"gradient of enc.2.bias, enc.2.weight, enc.0.bias and 1 more is "
            f"None since step {FAULT}, and was not before: detached by "
            "mistake, or dropped on purpose") in said[0], said
    it = Verdict(daemon, name)
    assert it.cause == "underflow", it
    assert FAULT <= it.step <= FAULT + 8, it
    assert it.origin["op"] in {"enc.2.bias", "enc.2.weight"}, it
    assert "A layer gets no gradient any more" in " ".join(
        daemon.nanwatch("diagnose", name).stdout.split()), it


def test_a_head_that_is_dropped(daemon, name):
    """A note that says both, and ends by itself."""
    for steps in (STEPS, 700):
        run = f"{name}-{steps}"
        train_heads(daemon, run, lambda i: [0, 1] if i < FAULT else [0], steps)
        it = Verdict(daemon, run)
        assert it.worst in ("", "info"), it
        advice = daemon.nanwatch("diagnose", run).stdout
        noted = "a head or a branch that was dropped" in " ".join(
            advice.split())
        assert noted == (steps == STEPS), advice
    assert it.headline.startswith("Healthy: 700 steps"), it


def freeze(model):
    for parameter in model.enc.parameters():
        parameter.requires_grad_(False)


MEANT = {
    "one never": (lambda i: [0], None),
    "by turns": (lambda i: [i % 2], None),
    "first one, then the other": (lambda i: [i >= FAULT], None),
    "by turns, for long": (lambda i: [i // 20 % 2], None),
    "one now and then": (lambda i: [0, 1] if i % 7 else [0], None),
    "one late": (lambda i: [0, 1] if i >= FAULT else [0], None),
    "one seldom": (lambda i: [0, 1] if i < 40 or i % 3 else [0], None),
    "frozen": (lambda i: [0, 1], freeze),
}


@pytest.mark.parametrize(
    "case, parts", [*((case, 1) for case in MEANT), ("one seldom", 3)])
def test_who_never_had_one_or_has_none_at_times(
        daemon, name, caplog, case, parts):
    heads_of, at = MEANT[case]
    train_heads(daemon, name, heads_of, at=at, parts=parts)
    assert said_in(caplog) == []
    it = Verdict(daemon, name)  # another head may well have another loss
    assert it.cause in ("", "unexplained", "divergence"), it
    if case != "first one, then the other":
        assert it.worst in ("", "info"), it


def test_what_comes_and_goes_is_not_said(daemon, name, caplog):
    """In fp16 without a scale a gradient is 0 at most steps from the first on:
    neither the log nor the daemon has that it "was not before"."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64),
                          nn.ReLU(), nn.Linear(64, 4)).half()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = nanwatch.torch.watch(model, optimizer, run=name,
                                 address=daemon.address)
    truth, zeros = torch.randn(16, 4), []
    for _ in range(200):
        x = torch.randn(32, 16)
        loss = 1e-5 * nn.functional.cross_entropy(
            model(x.half()).float(), (x @ truth).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        zeros.append(not model[0].weight.grad.any())
        optimizer.step()
        watch.step(loss)
    assert watch.close(20)
    assert 50 < sum(zeros) < 200, "the test has what it is about"
    assert said_in(caplog) == []
    # Weights in fp16 do not feel such updates: that is another matter.
    it = Verdict(daemon, name)
    assert [each["cause"] for each in it.causes] == ["update_lost"], it
