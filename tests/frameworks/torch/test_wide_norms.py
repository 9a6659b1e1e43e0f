"""Finite gradients whose squares leave the range of fp32: their norm is a
number, and nothing is born in the backward pass."""

import math

import pytest
import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch import readout, statistics
from nanwatch._torch.readout import Readout
from nanwatch._torch.statistics import Shapes, Sizes


def sizes_of(tensors, **how):
    read = Readout()
    sizes = Sizes(tensors, Shapes(tensors), read, largest=False, zeros=False,
                  **how)
    read.start()
    read.finish()
    return sizes, read


@pytest.mark.parametrize("dtype, size", [
    (torch.float32, 1e25), (torch.bfloat16, 2.0**100), (torch.float32, 3e38)])
def test_on_a_host_the_norm_has_64_bits(dtype, size):
    tensors = [torch.full((16,), size, dtype=dtype), torch.ones(4, dtype=dtype)]
    assert torch._foreach_norm([t.float() for t in tensors])[0].isinf()
    sizes, read = sizes_of(tensors)
    exact = 4 * tensors[0][0].item()
    assert sizes.norms(read) == pytest.approx([exact, 2.0], rel=1e-6)
    assert sizes.plain and sizes.healthy(read) and not sizes.counts
    assert [r.bad for r in sizes.read(read, [1.0, 1.0])] == [False, False]


def test_where_64_bits_do_not_do_the_largest_stands_for_it():
    sizes, read = sizes_of([torch.tensor([1e200, -3e200], dtype=torch.double)])
    assert sizes.norms(read) == [3e200] and sizes.plain


def test_it_is_divided_as_the_others_are():
    sizes, read = sizes_of([torch.full((4,), 1e25), torch.ones(4)],
                           divide_by=torch.tensor(2.0))
    assert sizes.norms(read) == pytest.approx([1e25, 1.0])


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_one_that_is_not_finite_is_seen_among_them(bad):
    sizes, read = sizes_of([torch.tensor([1e25, bad]), torch.ones(4)])
    assert not math.isfinite(sizes.norms(read)[0])
    assert not sizes.plain and not sizes.healthy(read)
    assert [r.bad for r in sizes.read(read, [1.0, 1.0])] == [True, False]


ON_A_DEVICE = [torch.tensor([1e25, -2e25]), torch.ones(4),
               torch.full((400,), 1e18), torch.tensor([1.0, math.inf])]


@pytest.mark.skipif(
    statistics.wide_norms_of(ON_A_DEVICE) is None,
    reason="PyTorch does that from 2.4 on")
def test_on_a_device_all_have_64_bits(monkeypatch):
    monkeypatch.setattr(readout, "HOSTS", set())
    sizes, read = sizes_of(ON_A_DEVICE)
    assert sizes.largest is None, "nobody asked, and it was not needed"
    assert sizes.norms(read)[:3] == pytest.approx([5**0.5 * 1e25, 2.0, 2e19])
    assert [r.bad for r in sizes.read(read, [1.0] * 4)] == [
        False, False, False, True]
    halves, read = sizes_of(ON_A_DEVICE, divide_by=torch.tensor(2.0))
    assert halves.norms(read)[2] == pytest.approx(1e19)


def test_on_one_that_has_none_what_it_is_at_least_stands_for_it(monkeypatch):
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(statistics, "WITH_64_BITS", set())
    sizes, read = sizes_of(ON_A_DEVICE)
    assert sizes.norms(read)[:3] == pytest.approx([2e25, 2.0, 2.0**64])
    assert [r.bad for r in sizes.read(read, [1.0] * 4)] == [
        False, False, False, True]


def regression(daemon, name, optimizer, x_of, steps, clip=False):
    """What is said of it. `optimizer` is made of the parameters, of the dtype
    of what `x_of` gives."""
    torch.manual_seed(1)
    model = nn.Linear(2, 1, dtype=x_of().dtype)
    made = optimizer(model.parameters())
    with nanwatch.torch.watch(
            model, made, run=name, address=daemon.address) as watch:
        for _ in range(steps):
            x = x_of()
            loss = (model(x).squeeze() - x.mean(1)).square().mean()
            made.zero_grad()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            made.step()
            watch.step(loss)
        assert watch.flush(20) and watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


def large(dtype):
    return lambda: 1e10 * (1 + torch.rand(32, 2, dtype=dtype))


def test_a_regression_on_raw_timestamps(daemon, name):
    """Diverges because of its data, by finite gradients at first."""
    it = regression(daemon, name, lambda of: torch.optim.SGD(of, lr=1e-9),
                    lambda: 1.7e9 + 1e5 * torch.rand(32, 2), steps=60)
    assert it.worst == "critical", it
    assert "backward" not in it.headline, it
    assert it.cause not in ("nan_from_backward", "silent_corruption"), it


@pytest.mark.parametrize("clip", [False, True])
def test_weights_that_stand_still_because_of_it(daemon, name, clip):
    """A clip makes 0 of all gradients, Adam divides by infinity."""
    kind = torch.optim.SGD if clip else torch.optim.Adam
    it = regression(daemon, name, lambda of: kind(of, lr=1e-3),
                    large(torch.float32), steps=40, clip=clip)
    assert it.worst == "warning", it
    assert "no number of fp32" in " ".join(it.text.split()), it
    assert "spoilt" not in it.text and "backward" not in it.headline, it


def test_doubles_hold_its_square(daemon, name):
    it = regression(daemon, name, lambda of: torch.optim.Adam(of, lr=1e-3),
                    large(torch.float64), steps=40)
    assert it.worst == "" and it.info["precision"] == "fp64", it
