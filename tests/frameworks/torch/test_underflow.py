"""Gradients that fp16 loses below its smallest number, at level "layers"."""

import pytest
import torch
from models import Training
from verdicts import Verdict

import nanwatch
from nanwatch._torch.readout import Readout
from nanwatch._torch.underflow import measure, share


def lost(exact, scale):
    """What is measured of it, and what is so."""
    half = (exact * scale).half()
    readout = Readout()
    counts = readout.numbers(
        measure([half.float() / scale], scale, 5, readout))
    gone = (half == 0) & (exact != 0)
    return share(counts, whole=True), gone.double().mean().item()


@pytest.mark.parametrize("bits", [-6, -3, -1, 0, 1, 2, 4, 8])
@pytest.mark.parametrize("structural", [0.0, 0.5])
def test_a_bell(bits, structural):
    """Of a standard deviation of 2^bits of the smallest number; half of them
    0 from the beginning, as behind a ReLU."""
    torch.manual_seed(1)
    exact = torch.randn(200_000, dtype=torch.double) * 2.0**(bits - 24 - 10)
    exact[torch.rand(exact.shape) < structural] = 0.0
    told, truth = lost(exact, 1024.0)
    if bits <= -1:  # where little is left it is of all zeros
        assert told <= truth + structural
    else:
        assert 0.8 * truth <= told <= 2.0 * truth + 0.001, (told, truth)


@pytest.mark.parametrize("spread", [2.0, 4.0])
@pytest.mark.parametrize("middle, most", [(0, 1.0), (10, 0.03), (20, 0.002)])
def test_wide_ranges(spread, middle, most):
    """Of octaves, as gradients mostly are."""
    torch.manual_seed(1)
    octaves = torch.randn(200_000, dtype=torch.double) * spread + middle - 24
    told, truth = lost(torch.exp2(octaves), 1.0)
    assert told <= most, (told, truth)
    if truth > 0.1:
        assert told > 0.1, (told, truth)


def test_what_is_on_no_grid_is_not_judged():
    assert lost(torch.rand(1000).double() * 2.0**-30, 2.0**8)[0] is not None
    readout = Readout()
    small = [torch.rand(1000) * 2.0**-26]
    counts = readout.numbers(measure(small, 1.0, 0, readout))
    assert share(counts, whole=True) is None
    assert measure([], 1.0, 0, readout) is None


def train(daemon, name, scaler, steps, level="layers"):
    training = Training("pictures")
    if scaler is not None:
        training.scaler = scaler
    with nanwatch.torch.watch(
            training.model, training.optimizer, training.scaler, run=name,
            level=level, address=daemon.address) as watch:
        for _ in range(steps):
            watch.step(training.step())
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    return it, {v["field"]: v["last"] for v in it.summary["values"]}


def test_a_scale_that_is_too_low(daemon, name):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**-4,
                                  growth_interval=1 << 30)
    it, values = train(daemon, name, scaler, 240)
    assert it.worst in ("warning", "critical"), it
    assert it.cause == "underflow", it
    assert values["underflow_fraction"] > 0.05, it
    said = daemon.nanwatch("diagnose", name).stdout
    assert "bits of room above the largest gradient" in said, said
    assert "Raise the loss scale" in said, said


def test_a_healthy_training(daemon, name):
    it, values = train(daemon, name, None, 300)
    assert it.worst == "" and values["underflow_fraction"] < 0.01, it


def test_default_does_not_measure_it(daemon, name):
    _, values = train(daemon, name, None, 20, level="default")
    assert "underflow_fraction" not in values


def test_autocast_to_bf16_loses_nothing_of_fp16(daemon, name):
    """Whatever a PyTorch says of its casts."""
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with nanwatch.torch.watch(model, optimizer, run=name, level="layers",
                              address=daemon.address) as watch:
        for _ in range(60):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = model(torch.randn(64, 16)).square().mean() * 1e-6
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert not any(p.half for p in watch._named.of(
            list(model.parameters()))) or not watch._teller.names.half
    assert Verdict(daemon, name).worst == ""
