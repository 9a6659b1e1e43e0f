"""Parameters that stand for all of an optimizer's, and parameters that a
program puts into the place of others."""

import gc
import math
import weakref

import pytest
import torch
from counted import Counted
from torch import nn
from torch.nn.utils import clip_grad_norm_
from verdicts import Verdict

import nanwatch

STEPS, FAULT = 60, 40


class OnFeatures(nn.Module):
    """Its optimizer has all parameters, and most never have a gradient."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            *(nn.Linear(16, 16) for _ in range(6)))
        self.head = nn.Linear(16, 4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            x = self.backbone(x)
        return self.head(x)


@pytest.mark.parametrize("told", [True, False])
def test_parameters_that_never_have_a_gradient(daemon, name, told):
    torch.manual_seed(1)
    model = OnFeatures()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 16)).square().mean()
        loss.backward()
        if i >= FAULT:
            model.head.bias.grad[0] = math.nan
        if clip_grad_norm_(model.parameters(), 1.0).isfinite():
            optimizer.step()
        elif not told:
            continue
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_backward" and it.step == FAULT, it
    assert it.origin["op"] == "head.bias", it


class Points(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Parameter(torch.randn(100, 3))
        self.colour = nn.Parameter(torch.randn(100, 8))

    def forward(self):
        return self.place.square().mean() + self.colour.square().mean()


def grow(model, optimizer):
    """More points, in new tensors, as splatting does it."""
    before = []
    for group in optimizer.param_groups:
        old = group["params"][0]
        before.append(weakref.ref(old))
        del optimizer.state[old]
        group["params"][0] = nn.Parameter(
            torch.cat([old.detach(), old.detach()[:10]]))
        setattr(model, group["name"], group["params"][0])
    return before


@pytest.mark.parametrize("level", ["default", "layers", "ops"])
def test_tensors_that_were_replaced_are_let_go(daemon, name, level):
    torch.manual_seed(1)
    model = Points()
    optimizer = torch.optim.Adam(
        [{"params": [p], "name": n} for n, p in model.named_parameters()],
        lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, address=daemon.address)
    before = []
    for i in range(STEPS):
        optimizer.zero_grad()
        loss = model()
        loss.backward()
        if i == STEPS - 1:
            model.colour.grad[0, 0] = math.nan
        optimizer.step()
        watch.step(loss)
        if i % 10 == 9 and i < STEPS - 10:
            before += grow(model, optimizer)
    optimizer.zero_grad()
    gc.collect()
    assert len(before) == 10
    assert [r() is None for r in before] == [True] * 10
    assert watch.close(20) and watch.run.stats.bad_input == 0
    # The name stays, whichever tensor has it.
    it = Verdict(daemon, name)
    assert it.bad_ops() == {("colour", "grad_input"): STEPS - 1}, it


def test_what_nobody_trains_is_not_kept(daemon, name):
    """An adapter for each task."""
    torch.manual_seed(1)
    model = nn.ModuleDict({"body": nn.Linear(16, 16)})
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    before = []
    for task in range(6):
        head = model[f"a{task}"] = nn.Linear(16, 4)
        optimizer.param_groups.clear()
        optimizer.state.clear()
        optimizer.add_param_group({"params": head.parameters()})
        for _ in range(10):
            optimizer.zero_grad()
            x = model["body"](torch.randn(8, 16))
            loss = head(x).square().mean()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        before += [weakref.ref(p) for p in head.parameters()]
        del model[f"a{task}"]
    optimizer.zero_grad()
    optimizer.param_groups.clear()
    del loss, head
    gc.collect()
    alive = [i for i, r in enumerate(before) if r() is not None]
    # Those of the last task, until another one is trained.
    assert set(alive) <= {10, 11}, alive
    assert watch.close(20) and watch.run.stats.bad_input == 0
    # The body gets gradients that nobody uses: that is a note.
    assert Verdict(daemon, name).worst == "info"


def test_a_parameter_that_came_later_has_its_name(daemon, name):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(STEPS):
        if i == 20:
            model.append(nn.Linear(8, 4))
            optimizer.add_param_group({"params": model[1].parameters()})
        optimizer.zero_grad()
        loss = model(torch.randn(8, 16)).square().mean()
        loss.backward()
        if i == STEPS - 1:
            model[1].weight.grad[0, 0] = math.nan
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).bad_ops() == {
        ("1.weight", "grad_input"): STEPS - 1}


def test_what_is_trained_later_has_its_name(daemon, name, monkeypatch):
    """Among many, beside tensors that the model does not have; a walk through
    the model takes milliseconds, and is taken once for all."""
    torch.manual_seed(1)
    Counted.begin(monkeypatch)
    model = Counted(*(nn.Linear(8, 8) for _ in range(20)))
    frozen = [p for layer in model[:19] for p in layer.parameters()]
    own = [nn.Parameter(torch.zeros(8)) for _ in range(20)]
    optimizer = torch.optim.SGD([*model[19].parameters(), *own], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(STEPS):
        if i == 20:
            before = Counted.walks
            optimizer.add_param_group({"params": frozen})
        optimizer.zero_grad()
        loss = (model(torch.randn(4, 8)) + sum(own)).square().mean()
        loss.backward()
        if i == STEPS - 1:
            assert Counted.walks == before + 1
            model[3].bias.grad[0] = math.nan
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).bad_ops() == {
        ("3.bias", "grad_input"): STEPS - 1}


def test_what_another_module_was_put_before(daemon, name):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(STEPS):
        if i == 20:
            model.insert(0, nn.Linear(8, 8))
            optimizer.add_param_group({"params": model[0].parameters()})
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        if i == STEPS - 1:
            model[0].weight.grad[0, 0] = math.nan
            model[2].weight.grad[0, 0] = math.nan
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).bad_ops() == {
        ("0.weight", "grad_input"): STEPS - 1,
        ("2.weight", "grad_input"): STEPS - 1}


def names(watch):
    return [[p.name for p in f.weights()] for f in watch._followed]


def train(model, optimizers, watch, steps):
    for _ in range(steps):
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        watch.step(loss)


def test_names_change_for_all_optimizers(daemon, name):
    """As modules come before theirs, and go."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    first = torch.optim.SGD(model[0].parameters(), lr=1e-3)
    second = torch.optim.SGD(model[1].parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, [first, second], run=name, address=daemon.address)
    train(model, (first, second), watch, 2)
    model.insert(0, nn.Linear(8, 8))
    second.add_param_group({"params": model[0].parameters()})
    train(model, (first, second), watch, 2)
    assert first.param_groups[0]["params"][0] is model[1].weight
    assert names(watch) == [["1.weight", "1.bias"],
                            ["2.weight", "2.bias", "0.weight", "0.bias"]]
    model[1].weight.register_hook(lambda gradient: gradient * math.nan)
    train(model, (first, second), watch, 1)
    del model[0]
    second.param_groups.pop()
    train(model, (first, second), watch, 2)
    assert names(watch) == [["0.weight", "0.bias"], ["1.weight", "1.bias"]]
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).bad_ops()[("1.weight", "grad_input")] == 4


@pytest.mark.parametrize("steps", range(10, 42, 4))
def test_the_model_s_own_after_copies_of_it(daemon, name, steps, monkeypatch):
    """Which were new at each step: the model is not searched for each."""
    Counted.begin(monkeypatch)
    model = Counted(nn.Linear(8, 8))
    own = list(model.parameters())

    def copy():
        return nn.Parameter(torch.cat(
            [p.detach().reshape(-1) for p in own]))

    optimizer = torch.optim.SGD([copy()], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for _ in range(steps):
        optimizer.param_groups[0]["params"] = [copy()]
        optimizer.param_groups[0]["params"][0].grad = torch.ones(72)
        optimizer.step()
        watch.step(1.0)
    optimizer.param_groups[0]["params"] = own
    assert Counted.walks < 20
    train(model, [optimizer], watch, 40)
    assert names(watch) == [["0.weight", "0.bias"]]
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).worst == ""


def test_one_that_comes_back_is_not_another(daemon, name):
    """An optimizer is without it while a second one gets a new tensor."""
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    own = [nn.Parameter(torch.zeros(8)) for _ in range(3)]
    first = torch.optim.SGD([*model[0].parameters(), own[0]], lr=1e-3)
    second = torch.optim.SGD([*model[1].parameters(), own[1]], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, [first, second], run=name, address=daemon.address)

    def update(*optimizers):
        loss = model(torch.ones(1, 8)).sum() + sum(o.sum() for o in own)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        watch.step(loss)

    update(first, second)
    mine = first.param_groups[0]["params"]
    mine.pop()
    second.param_groups[0]["params"][-1] = own[2]
    update(second)
    mine.append(own[0])
    update(first, second)
    seen = [p for f in watch._followed for p in f._usual[0]]
    assert len(set(map(id, seen))) == len({p.name for p in seen}) == 6
    assert all(p.tensor is not None for p in seen)
    assert watch.close(20) and watch.run.stats.bad_input == 0


def test_what_is_replaced_before_an_update_is_let_go(daemon, name):
    model = Points()
    optimizer = torch.optim.Adam(
        [{"params": [p], "name": n} for n, p in model.named_parameters()],
        lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for i in range(30):
        loss = model()
        loss.backward()
        if i == 20:
            before = grow(model, optimizer)
        optimizer.step()
        optimizer.zero_grad()
        watch.step(loss)
        if i == 20:
            del loss
            gc.collect()
            assert [r() is None for r in before] == [True] * 2
    assert watch.close(20) and watch.run.stats.bad_input == 0


@pytest.mark.parametrize("away", [1, 9])
def test_groups_that_shrink_and_grow(daemon, name, away, monkeypatch):
    """Nothing comes of it that would be worth a walk at each step."""
    Counted.begin(monkeypatch)
    torch.manual_seed(1)
    model = Counted(*(nn.Linear(8, 8) for _ in range(10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    every = list(model.parameters())
    for i in range(200):
        optimizer.param_groups[0]["params"] = every[:-2 * away * (i % 2) or 20]
        train(model, [optimizer], watch, 1)
    assert Counted.walks < 30
    assert names(watch) == [[n for n, _ in model.named_parameters()][:20 - 2 * away]]
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).worst == ""


def test_a_module_that_goes_where_gradients_are_absent(daemon, name):
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(4)))
    model.forward = lambda x: model[-2](x)
    optimizer = torch.optim.SGD(
        [{"params": m.parameters()} for m in model], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    train(model, [optimizer], watch, 3)
    del model[0]
    optimizer.param_groups.pop(0)
    train(model, [optimizer], watch, 3)
    assert names(watch) == [[n for n, _ in model.named_parameters()]]
    assert watch.close(20) and watch.run.stats.bad_input == 0


class Log(nn.Module):
    def forward(self, x):
        return x.log()


def test_modules_that_were_replaced(daemon, name):
    """They are let go, and those in their place are looked at."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    before = weakref.ref(model[1])
    for i in range(STEPS):
        if i == 20:
            model[1] = nn.Sequential(nn.Softplus(), Log())
        optimizer.zero_grad()
        batch = torch.randn(4, 8)
        if i >= FAULT:
            batch = batch.sign() * 1e4  # of which softplus makes zeros
        loss = model(batch).square().mean()
        loss.backward()
        if loss.isfinite():
            optimizer.step()
        watch.step(loss)
    assert before() is None
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert ("1.1", "output") in Verdict(daemon, name).bad_ops()


@pytest.mark.parametrize("level", ["default", "ops"])
def test_tensors_may_be_swapped(daemon, name, level):
    """As PyTorch does with those of subclasses; it refuses where anybody has a
    weak reference to one."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with nanwatch.torch.watch(model, optimizer, run=name, level=level,
                                  address=daemon.address) as watch:
            for kind in (torch.float32, torch.float64, torch.float32):
                model.to(kind)
                model.load_state_dict(model.state_dict())
                for _ in range(10):
                    optimizer.zero_grad()
                    loss = model(torch.ones(1, 4, dtype=kind)).sum()
                    loss.backward()
                    optimizer.step()
                    watch.step(loss)
                optimizer.zero_grad()
                del loss
                gc.collect()
            assert watch.flush(20) and watch.run.stats.bad_input == 0
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
    assert Verdict(daemon, name).steps == 30


def test_an_optimizer_s_own_are_not_kept_either(daemon, name):
    model = nn.Linear(4, 4)
    own = nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([*model.parameters(), own], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (model(torch.ones(1, 4)) * own).sum()
        loss.backward()
        optimizer.step()
        watch.step(loss)
        own = nn.Parameter(own.detach().clone())
        optimizer.param_groups[0]["params"][2] = own
    assert len(watch._followed[0]._parameters) <= 4
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).worst == ""


@pytest.mark.parametrize("level", ["default", "layers"])
def test_one_that_grows_in_place(daemon, name, level):
    """The parameter is the same; its tensor, and its gradient, are larger."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, address=daemon.address)
    train(model, [optimizer], watch, 30)
    optimizer.zero_grad()
    first, _, last = model
    first.weight.data = torch.cat([first.weight.data] * 8)
    first.bias.data = torch.cat([first.bias.data] * 8)
    last.weight.data = torch.cat([last.weight.data] * 8, 1) / 8
    train(model, [optimizer], watch, 30)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 60, it


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LazyLinear(8)
        self.body = nn.Sequential(nn.LazyLinear(8))
        self.never = nn.LazyLinear(8)

    def forward(self, x):
        return self.body(self.first(x).relu())


@pytest.mark.parametrize("level", ("default", "layers", "ops"))
def test_lazy_modules(daemon, name, level):
    """Of which nothing is known before they are called, or ever; one that
    comes later, too."""
    torch.manual_seed(1)
    model = Lazy()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, level=level, address=daemon.address)
    train(model, [optimizer], watch, 20)
    assert names(watch) == [[n for n, _ in model.named_parameters()]]
    model.body.append(nn.Linear(8, 8))
    model.later = nn.LazyLinear(8)
    optimizer.add_param_group({"params": model.body[1].parameters()})
    model.body[1].weight.register_hook(
        lambda gradient: gradient * math.nan if watch._current.number == 40
        else gradient)
    train(model, [optimizer], watch, 21)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 41, it
    assert it.bad_ops() == {("body.1.weight", "grad_input"): 40}, it


def test_gradients_of_inference_mode(daemon, name):
    """An evolution strategy, of several losses each."""
    torch.manual_seed(1)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for _ in range(STEPS):
        with torch.inference_mode():
            for parameter in model.parameters():
                parameter.grad = torch.randn_like(parameter)
            loss = model(torch.randn(4, 8)).square().mean()
        for _ in range(3):
            watch.step(loss)
        optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == STEPS, it


def test_names_after_many_were_frozen(daemon, name):
    """Looks into the model that found nothing new do not hold up one that
    would."""
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(16)))
    optimizer = torch.optim.SGD(
        [{"params": layer.parameters()} for layer in model], lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address)
    for _ in range(14):
        optimizer.param_groups.pop(0)
        train(model, [optimizer], watch, 2)
    model.append(nn.Linear(8, 8))
    optimizer.add_param_group({"params": model[16].parameters()})
    train(model, [optimizer], watch, 1)
    assert names(watch)[0][-2:] == ["16.weight", "16.bias"]
    assert watch.close(20) and watch.run.stats.bad_input == 0
