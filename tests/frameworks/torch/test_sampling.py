"""At "ops" a budget leaves most modules out at most steps: what is not known
then is not said, and what stays is looked at in full."""

import math

import pytest
import torch
from models import Training
from torch import nn
from torch.utils.checkpoint import checkpoint
from verdicts import Verdict

import nanwatch
from nanwatch._torch.modules import Row
from nanwatch._torch.sampling import certain
from nanwatch._torch.statistics import Read

LITTLE = 1e-6  # a budget for no more than the least
FAULT = "blocks.1.fc1"


def watched(training, daemon, name, budget=LITTLE):
    return nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        level="ops", budget=budget, address=daemon.address)


def verdict(daemon, watch, name):
    assert watch.close(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def poison(training, steps):
    module = training.model.get_submodule(FAULT)
    forward = module.forward

    def poisoned(x):
        out = forward(x)
        if training.number in steps:
            out = out.clone()
            out.view(-1)[3] = math.nan
        return out

    module.forward = poisoned


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("begin", [20, 25, 30])
def test_one_step_is_known_or_is_not(daemon, name, begin, scaled):
    training = Training("text", scaler=True if scaled else None,
                        dtype=torch.float16 if scaled else torch.float32)
    poison(training, [begin])
    watch = watched(training, daemon, name)
    for _ in range(begin + 10):
        watch.step(training.step())
    it = verdict(daemon, watch, name)
    assert it.cause == "nan_from_forward" and it.step == begin, it
    assert it.origin.get("op", "") in ("", FAULT), it
    assert {op for op, _ in it.bad_ops()} <= {FAULT}, it


def test_what_stays_is_named(daemon, name):
    training = Training("text")
    poison(training, range(20, 40))
    watch = watched(training, daemon, name)
    for _ in range(40):
        watch.step(training.step())
    it = verdict(daemon, watch, name)
    assert it.origin["op"] == FAULT and it.step <= 21, it
    assert "Linear" in it.headline


def test_what_a_batch_brings_is_seen_at_once(daemon, name):
    training = Training("pictures")
    training.before_forward = lambda x: x * (
        math.nan if training.number == 20 else 1.0)
    watch = watched(training, daemon, name)
    for _ in range(30):
        watch.step(training.step())
    it = verdict(daemon, watch, name)
    assert it.origin["op"] == "features.0", it
    assert it.origin["slot"] == "input" and it.step == 20, it


def test_looking_at_all_is_for_some_steps(tmp_path):
    """An overflow at each step, and nobody who asks for more; and the budget is
    kept afterwards."""
    training = Training("pictures")
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, level="ops",
        budget=LITTLE, address=f"unix:{tmp_path}/none.sock")
    for _ in range(20):
        watch.step(training.step())
    stride = watch.modules.stride.by
    assert stride > len(watch.modules.named)  # none at most steps
    training.before_update = lambda _: training.model.classifier.bias.grad.fill_(
        math.inf)
    whole = 0
    for _ in range(200):
        loss = training.step()
        whole += watch.modules.all
        watch.step(loss)
    assert 4 <= whole <= 17 + 4 * 5
    assert watch.modules.stride.by >= stride
    watch.close(0.1)


def read(bad):
    return Read(4, int(bad), 0, 0, None, None, None)


#  module, backward, slot, bad -> told
A, B = 1, 2


@pytest.mark.parametrize("rows, told", [
    # The first one that is called: there was none before.
    ([(A, False, "input", 1), (A, False, "output", 1)], [1, 1]),
    # One before it was only glanced at.
    ([(B, False, "input", 1), (B, False, "output", 1)], [0, 0]),
    # Another one: what it was given came from somewhere.
    ([(A, False, "output", 0), (B, False, "input", 1),
      (B, False, "output", 1)], [1, 0, 0]),
    # It made it itself.
    ([(A, False, "output", 0), (B, False, "input", 0),
      (B, False, "output", 1)], [1, 1, 1]),
    # One of those that it calls did.
    ([(A, False, "output", 0), (0, False, "input", 0),
      (0, False, "output", 1)], [1, 0, 0]),
    # The same on the way back; what it was given must be known.
    ([(A, False, "output", 0), (B, True, "grad_output", 0),
      (B, True, "grad_input", 1)], [1, 1, 1]),
    ([(A, False, "output", 0), (B, True, "grad_output", 1),
      (B, True, "grad_input", 1)], [1, 0, 0]),
    ([(A, False, "output", 0), (B, True, "grad_input", 1)], [1, 0]),
])
def test_what_is_certain(rows, told):
    made = [Row(module, backward, slot, None, begins=module == A)
            for module, backward, slot, _ in rows]
    statuses = [read(bad) for *_, bad in rows]
    assert certain(made, statuses, lambda i: i != 0) == list(map(bool, told))


def test_an_operation_between_modules_needs_all_of_them(daemon, name):
    """log() between two modules is that of the one that calls them, which is
    known of a step alone in which all were looked at."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 1)
            self.three = nn.Linear(1, 1)

        def forward(self, x, bad):
            x = self.one(x).abs() + 1
            return self.three(self.two(torch.log(x - 1e9 * bad)))

    for budget, wanted in ((LITTLE, ""), (1e9, "model")):
        torch.manual_seed(1)
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        run = f"{name}-{budget}"
        watch = nanwatch.torch.watch(
            model, optimizer, run=run, level="ops", budget=budget,
            address=daemon.address)
        for i in range(30):
            loss = model(torch.randn(4, 4), float(i == 20)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        it = verdict(daemon, watch, run)
        assert it.cause == "nan_from_forward" and it.step == 20, it
        assert it.origin.get("op", "") == wanted, it


def hooked(model):
    return sum(bool(module._forward_hooks) for module in model.modules())


def watched_little(daemon, name, kind):
    """A model of that kind, its optimizer and a watch of LITTLE budget."""
    torch._dynamo.utils.counters.clear()  # of other tests, which compile
    torch.manual_seed(1)
    model = kind()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level="ops", budget=LITTLE,
        address=daemon.address)
    return model, optimizer, watch


class Branches(nn.Module):
    """Begins with another module from step 20 on, whose weight is spoilt."""

    def __init__(self):
        super().__init__()
        self.usual, self.other = nn.Linear(4, 4), nn.Linear(4, 4)
        self.rest = nn.Sequential(
            *(nn.Linear(4, 4) for _ in range(20)), nn.Linear(4, 1))

    def forward(self, x, other):
        return self.rest(self.usual(self.other(x) if other else x))


def test_what_does_not_tell_has_no_hook(daemon, name):
    """And all have one at times, so that the first one called is known."""
    model, optimizer, watch = watched_little(daemon, name, Branches)
    had = []
    for i in range(280):
        had.append(hooked(model))
        loss = model(torch.randn(4, 4), i >= 200).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    every = len(watch.modules.named)
    assert had[0] == every and had.count(every) >= 280 // 64
    assert sum(count <= 3 for count in had[20:]) > 0.9 * len(had[20:]), had
    first = {watch.modules.named[place].path for place in watch.modules.first}
    assert first == {"usual", "other"}
    watch.close(20)
    assert hooked(model) == 0


class Kept(nn.Module):
    """Its first module is called without gradients, and again when they are
    computed."""

    def __init__(self):
        super().__init__()
        self.begin = nn.Linear(4, 4)
        self.rest = nn.Sequential(
            *(nn.Linear(4, 4) for _ in range(20)), nn.Linear(4, 1))

    def forward(self, x):
        return self.rest(checkpoint(self.begin, x, use_reentrant=True))


def test_what_is_called_without_gradients_within_a_pass_is_seen(daemon, name):
    """Of what a program evaluates besides it is known where it was called."""
    model, optimizer, watch = watched_little(daemon, name, Kept)
    for i in range(80):
        assert i != 70 or hooked(model) <= 4
        with torch.no_grad():  # an evaluation
            model.begin(torch.full((4, 4), math.nan))
        x = torch.randn(4, 4) * (math.nan if i == 70 else 1.0)
        loss = model(x.requires_grad_()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if i != 70:
            optimizer.step()
        watch.step(loss)
    it = verdict(daemon, watch, name)
    assert it.origin["op"] == "begin" and it.step == 70, it


def test_where_another_one_begins_nothing_wrong_is_named(daemon, name):
    """What comes out of a module that is not known to be called first is not
    what a batch brought."""
    model, optimizer, watch = watched_little(daemon, name, Branches)
    with torch.no_grad():
        model.other.weight[0, 0] = math.nan
    for i in range(110):
        loss = model(torch.randn(4, 4), i == 100).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if i != 100:
            optimizer.step()
        watch.step(loss)
    it = verdict(daemon, watch, name)
    assert it.origin.get("op", "") in ("", "other", "other.weight"), it


def test_compiled_modules_are_compiled_once(daemon, name):
    """They are compiled anew where the number of hooks changes."""
    counted = torch._dynamo.utils.counters
    torch._dynamo.reset()
    before = counted["frames"]["total"]
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    model[1] = torch.compile(model[1], backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level="ops", budget=LITTLE,
        address=daemon.address)
    for _ in range(100):
        loss = model(torch.randn(4, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert counted["frames"]["total"] == before + 1
