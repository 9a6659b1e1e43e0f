"""The size of updates, for which weights are copied: how often, and of which
trainings."""

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch import updates
from nanwatch._torch.updates import UpdateSize

STEPS = 200


@pytest.fixture
def copies(monkeypatch):
    """How many times weights were copied."""
    made = []
    copy_weights = UpdateSize.copy_weights

    def count(its, **how):
        copy_weights(its, **how)
        if its._before is not None:
            made.append(its)

    monkeypatch.setattr(UpdateSize, "copy_weights", count)
    return made


def train(daemon, name, model, optimizer, x, at=lambda _: None, **more):
    with nanwatch.torch.watch(
            model, optimizer, run=name, address=daemon.address,
            **more) as watch:
        for step in range(STEPS):
            at(step)
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    return {v["field"]: v["last"]
            for v in Verdict(daemon, name).summary["values"]}


def two_groups(rates=(1e-3, 1e-2)):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    return model, torch.optim.AdamW(
        [{"params": part.parameters(), "lr": rate}
         for part, rate in zip(model, rates)])


@pytest.mark.parametrize("level, times", [("default", 1), ("layers", 12)])
def test_how_often(daemon, name, copies, level, times):
    model, optimizer = two_groups()
    values = train(daemon, name, model, optimizer, torch.randn(8, 4),
                   level=level)
    assert values["update_norm"] > 0 and len(copies) == times


def test_a_schedule_of_all_groups_keeps_it(daemon, name, copies):
    model, optimizer = two_groups()
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(step, 50) / 50)
    train(daemon, name, model, optimizer, torch.randn(8, 4),
          lambda _: schedule.step(), level="layers")
    assert len(copies) == 12


def test_groups_whose_rates_part_are_not_judged_by_one(daemon, name, copies):
    """The norm is of all, and the rate that is told is of the first."""
    model, optimizer = two_groups()

    def at(step):
        if step == 100:
            optimizer.param_groups[0]["lr"] = 1e-6

    train(daemon, name, model, optimizer, torch.randn(8, 4), at,
          level="layers")
    assert len(copies) == 6


def test_what_an_update_that_raised_was_to_be_measured_with_is_let_go(
        daemon, name, monkeypatch):
    model, optimizer = two_groups()
    kept = []
    forget = updates.UpdateSize.forget

    def count(its):
        kept.append(its._before)
        forget(its)

    monkeypatch.setattr(updates.UpdateSize, "forget", count)

    def raises(*_):
        raise RuntimeError("out of memory")

    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for step in range(9):
            optimizer.zero_grad()
            loss = model(torch.randn(8, 4)).square().mean()
            loss.backward()
            if step < 8:
                optimizer.step()
                watch.step(loss)
        optimizer.register_step_pre_hook(raises)
        with pytest.raises(RuntimeError):
            optimizer.step()
        (its,) = watch._followed
        assert its.update_size._before is not None
    assert its.update_size._before is None and kept[-1] is not None


def test_a_tensor_without_numbers_costs_no_step(daemon, name, copies):
    model, optimizer = two_groups()
    optimizer.add_param_group({"lr": 0.01, "params": [
        nn.Parameter(torch.empty(3, device="meta")),
        nn.Parameter(torch.zeros(4, dtype=torch.bool), requires_grad=False)]})
    train(daemon, name, model, optimizer, torch.randn(8, 4))
    assert copies
    assert Verdict(daemon, name).steps == STEPS


def test_rows_of_an_embedding_do_not_copy_all_of_it(daemon, name, copies):
    model = nn.Embedding(1000, 4, sparse=True)
    train(daemon, name, model, torch.optim.SparseAdam(model.parameters()),
          torch.arange(8))
    assert not copies


def test_large_models_are_not_copied(daemon, name, copies, monkeypatch):
    monkeypatch.setattr(updates, "_MOST_COPIED", 4 * 24)
    model, optimizer = two_groups()
    train(daemon, name, model, optimizer, torch.randn(8, 4))
    assert not copies
