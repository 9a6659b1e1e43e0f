"""Numbers of a GPU arrive late, and are those of their step; nobody waits for
them, and none stays there."""

import pytest
import torch
from gpu_trainings import (
    needs_a_gpu, text, told_by, train, two_streams, verdict, watched)
from models import Texts

import nanwatch

pytestmark = needs_a_gpu


@pytest.mark.parametrize("how", ["busy", "another stream", "two streams"])
@pytest.mark.parametrize("level", ["default", "ops"])
def test_each_number_is_that_of_its_step(daemon, name, level, how):
    """However far behind the device is."""
    it = text("bf16", model=two_streams if how == "two streams" else None)
    seen = []

    def norm(_):
        if how != "two streams":
            torch.cuda._sleep(2_000_000)  # cycles, about a millisecond
        grads = [p.grad for p in it.model.parameters()]
        norms = torch.stack(torch._foreach_norm(grads))
        seen.append(torch.linalg.vector_norm(norms))

    it.before_update = norm
    if how == "another stream":
        stream, step = torch.cuda.Stream(), it.step
        stream.wait_stream(torch.cuda.current_stream())

        def on_stream():
            with torch.cuda.stream(stream):
                return step()

        it.step = on_stream
    watch = watched(it, daemon, name, level)
    told = told_by(watch)
    losses = []
    for _ in range(400):
        loss = it.step()
        losses.append(loss.detach())
        watch.step(loss)
    verdict(daemon, watch, name, 400)
    assert [n for n, _, _ in told] == list(range(400))
    torch.cuda.synchronize()
    for (_, loss, grad_norm), its, norm in zip(told, losses, seen):
        assert loss == its.item()
        assert grad_norm == pytest.approx(norm.item(), rel=1e-5)


@pytest.mark.parametrize("kind", ["bf16", "fp32"])
@pytest.mark.parametrize("level", nanwatch.torch.LEVELS)
def test_nothing_waits(daemon, name, level, kind):
    """PyTorch raises where it does, but for what nobody can wait for."""
    it = text(kind)
    x, y = it.batches()
    it.batches = lambda: (x, y)
    it.batches.loss = Texts.loss
    watch = watched(it, daemon, name, level)
    train(it, watch, 3)
    torch.cuda.set_sync_debug_mode("error")
    try:
        train(it, watch, 300)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert watch.close(30)
    assert watch.run.stats.bad_input == 0, watch.run.stats


@pytest.mark.parametrize("level", nanwatch.torch.LEVELS)
def test_memory_stays(daemon, name, level):
    it = text()
    watch = watched(it, daemon, name, level)
    train(it, watch, 300)
    before = torch.cuda.memory_allocated()
    train(it, watch, 300)
    assert torch.cuda.memory_allocated() <= before + (64 << 10)
    watch.close(30)
