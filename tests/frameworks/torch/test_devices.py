"""What comes later from a device. No device is here: tensors of the CPU are
treated like one's, and arrive when the test says so."""

import math

import pytest
import torch
from models import Training
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout


class Event:
    """Of a copy that takes some steps."""

    def __init__(self, clock, steps):
        self.clock, self.due = clock, clock[0] + steps

    def query(self):
        return self.clock[0] >= self.due

    def synchronize(self):
        """Only where somebody says that he waits."""


@pytest.fixture(params=[0, 3])
def clock(request, monkeypatch):
    """Steps so far; each copy arrives so many steps later."""
    clock = [0]
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(
        readout, "_copy", lambda flat: (flat, Event(clock, request.param)))
    clock.append(request.param)
    return clock


def train(training, watch, clock, steps):
    for _ in range(steps):
        watch.step(training.step())
        clock[0] += 1


def watched(training, daemon, name, level):
    return nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        level=level, budget=1e9, address=daemon.address)


@pytest.mark.parametrize("level", ("default", "layers", "ops"))
def test_healthy(daemon, name, clock, level):
    training = Training("pictures")
    watch = watched(training, daemon, name, level)
    train(training, watch, clock, 40)
    assert len(watch._untold) == clock[1], "the newest are on their way"
    assert watch.flush(10) and watch.close(10)
    assert watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 40, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 65536.0 and values["grad_norm"] > 0


@pytest.mark.parametrize("level", ["default", "ops"])
def test_where_a_nan_is_born(daemon, name, clock, level):
    training = Training("pictures")
    watch = watched(training, daemon, name, level)
    train(training, watch, clock, 40)
    forward = training.model.features[2].forward
    training.model.features[2].forward = lambda x: forward(x) * math.nan
    train(training, watch, clock, 30)
    assert watch.flush(10) and watch.close(10)
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "features.2", it
    assert it.step == 40, f"whenever modules were looked at: {it}"


def test_an_optimizer_that_decides_on_the_device(daemon, name, clock):
    """Fused ones unscale and skip themselves: nobody is asked on the host."""
    training = Training("pictures", init_scale=2.0**40, clip=None)
    training.optimizer = torch.optim.AdamW(
        training.model.parameters(), lr=1e-3, fused=True)
    watch = watched(training, daemon, name, "default")
    train(training, watch, clock, 60)
    assert watch.flush(10) and watch.close(10)
    it = Verdict(daemon, name)
    assert int(it.summary["skipped"]) == int(it.summary["overflows"]) > 5, it
    assert it.worst in ("", "info"), it


def test_a_weight_before_its_nan_is_in_all_of_them(daemon, name, clock):
    """No scaler skips an update that is made of NaN, and nobody knows of it on
    the host before it is over."""
    training = Training("pictures", dtype=torch.bfloat16, scaler=None)
    watch = watched(training, daemon, name, "default")
    train(training, watch, clock, 41)
    with torch.no_grad():
        training.model.features[2].weight.view(-1)[5] = math.nan
    train(training, watch, clock, 20)
    assert watch.flush(10) and watch.close(10)
    it = Verdict(daemon, name)
    assert it.worst == "critical" and it.step == 41, it
    weights = {op: step for (op, slot), step in it.bad_ops().items()
               if slot == "parameter"}
    assert weights == {"features.2.weight": 41}, it
    assert it.origin["op"] == "features.2.weight", it


def test_a_part_of_a_step(daemon, name, clock):
    training = Training("pictures", dtype=torch.bfloat16, scaler=None)
    watch = watched(training, daemon, name, "default")
    optimizer = training.optimizer
    for i in range(40):
        optimizer.zero_grad()
        for part in range(3):
            x, y = training.batches()
            bad = i == 25 and part == 1
            loss = training.forward(x * math.nan if bad else x, y) / 3
            loss.backward()
        optimizer.step()
        watch.step(loss)
        clock[0] += 1
        if i == 25:
            break
    assert watch.flush(10) and watch.close(10)
    it = Verdict(daemon, name)
    assert it.origin["op"] == "loss, part 2 of 3" and it.step == 25, it


def test_what_was_told_of_a_part_is_what_it_was_then(daemon, name, clock):
    """A program may well tell a sum to which it adds."""
    training = Training("pictures", dtype=torch.float32, scaler=None)
    watch = watched(training, daemon, name, "default")
    means = []
    for i in range(10):
        training.optimizer.zero_grad()
        total, told = torch.zeros(()), []
        for _ in range(4):
            loss = training.forward(*training.batches())
            loss.backward()
            total += loss.detach()
            told.append(total.item())
            if len(told) < 4:
                watch.step(total)
        training.optimizer.step()
        watch.step(total)
        means.append(sum(told) / 4)
        clock[0] += 1
    assert watch.flush(10) and watch.close(10)
    it = Verdict(daemon, name)
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert it.steps == 10
    assert values["loss"] == pytest.approx(means[-1], rel=1e-6)


class Slow:
    """An event that is over when it was asked some times."""

    def __init__(self):
        self.asked = 0

    def query(self):
        self.asked += 1
        return self.asked > 5


@pytest.mark.parametrize("ends", ["flush", "close"])
def test_who_ends_the_run_has_the_last_steps(daemon, name, monkeypatch, ends):
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(readout, "_copy", lambda flat: (flat, Slow()))
    training = Training("pictures")
    run = nanwatch.init(run=name, address=daemon.address)
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=run)
    for _ in range(12):
        watch.step(training.step())
    assert len(watch._untold) > 0
    assert getattr(run, ends)(10)
    assert Verdict(daemon, name).steps == 12
    run.close(10)


class Lost(readout._Queue):
    """Numbers that cannot be brought from their device."""

    def flat(self):
        raise RuntimeError("the device is lost")


def test_what_cannot_be_read_is_one_step(daemon, name, clock):
    training = Training("pictures")
    watch = watched(training, daemon, name, "default")
    train(training, watch, clock, 20)
    watch._current.readout._queues["lost"] = Lost(torch.device("meta"), None)
    train(training, watch, clock, 20)
    assert watch.flush(10) and watch.close(10)
    assert watch.run.stats.bad_input == 1
    it = Verdict(daemon, name)
    assert it.worst == "" and it.steps == 39, it


def test_what_cannot_be_told_is_one_step(daemon, name, clock):
    training = Training("pictures")
    watch = watched(training, daemon, name, "default")
    tell = watch._teller._judge

    def failing(step, *more):
        if step.number == 7:
            raise IndexError(7)
        return tell(step, *more)

    watch._teller._judge = failing
    train(training, watch, clock, 200)
    assert watch.close(10) and watch.run.stats.bad_input == 1
    assert Verdict(daemon, name).steps == 199


def test_numbers_of_several_devices():
    """The meta device stands for another one."""
    its = readout.Readout()
    norms = [torch.tensor(3.0), torch.tensor(1.0, device="meta"),
             torch.tensor(4.0)]
    added = its.add_mixed(norms)
    assert added[0] == [3.0, 4.0] and len(added) == 2
    assert added[1].queue[0].type == "meta" and added[1].count == 1
    assert its.mixed(added[:1]) == [3.0, 4.0]
