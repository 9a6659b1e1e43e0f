"""What is called without gradients beside a forward pass of the training is no
part of it: of another network's targets, an actor's thread, an evaluation."""

import threading

import torch
from torch import nn

import nanwatch
from nanwatch._torch.modules import Modules


def at_ops():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 1))
    modules = Modules(model, lambda _, work, *of: work(*of))
    modules.enable()
    return model, modules


def results(modules):
    return [row for row in modules.rows
            if row.module == 0 and row.slot == "output" and not row.backward]


def without_gradients(model, times=1):
    with torch.no_grad():
        for _ in range(times):
            model(torch.randn(4, 8))


def test_a_second_call_is_none():
    model, modules = at_ops()
    loss = model(torch.randn(4, 8)).sum()
    before = len(modules.rows)
    without_gradients(model)
    assert len(modules.rows) == before and len(results(modules)) == 1
    loss.backward()
    assert any(row.backward for row in modules.rows)


def test_another_thread_is_none():
    model, modules = at_ops()
    within, over = threading.Event(), threading.Event()

    def act():
        within.wait(10)
        without_gradients(model, 5)
        over.set()

    actor = threading.Thread(target=act)
    actor.start()

    def pause(*_):
        if threading.current_thread() is not actor and not within.is_set():
            within.set()
            assert over.wait(10)

    model[1].register_forward_hook(pause)
    model(torch.randn(4, 8))
    actor.join()
    assert len(results(modules)) == 1
    assert len(modules.rows) == 8  # an input and an output each


def test_an_evaluation_after_a_batch_that_was_skipped_is_none():
    model, modules = at_ops()
    model(torch.randn(4, 8))
    before = len(modules.rows)
    without_gradients(model, 200)
    assert len(modules.rows) == before


def test_nothing_is_left_on_the_model():
    model, modules = at_ops()
    modules.disable()
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
    watch = nanwatch.torch.watch(
        model, torch.optim.SGD(model.parameters(), lr=0.1), level="ops")
    watch.close(0)
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
