"""Programs that update several times before they say that a step is over, and
programs whose numbers are not those of updates."""

import math
import random
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout
from nanwatch._torch.current import Current
from nanwatch._torch.numbering import Numbering
from nanwatch._torch.optimizers import Followed
from nanwatch._torch.update import Update

UPDATES, FAULT = 300, 143


@pytest.fixture(params=["host", "device"])
def place(request, monkeypatch):
    if request.param == "device":
        monkeypatch.setattr(readout, "HOSTS", set())


def small():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))


def batch_loss(model, noise=0.0):
    x = torch.randn(32, 8)
    return (model(x) - x.sum(1, keepdim=True)
            + noise * torch.randn(32, 1)).square().mean()


def train(watch, model, optimizer, tell, updates=UPDATES, fault=None):
    """`tell` is called with the number of each update and its loss."""
    for i in range(updates):
        optimizer.zero_grad()
        loss = batch_loss(model, noise=0.3)
        loss.backward()
        if i == fault:
            model[2].bias.grad[0] = math.nan
        optimizer.step()
        tell(i, loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0


def watched(daemon, name, model, optimizer, **more):
    return nanwatch.torch.watch(
        model, optimizer, run=name, address=daemon.address, **more)


def by_updates(watch, every):
    return lambda i, loss: i % every == every - 1 and watch.step(loss, step=i)


def without_numbers(watch, every):
    return lambda i, loss: i % every == every - 1 and watch.step(loss)


def by_epochs(watch, every):
    return lambda i, loss: i % every == every - 1 and watch.step(
        loss, step=i // every)


# 64 are told without a step; here the step comes just then.
TELLS = [(by_updates, 10), (by_updates, 64), (by_updates, 100),
         (without_numbers, 10), (without_numbers, 64), (without_numbers, 100)]


@pytest.mark.parametrize("numbered,every",
                         [*TELLS, (by_epochs, 10), (by_epochs, 100)])
def test_healthy_ones_that_are_told_seldom(daemon, name, place, numbered, every):
    model = small()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    watch = watched(daemon, name, model, optimizer)
    train(watch, model, optimizer, numbered(watch, every))
    it = Verdict(daemon, name)
    # At 64 of a step they are told without it, and it for itself.
    assert it.worst == "" and it.steps >= UPDATES // every, it
    if every == 10 and numbered is not by_epochs:
        assert it.steps == UPDATES, it


@pytest.mark.parametrize("numbered,every", TELLS)
def test_what_goes_wrong_has_its_update(daemon, name, place, numbered, every):
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    watch = watched(daemon, name, model, optimizer)
    train(watch, model, optimizer, numbered(watch, every), fault=FAULT)
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_backward" and it.origin["op"] == "2.bias", it
    # Of those that are told without a step, before there was one, it is not
    # known where the program's numbers go.
    assert it.step == FAULT, it


@pytest.mark.parametrize("every", [10, 100])
def test_what_goes_wrong_has_its_epoch(daemon, name, place, every):
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    watch = watched(daemon, name, model, optimizer)
    train(watch, model, optimizer, by_epochs(watch, every), fault=FAULT)
    it = Verdict(daemon, name)
    # The loss of its last update is not finite, nor are weights in the next.
    assert it.worst == "critical" and it.origin["op"] == "2.bias", it
    assert it.step in (FAULT // every, FAULT // every + 1), it


def test_a_program_that_never_says_so(daemon, name, place):
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    watch = watched(daemon, name, model, optimizer)
    train(watch, model, optimizer, lambda i, loss: None, fault=FAULT)
    it = Verdict(daemon, name)
    # Its updates have one number: what came first is all that is told.
    assert it.worst == "critical", it
    assert it.bad_ops() == {("2.bias", "grad_input"): 0}, it


def test_modules_rows_are_of_their_update(daemon, name):
    class Log(nn.Module):
        def forward(self, x):
            return x.log()

    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.Softplus(), Log(),
                          nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    watch = watched(daemon, name, model, optimizer, level="ops", budget=1e9)
    for i in range(60):
        optimizer.zero_grad()
        x = torch.randn(32, 8)
        loss = model(x * (-1e4 if i == 33 else 1.0)).square().mean()
        loss.backward()
        optimizer.step()
        if i % 10 == 9:
            watch.step(loss, step=i)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_forward" and it.origin["op"] == "2", it
    assert it.step == 33, it


@pytest.mark.parametrize("number", [lambda i: i, lambda i: 4 * (i + 1),
                                    lambda i: 256 * (i + 1), lambda i: 0])
def test_looks_go_by_updates(daemon, name, monkeypatch, number):
    looks = []
    measure = Followed.measure_gradients

    def counting(self, readout, **how):
        looks.append((how["largest"], how["zeros"]))
        return measure(self, readout, **how)

    monkeypatch.setattr(Followed, "measure_gradients", counting)
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    watch = watched(daemon, name, model, optimizer, level="layers")
    train(watch, model, optimizer,
          lambda i, loss: watch.step(loss, step=number(i)), updates=64)
    assert looks == [(i % 4 == 0, i % 4 == 0) for i in range(64)]


def agents(count):
    torch.manual_seed(1)
    model = nn.ModuleList(nn.Linear(8, 1) for _ in range(count))
    return model, {f"agent {i}": torch.optim.SGD(each.parameters(), 1e-3)
                   for i, each in enumerate(model)}


@pytest.mark.parametrize("count", [7, 8, 20])
def test_many_optimizers(daemon, name, count):
    """More than a run can tell apart are one."""
    model, optimizers = agents(count)
    watch = watched(daemon, name, model, optimizers)
    for i in range(100):
        for each, optimizer in zip(model, optimizers.values()):
            optimizer.zero_grad()
            loss = batch_loss(each)
            loss.backward()
            if i == 90 and each is model[5]:
                each.bias.grad[0] = math.nan
            optimizer.step()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == (700 if count == 7 else 100), it
    assert it.cause == "nan_from_backward" and it.step == 90, it
    assert it.origin["op"] == "5.bias", it


@pytest.mark.parametrize("layers", [3, 30])
def test_an_optimizer_for_each_parameter(daemon, name, layers):
    """Which updates it within the backward pass."""
    torch.manual_seed(1)
    model = nn.Sequential(*(layer for _ in range(layers)
                            for layer in (nn.Linear(8, 8), nn.Tanh())),
                          nn.Linear(8, 1))
    optimizers = {p: torch.optim.SGD([p], 1e-3) for p in model.parameters()}

    def update(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in optimizers:
        parameter.register_post_accumulate_grad_hook(update)
    watch = watched(daemon, name, model, list(optimizers.values()))
    for _ in range(60):
        loss = batch_loss(model)
        loss.backward()
        watch.step(loss)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 60, it


def told(steps, since=()):
    """Numbers, where a program gives these and has made so many updates for
    each; `since`: which of them were told without, by how many."""
    numbering = Numbering()
    found = []
    for i, (given, updates) in enumerate(steps):
        for without in dict(since).get(i, ()):
            found.append(numbering.of_untold(without))
            updates -= without
        if updates == 1 and numbering.untold is None:
            found.append([numbering.of_one(given)])
        else:
            found.append(numbering.of_step(given, updates))
    return found


def test_numbers_that_count_updates():
    assert told([(0, 1), (1, 1), (5, 4)]) == [[0], [1], [2, 3, 4, 5]]
    assert told([(9, 10)]) == [[*range(10)]]
    assert told([(99, 100), (199, 100)], {1: (64,)}) == [
        [*range(100)], [*range(100, 164)], [*range(164, 200)]]


@pytest.mark.parametrize("first", [0, 10000])
def test_numbers_of_each_hundredth_update(first):
    """The first of which is told at once."""
    found = told([(first, 1), (first + 100, 100)], {1: (64,)})
    assert found == [[first], [*range(first + 1, first + 65)],
                     [*range(first + 65, first + 101)]]


def test_numbers_of_steps_whose_updates_are_all_told():
    assert told([(63, 64), (127, 64), (191, 64)],
                {0: (64,), 1: (64,), 2: (64,)}) == [
        [0] * 64, [63], [*range(64, 128)], [127], [*range(128, 192)], [191]]
    assert told([(None, 64), (None, 64)], {0: (64,), 1: (64,)}) == [
        [0] * 64, [63], [*range(64, 128)], [127]]


def test_numbers_of_batches_of_which_several_make_an_update():
    assert told([(39, 10), (79, 10), (479, 100)], {2: (64,)}) == [
        [39] * 10, [*range(43, 80, 4)],
        [*range(80, 144)], [*range(339, 480, 4)]]


@pytest.mark.parametrize("steps", [
    # Of batches: 8 make an update at first, then 2.
    [(799, 100), (1599, 100), (1799, 100), (1999, 100)],
    # Of iterations, of which some end after one update.
    [(0, 80), (1, 1), (2, 80), (3, 80)],
    [(0, 1), (1, 1), (2, 1), (3, 80), (4, 80)],
])
def test_numbers_do_not_go_back(steps):
    without = {i: (64,) for i, (_, updates) in enumerate(steps) if updates > 64}
    numbers = [n for step in told(steps, without) for n in step]
    assert numbers == sorted(numbers)


def test_whatever_is_counted_no_number_goes_back():
    for seed in range(500):
        draw = random.Random(seed)
        given, steps, without = draw.choice([-1, 0, 999]), [], {}
        for i in range(draw.randint(2, 8)):
            updates = draw.choice([1, 1, 2, 3, 10, 70, 130])
            given += draw.choice([1, updates, 2 * updates, 64 * updates])
            steps.append((given, updates))
            without[i] = (64,) * (updates // 64)
        numbers = [n for step in told(steps, without) for n in step]
        assert numbers == sorted(numbers) and numbers[0] >= 0, (seed, steps)


def test_what_is_numbered_by_something_else_does_not_go_back():
    """Steps without numbers, and evaluations with those of their epochs."""
    numbering = Numbering()
    assert [numbering.of_one(None) for _ in range(50)] == [*range(50)]
    assert numbering.of_step(3, 0) == [49]
    assert numbering.of_one(None) == 50
    # A program that does go back, as to a checkpoint.
    numbering = Numbering()
    assert [numbering.of_one(i) for i in (10, 11, 5)] == [10, 11, 5]


def test_numbers_go_on_in_another_watch():
    before = Numbering()
    before.of_step(9, 10)
    after = before.goes_on()
    assert after.of_step(19, 10) == [*range(10, 20)]
    before.of_untold(64)
    assert before.goes_on().of_step(99, 26) == [*range(74, 100)]


def test_numbers_that_nobody_gives():
    assert told([(None, 1), (None, 3), (None, 1)]) == [[0], [1, 2, 3], [4]]
    assert told([(None, 1), (None, 100)], {1: (64,)}) == [
        [0], [*range(1, 65)], [*range(65, 101)]]
    # Before the first of all it is not known.
    assert told([(None, 100), (None, 10)], {0: (64,)}) == [
        [0] * 64, [*range(64, 100)], [*range(100, 110)]]


def test_numbers_of_epochs():
    assert told([(0, 10), (1, 10)]) == [[0] * 10, [1] * 10]
    assert told([(50, 36), (51, 36)]) == [[50] * 36, [51] * 36]
    # It is not known of the first ones which epoch they are of.
    assert told([(1000, 100), (1001, 100)], {0: (64,), 1: (64,)}) == [
        [0] * 64, [1000] * 36, [1001] * 64, [1001] * 36]


def test_numbers_of_more_updates_than_there_are_numbers():
    """Two an iteration, of which each 50th is told."""
    assert told([(49, 100), (99, 100)], {0: (64,), 1: (64,)}) == [
        [0] * 64, [49] * 36, [50] * 64, [99] * 36]


def test_an_evaluation_aside_forgets_no_update():
    """It is told while updates of the step that goes on are not."""
    current = Current(1, together=False)
    followed = SimpleNamespace(updates=0)
    current.add(Update(followed))
    for take in (current.take, current.take_one):
        with current.aside([]):
            take()
        assert current.ahead(followed) == len(current.updates) == 1


def test_a_phase_that_has_numbers_of_its_own_begins_again():
    """After one without; the first of them might still be an epoch's."""
    numbering = Numbering()
    assert [numbering.of_one(None) for _ in range(50)] == [*range(50)]
    assert [numbering.of_one(i) for i in range(30)] == [49, *range(1, 30)]
    # Evaluations, of which some come together.
    numbering = Numbering()
    assert [numbering.of_one(None) for _ in range(50)] == [*range(50)]
    assert [numbering.of_step(i, 0)[0] for i in (0, 0, 1)] == [49] * 3
    assert numbering.of_one(None) == 50
    # By epochs of several updates.
    numbering = Numbering()
    assert [numbering.of_one(None) for _ in range(50)] == [*range(50)]
    assert numbering.of_step(0, 0) == [49]
    assert {n for i in range(1, 4) for n in numbering.of_step(i, 20)} == {49}
    assert numbering.of_one(None) == 50
