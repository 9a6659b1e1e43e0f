"""Updates that are recorded, and made again without a call. No CUDA graph is
here: what is called while one is recorded is computed at once, and a replay
computes nothing; when it is told, and of which step, is as of a real one
(test_gpu_graphs.py)."""

import pytest
import torch
from models import Training
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch import graphs, readout
from nanwatch._torch.hooks import Hook


class Event:
    def query(self):
        return True

    def synchronize(self):
        pass


class Graph:
    """Its functions are followed as CUDA's are."""

    capture_begin = graphs._followed_begin(lambda graph: None)
    capture_end = graphs._followed_end(lambda graph: None)
    replay = graphs._followed_replay(lambda graph: None)


@pytest.fixture
def training(monkeypatch):
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(readout, "_copy", lambda flat: (flat, Event()))
    return Training("pictures", dtype=torch.float32, scaler=None, clip=None)


def watched(training, daemon, name, level="default"):
    return nanwatch.torch.watch(
        training.model, training.optimizer, run=name, level=level,
        budget=1e9, address=daemon.address)


def recorded(training):
    graph = Graph()
    graph.capture_begin()
    loss = training.step()
    graph.capture_end()
    return graph, loss.detach()


@pytest.mark.parametrize("level", ("default", "layers", "ops"))
def test_each_replay_is_an_update(daemon, name, training, level):
    watch = watched(training, daemon, name, level)
    for _ in range(3):
        watch.step(training.step())
    graph, loss = recorded(training)
    assert watch.flush(10) and Verdict(daemon, name).steps == 3
    norm = torch.linalg.vector_norm(torch.stack(
        [p.grad.norm() for p in training.model.parameters()])).item()
    for _ in range(10):
        graph.replay()
        watch.step(loss)
    assert watch.flush(10) and watch.close(10)
    assert watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert it.steps == 13 and int(it.summary["last_step"]) == 12, it
    assert values["grad_norm"] == pytest.approx(norm, rel=1e-5)
    assert values["loss"] == pytest.approx(loss.item(), rel=1e-6)


def test_of_several_replays_each_is_one(daemon, name, training):
    watch = watched(training, daemon, name)
    graph, loss = recorded(training)
    for _ in range(5):
        graph.replay()
        graph.replay()
        watch.step(loss)
    assert watch.close(10) and watch.run.stats.bad_input == 0
    assert Verdict(daemon, name).steps == 10


def test_one_that_was_recorded_before(daemon, name, training, caplog):
    graph, loss = recorded(training)
    watch = watched(training, daemon, name)
    for _ in range(100):
        graph.replay()
        watch.step(loss)
    assert watch.close(10)
    said = [r.getMessage() for r in caplog.records if r.name == "nanwatch"]
    assert len(said) == 1 and "CUDA graph" in said[0], said
    assert Verdict(daemon, name).steps > 30


def test_who_records_a_module_finds_no_hooks(daemon, name, training):
    def make_graphed_callables(callables, *args):
        for one in callables if isinstance(callables, tuple) else (callables,):
            for module in one.modules():
                assert not any(
                    isinstance(hook, Hook)
                    for hook in module._forward_hooks.values())
        return callables

    make = graphs._followed_maker(make_graphed_callables)
    watch = watched(training, daemon, name, "ops")
    assert make(training.model, ()) is training.model
    assert make((training.model, nn.ReLU()), ())[0] is training.model
    assert training.model._forward_hooks, "they are there again"
    assert watch.close(10)
