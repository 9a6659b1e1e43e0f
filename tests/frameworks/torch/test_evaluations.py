"""Losses that are told and do not go backward: of an evaluation, of a guard
before the backward pass, or of a training by means that are not seen."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout

STEPS, FAULT = 60, 40


class Trained:
    """A small net whose told losses are kept."""

    def __init__(self, daemon, name, monkeypatch):
        torch.manual_seed(1)
        self.model = nn.Sequential(
            nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.watch = nanwatch.torch.watch(
            self.model, self.optimizer, run=name, address=daemon.address)
        self.told, tell = [], self.watch._teller.tell

        def keep(step):
            if not step.only_if_bad:
                self.told.append(step.loss)
            tell(step)

        monkeypatch.setattr(self.watch._teller, "tell", keep)

    def loss(self):
        return self.model(torch.randn(8, 16)).square().mean()

    def update(self, parts=1, without=(), step=None):
        losses = []
        for part in range(parts):
            loss = self.loss() / parts
            if part not in without:
                loss.backward()
            if part == parts - 1:
                self.optimizer.step()
                self.optimizer.zero_grad()
            losses.append(loss)
            self.watch.step(loss * math.nan if part in without else loss,
                            step=step)
        return losses

    def close(self):
        assert self.watch.close(20) and self.watch.run.stats.bad_input == 0


def counted(daemon, name):
    """Updates, and skipped ones."""
    it = Verdict(daemon, name)
    return it.steps, int(it.summary.get("skipped", 0))


@pytest.fixture(params=["host", "device"])
def place(request, monkeypatch):
    if request.param == "device":
        monkeypatch.setattr(readout, "HOSTS", set())
    return request.param


def test_are_no_part_of_a_step(daemon, name, monkeypatch, place):
    it = Trained(daemon, name, monkeypatch)
    for i in range(STEPS):
        it.update()
        for _ in range(5 * (i % 10 == 9)):
            it.watch.step(torch.tensor(50.0))
    it.close()
    assert len(it.told) == STEPS and max(it.told) < 1.0, it.told
    assert counted(daemon, name) == (STEPS, 0)
    assert Verdict(daemon, name).worst == ""


def test_one_that_is_nan_is_an_update_left_out(
        daemon, name, monkeypatch, place):
    it = Trained(daemon, name, monkeypatch)
    for i in range(STEPS):
        if i == FAULT:
            it.watch.step(torch.tensor(math.nan))
        it.update()
    it.close()
    found = Verdict(daemon, name)
    assert found.worst == "warning" and found.step == FAULT, found
    assert counted(daemon, name) == (STEPS + 1, 1)


def test_a_micro_batch_that_did_not_go_backward(
        daemon, name, monkeypatch, place):
    it = Trained(daemon, name, monkeypatch)
    for i in range(STEPS):
        losses = it.update(4, without=[1] if i == FAULT else ())
        if i == FAULT:
            of_step = sum(float(x) for x in losses) - float(losses[1])
    it.close()
    assert [x for x in it.told if math.isclose(x, of_step / 3, rel_tol=1e-5)]
    found = Verdict(daemon, name)
    assert found.worst == "warning" and found.step == FAULT, found
    assert counted(daemon, name) == (STEPS + 1, 1)


def test_many_on_a_device_are_read_together(daemon, name, monkeypatch):
    """Nothing waits for them."""
    monkeypatch.setattr(readout, "HOSTS", set())
    it = Trained(daemon, name, monkeypatch)
    untold = it.watch._untold
    waited, tell_ready = [], untold.tell_ready

    def look(most=math.inf):
        waited.append(len(untold) > most)
        tell_ready(most)

    monkeypatch.setattr(untold, "tell_ready", look)
    for i in range(STEPS):
        it.update()
        for k in range(500 * (i == 30)):
            it.watch.step(torch.tensor(math.nan if k == 300 else 50.0))
    assert not any(waited)
    it.close()
    assert len(it.told) == STEPS and max(it.told) < 1.0
    assert Verdict(daemon, name).worst == "warning"
    assert counted(daemon, name) == (STEPS + 1, 1)


@pytest.mark.parametrize("mode, graph", [
    ("training", True), ("training", False), ("evaluation", True)])
def test_hundreds_are_of_a_training_that_is_not_seen(
        daemon, name, monkeypatch, mode, graph):
    """CUDA graphs of whole steps call no hook, and write no version. What has
    no graph, or a model that is not in training mode, is evaluated."""
    it = Trained(daemon, name, monkeypatch)
    for _ in range(5):
        it.update()
    it.model.train(mode == "training")
    parameters = list(it.model.parameters())
    for _ in range(300):
        loss = it.loss()
        for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
            p.data.sub_(g, alpha=1e-3)
        it.watch.step(loss if graph else loss.item())
    it.model.train()
    for _ in range(5):
        it.update()
    it.close()
    seen = mode == "training" and graph
    assert len(it.told) == 10 + 300 * seen
    assert Verdict(daemon, name).worst == ""


@pytest.mark.parametrize("fault", [None, 2])
def test_one_with_an_epoch_s_number_does_not_go_back(
        daemon, name, monkeypatch, fault):
    """Steps have numbers of their own, and one evaluation is not finite."""
    it = Trained(daemon, name, monkeypatch)
    for i in range(200):
        it.update(step=i)
        if i % 40 == 39:
            epoch = i // 40
            it.watch.step(math.nan if epoch == fault else 1.0, step=epoch)
    it.close()
    found = Verdict(daemon, name)
    assert found.summary["attempt"] == 0, found
    if fault is not None:
        assert found.step == 119, found
    assert counted(daemon, name)[0] == 200 + (fault is not None)


@pytest.mark.parametrize("number, told", [
    (np.int64(1), 79), (1.0, 79), (True, 80)])  # the last one is none
def test_numbers_of_any_kind_do_not_go_back(
        daemon, name, monkeypatch, number, told):
    it = Trained(daemon, name, monkeypatch)
    for i in range(80):
        it.update(step=i)
    it.watch.step(math.nan, step=number)
    for i in range(80, 120):
        it.update(step=i)
    it.watch.close(20)
    found = Verdict(daemon, name)
    assert found.summary["attempt"] == 0 and found.step == told, found


def test_steps_go_on_after_one_with_a_number_of_its_own(
        daemon, name, monkeypatch):
    """Of samples, between the batches of an update."""
    it = Trained(daemon, name, monkeypatch)
    for i in range(100):
        if i == 60:
            it.loss().backward()
            it.watch.step(math.nan, step=64_000)
        it.update(step=i)
    it.close()
    assert int(Verdict(daemon, name).summary["last_step"]) == 99


def test_thousands_are_no_update_of_another_s(daemon, name, monkeypatch):
    it = Trained(daemon, name, monkeypatch)
    for i in range(12):
        it.update()
        for _ in range(5000 * (i == 9)):
            it.watch.step(3.0)
        assert len(it.watch._losses.waiting) < 1025
    it.close()
    assert len(it.told) == 12 and max(it.told) < 1.0
    assert Verdict(daemon, name).worst == ""


class Heads(nn.Module):
    """Of which a batch uses one."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(16, 8).requires_grad_(False)
        self.heads = nn.ModuleList(nn.Linear(8, 1) for _ in range(8))

    def forward(self, x, head):
        return self.heads[head](self.body(x))


@pytest.mark.parametrize("parts", [2, 8])
def test_each_of_many_heads_is_a_part(daemon, name, monkeypatch, parts):
    torch.manual_seed(1)
    it = Trained(daemon, name, monkeypatch)
    it.watch.close(20)
    model = Heads()
    optimizer = torch.optim.SGD(
        [p for p in model.parameters() if p.requires_grad], lr=1e-4)
    watch = nanwatch.torch.watch(
        model, optimizer, run=name + "heads", address=daemon.address)
    told, tell = [], watch._teller.tell
    monkeypatch.setattr(
        watch._teller, "tell", lambda step: (told.append(step.loss), tell(step)))
    means = []
    for i in range(200):
        mean = 0.0
        for part in range(parts):
            head = (i * 3 + part * 5 + i * i) % 8
            loss = (model(torch.randn(8, 16), head) + head).square().mean()
            loss.backward()
            if part == parts - 1:
                optimizer.step()
                optimizer.zero_grad()
            watch.step(loss)
            mean += loss.item() / parts
        means.append(mean)
    assert watch.close(20) and watch.run.stats.bad_input == 0
    wrong = [i for i, (a, b) in enumerate(zip(told, means))
             if not math.isclose(a, b, rel_tol=1e-5)]
    assert wrong == []


def test_a_guard_on_a_device_that_none_passes(daemon, name, monkeypatch):
    monkeypatch.setattr(readout, "HOSTS", set())
    it = Trained(daemon, name, monkeypatch)
    for _ in range(FAULT):
        it.update()
    for _ in range(100):
        it.watch.step(it.loss() * math.nan)
    it.close()
    found = Verdict(daemon, name)
    assert found.worst == "critical" and found.step == FAULT, found
