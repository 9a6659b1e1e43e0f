"""DeepSpeed's own engine on a CPU, in one process. Of fp16 it says that a CPU
does not support it; torch does, and `half_on_a_cpu` says so. The first run
builds DeepSpeed's op for collectives, which takes a minute."""

import os
import pathlib
import sys

# Its build needs ninja, which stands beside Python.
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:" + os.environ[
    "PATH"]
os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0",
                  WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29873")

import deepspeed  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402
from forgotten import ends  # noqa: E402
from ranks import ranks_say  # noqa: E402
from verdicts import Verdict  # noqa: E402

import nanwatch  # noqa: E402
from nanwatch._torch import readout  # noqa: E402


@pytest.fixture
def half_on_a_cpu(monkeypatch):
    accelerator = type(deepspeed.accelerator.get_accelerator())
    monkeypatch.setattr(accelerator, "is_fp16_supported", lambda self: True)


def engine_of(kind, stage, parts=1, **scaling):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(),
                                torch.nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=optimizer, config={
            "train_micro_batch_size_per_gpu": 16,
            "gradient_accumulation_steps": parts,
            "gradient_clipping": 1.0,
            "zero_optimization": {"stage": stage},
            "zero_allow_untested_optimizer": True,
            kind: {"enabled": True, **scaling},
        })
    return engine


def train(daemon, name, engine, steps, poison=None):
    torch.manual_seed(2)
    y = torch.randint(0, 2, (16,))
    x = torch.randn(16, 16) + y[:, None]
    dtype = next(engine.module.parameters()).dtype
    with nanwatch.deepspeed.watch(
            engine, run=name, address=daemon.address) as watch:
        for i in range(steps):
            data = x * float("nan") if poison and i >= poison else x
            loss = torch.nn.functional.cross_entropy(
                engine(data.to(dtype)).float(), y)
            engine.backward(loss)
            engine.step()
            watch.step(loss)
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    return Verdict(daemon, name)


def test_bf16_with_parts_of_a_step(daemon, name):
    it = train(daemon, name, engine_of("bf16", 1, parts=2), 100)
    assert it.worst == "" and it.steps == 50, it
    assert it.info["settings"]["zero_stage"] == "1"


@pytest.mark.parametrize("stage", [0, 2])
def test_fp16_comes_down_from_a_high_scale(daemon, name, half_on_a_cpu, stage):
    engine = engine_of("fp16", stage, initial_scale_power=24, hysteresis=1,
                       loss_scale_window=1000)
    it = train(daemon, name, engine, 60)
    assert it.worst != "critical" and it.steps == 60, it
    assert int(it.summary["skipped"]) == engine.skipped_steps > 0, it
    assert it.info["scaler"]["init_scale"] == 2.0**24, it


class Event:
    """Of a copy that arrives some optimizer steps later."""

    def __init__(self, engine):
        self.engine, self.due = engine, engine.global_steps + 3

    def query(self):
        return self.engine.global_steps >= self.due

    def synchronize(self):
        """Only at the end, where the run is closed."""


def test_nothing_waits_for_the_device(daemon, name, monkeypatch):
    """Tensors of the CPU are treated like a device's."""
    engine = engine_of("bf16", 1, parts=2)
    monkeypatch.setattr(readout, "HOSTS", set())
    monkeypatch.setattr(readout, "_copy", lambda flat: (flat, Event(engine)))
    told = []
    with nanwatch.deepspeed.watch(
            engine, run=name, address=daemon.address) as watch:
        tell = watch._pending._tell
        watch._pending._tell = lambda step: (
            told.append((step.number, engine.global_steps)), tell(step))
        y = torch.randint(0, 2, (16,))
        for _ in range(40):
            loss = torch.nn.functional.cross_entropy(
                engine(torch.randn(16, 16).bfloat16()).float(), y)
            engine.backward(loss)
            engine.step()
            watch.step(loss)
        assert len(watch._pending) == 3, "the newest are on their way"
        assert told == [(i, i + 4) for i in range(17)]
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert it.steps == 20 and values["loss"] > 0 and values["grad_norm"] > 0


def test_a_loss_that_is_none_does_not_hide_the_step(daemon, name):
    engine = engine_of("bf16", 1)
    with nanwatch.deepspeed.watch(
            engine, run=name, address=daemon.address) as watch:
        for loss in ("a string", torch.zeros(3), None):
            engine.backward(engine(torch.randn(16, 16).bfloat16()).sum())
            engine.step()
            watch.step(loss)
        assert watch.run.stats.bad_input == 2
        assert watch.run.flush(15)
    assert Verdict(daemon, name).steps == 3


def test_places_of_two_ranks():
    here = pathlib.Path(__file__).resolve().parent
    assert ranks_say(here / "places.py") == [
        [{"dp": rank}, {"dp": rank, "ep": rank}] for rank in range(2)]


def test_a_forgotten_watch_ends_its_run(daemon, name):
    def cell():
        engine = engine_of("bf16", 1)
        watch = nanwatch.deepspeed.watch(
            engine, run=name, address=daemon.address)
        for _ in range(20):
            loss = engine(torch.randn(16, 16).bfloat16()).square().mean()
            engine.backward(loss)
            engine.step()
            watch.step(loss)
        return watch

    ends(daemon, name, cell, 20)


def test_what_cannot_be_watched_is_trained(caplog):
    with nanwatch.deepspeed.watch("an engine") as watch:
        watch.step(1.0)
    assert caplog.text.count("this training is not watched") == 1
