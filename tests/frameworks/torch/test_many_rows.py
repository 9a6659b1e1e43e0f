"""A step may have more rows than a run takes at once: many micro-batches, many
modules, many parameters. What is told then is where it begins."""

import math

import pytest
import torch
from models import Training
from verdicts import Verdict

import nanwatch
from nanwatch._torch.statistics import norms_of


def test_the_first_rows_are_taken_and_the_rest_is_counted(daemon, name):
    with nanwatch.init(run=name, address=daemon.address,
                       buffer_rows=50) as run:
        ops = [run.register_op(f"op{i}", type="Linear") for i in range(200)]
        run.ops({"op": ops, "step": [0] * 200, "slot": ["output"] * 200,
                 "nan": [0, 7] + [9] * 198})
        run.step(0, loss=1.0)
        assert run.flush(20), run.stats
        assert run.stats.dropped == 150 and run.stats.bad_input == 0
    bad = Verdict(daemon, name).bad_ops()
    assert ("op1", "output") in bad and ("op49", "output") in bad
    assert ("op50", "output") not in bad


def test_the_flight_recorder_tells_the_newest_that_fit(
        daemon, name, monkeypatch):
    training = Training("text")
    parameters = len(list(training.model.parameters()))
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        address=daemon.address, buffer_rows=10 * parameters)
    for _ in range(24):
        watch.step(training.step())
        assert watch.flush(20)
    told = []
    teller = watch._untold._teller
    push = teller._push
    monkeypatch.setattr(
        teller, "_push", lambda rows: (told.append(rows._step), push(rows)))
    watch._untold.tell_kept(0)
    assert watch.flush(20) and watch.run.stats.dropped == 0
    assert told == sorted(told) and told[-1] >= 22 and 5 <= len(told) <= 10
    watch.close(10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("wide", [False, True])
def test_norms_of_16_bits_are_those_of_32(dtype, order, wide):
    tensors = [torch.randn(300, 7).to(dtype), torch.full((5,), 3e4).to(dtype),
               torch.randn(4), torch.tensor([1.0, math.nan]).to(dtype)]
    if wide:
        tensors.append(torch.randn(4, dtype=torch.float64))
    norms = norms_of(tensors, True, order)
    expected = torch._foreach_norm([t.float() for t in tensors], order)
    assert all(n.dtype is torch.float32 for n in norms)
    assert torch.stack(norms).tolist() == pytest.approx(
        torch.stack(list(expected)).tolist(), nan_ok=True)
