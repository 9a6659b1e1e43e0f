"""CUDA graphs: what they record is computed by each replay, without a call of
Python's."""

import math

import pytest
import torch
from gpu_trainings import (
    capturable, needs_a_gpu, said, text, told_by, train, verdict, watched)
from verdicts import Verdict

import nanwatch

pytestmark = needs_a_gpu


def whole_graph(it, watch, warm=3):
    """A training step that is recorded once: inputs, graph, loss."""
    x, y = (t.clone() for t in it.batches())

    def step():
        it.optimizer.zero_grad(set_to_none=True)
        loss = it.forward(x, y)
        loss.backward()
        it.optimizer.step()
        return loss

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warm):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    it.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step()
    return (x, y), graph, loss


def norm_of(it):
    norms = torch._foreach_norm([p.grad for p in it.model.parameters()])
    return torch.linalg.vector_norm(torch.stack(norms)).item()


def replayed(it, watch, graph, static, loss, steps, update=lambda: None):
    """Loss and norm of each step."""
    seen = []
    for i in range(steps):
        for tensor, new in zip(static, it.batches()):
            tensor.copy_(new)
        graph.replay()
        seen.append((loss.item(), norm_of(it)))
        update()
        watch.step(loss)
        if i == steps // 2:
            yield seen
    yield seen


def as_seen(told, seen):
    assert len(told) == len(seen)
    for (_, loss, norm), (its_loss, its_norm) in zip(told, seen):
        assert loss == its_loss
        assert norm == pytest.approx(its_norm, rel=1e-5)


@pytest.mark.parametrize("level", nanwatch.torch.LEVELS)
def test_a_whole_step_as_a_graph(daemon, name, level):
    """No optimizer is called any more: each replay is an update."""
    it = text("bf16", clip=None, optimizer=capturable)
    watch = watched(it, daemon, name, level)
    told = told_by(watch)
    static, graph, loss = whole_graph(it, watch)
    halves = replayed(it, watch, graph, static, loss, 300)
    next(halves)
    assert watch.flush(20)
    assert Verdict(daemon, name).worst in ("", "info"), Verdict(daemon, name)
    with torch.no_grad():
        it.model.blocks[1].fc1.weight[3, 5] = math.nan
    seen = next(halves)
    found = verdict(daemon, watch, name, 303)
    finite = [s for s in seen if math.isfinite(s[0])]
    as_seen(told[3:3 + len(finite)], finite)
    assert found.worst == "critical", found
    assert found.cause == "nan_from_forward" and found.step == 3 + 151, found
    assert found.origin["op"] == "blocks.1.fc1.weight", found


def test_a_graph_that_was_recorded_before(daemon, name, caplog):
    """Nothing is known of its updates, and it is said."""
    it = text("bf16", clip=None, optimizer=capturable)
    static, graph, loss = whole_graph(it, None)
    watch = watched(it, daemon, name)
    seen = list(replayed(it, watch, graph, static, loss, 300))[-1]
    assert watch.close(30)
    found = Verdict(daemon, name)
    assert found.worst in ("", "info") and found.steps > 200, found
    (what,) = said(caplog)
    assert "CUDA graph" in what
    assert found.summary["values"][0]["last"] == seen[-1][0], found


@pytest.mark.parametrize("kind", ["bf16", "fp16"])
@pytest.mark.parametrize("level", ["default", "ops"])
def test_forward_and_backward_as_a_graph(daemon, name, kind, level):
    """The optimizer is called, and nobody sees what goes backward."""
    it = text(kind, clip=None)
    watch = watched(it, daemon, name, level)
    told = told_by(watch)
    x, y = (t.clone() for t in it.batches())

    def passes():
        it.optimizer.zero_grad(set_to_none=True)
        loss = it.forward(x, y)
        (it.scaler.scale(loss) if it.scaler else loss).backward()
        return loss

    def update():
        if it.scaler:
            it.scaler.step(it.optimizer)
            it.scaler.update()
        else:
            it.optimizer.step()

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            passes()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = passes()
    seen = list(replayed(it, watch, graph, (x, y), loss, 200, update))[-1]
    if it.scaler:
        seen = [(loss, norm / 65536) for loss, norm in seen]
    found = verdict(daemon, watch, name, 200)
    assert found.worst in ("", "info"), found
    as_seen(told, seen)


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("first", ["graphed", "watched"])
def test_graphed_callables(daemon, name, first, level):
    it = text("bf16")
    x, _ = it.batches()
    if first == "graphed":
        it.model = torch.cuda.make_graphed_callables(it.model, (x,))
    watch = watched(it, daemon, name, level)
    if first == "watched":
        it.model = torch.cuda.make_graphed_callables(it.model, (x,))
    train(it, watch, 300)
    told = verdict(daemon, watch, name, 300)
    assert told.worst in ("", "info"), told
