"""A Trainer of Lightning's with the loss scaler that it makes itself."""

import contextlib
import math
import warnings

import lightning
import pytest
import torch
from lightning.pytorch.plugins import MixedPrecision
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._run import Run


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, index):
        return self.net(batch[0]).float().square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def fit(daemon, name, module, steps, **more):
    random = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(
        torch.randn(4 * steps, 8, generator=random))
    callback = nanwatch.lightning.Callback(run=name, address=daemon.address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_steps=steps, accelerator="cpu", callbacks=[callback],
            logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, **more)
        trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=4))
    assert callback.watch.run.stats.bad_input == 0
    return Verdict(daemon, name)


@pytest.mark.parametrize("same", [False, True])
def test_a_training_that_begins_again(daemon, name, same):
    """After one that raised, with its callback or another one."""

    class Raises(Module):
        at = 10

        def training_step(self, batch, index):
            if self.global_step == self.at:
                self.at = -1
                raise RuntimeError("out of memory")
            return super().training_step(batch, index)

    module, loader = Raises(), torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(80, 8)), batch_size=4)
    callback = nanwatch.lightning.Callback(run=name, address=daemon.address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for again in range(2):
            if again and not same:
                callback = nanwatch.lightning.Callback(
                    run=name, address=daemon.address)
            trainer = lightning.Trainer(
                max_steps=20, accelerator="cpu", callbacks=[callback],
                logger=False, enable_checkpointing=False,
                enable_progress_bar=False, enable_model_summary=False)
            with contextlib.suppress(RuntimeError):
                trainer.fit(module, loader)
            assert callback.watch._closed
            assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 20 and int(it.summary["last_step"]) == 19, it


def test_an_optimizer_of_other_weights(daemon, name):
    class Forgets(Module):
        def configure_optimizers(self):
            return torch.optim.SGD(Module().parameters(), lr=1e-2)

    it = fit(daemon, name, Forgets(), 40)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "holds other weights" in it.headline, it


def test_a_loss_that_is_cut_off(daemon, name):
    class CutOff(Module):
        def training_step(self, batch, index):
            return super().training_step(batch, index) * 0.0 + 1.0

    it = fit(daemon, name, CutOff(), 100)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "exactly 0" in it.headline, it


def test_a_training_that_raises(daemon, name):
    class Raises(Module):
        def training_step(self, batch, index):
            if self.global_step == 10:
                raise ValueError("a bad label")
            return super().training_step(batch, index)

    with contextlib.suppress(ValueError):
        fit(daemon, name, Raises(), 20)
    it = Verdict(daemon, name)
    assert it.summary["ended_by"] == "ValueError: a bad label at step 9", it
    assert it.cause == "program_ended", it


def scaled():
    return MixedPrecision("16-mixed", "cpu", torch.amp.GradScaler("cpu"))


def test_with_a_scaler(daemon, name):
    it = fit(daemon, name, Module(), 40, plugins=[scaled()],
             gradient_clip_val=1.0)
    assert it.worst == "" and it.steps == 40, it
    assert it.info["precision"] == "fp16", it
    assert "loss_scale" in {v["field"] for v in it.summary["values"]}


def test_in_bf16(daemon, name):
    it = fit(daemon, name, Module(), 40, precision="bf16-mixed",
             accumulate_grad_batches=1)
    assert it.worst == "" and it.steps == 40, it
    assert it.info["precision"] == "bf16", it


@pytest.mark.parametrize("precision", ["scaled", "bf16-mixed"])
def test_where_a_nan_is_born(daemon, name, precision):
    module = Module()
    forward = module.net[2].forward

    def poisoned(x):
        return forward(x) * (math.nan if module.global_step >= 20 else 1.0)

    module.net[2].forward = poisoned
    more = {"plugins": [scaled()]} if precision == "scaled" else {
        "precision": precision}
    it = fit(daemon, name, module, 40, **more)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    if precision == "scaled":
        assert it.origin["op"] == "net.2", it
    else:  # the update of the first NaN spoilt all weights before any look
        assert "op" not in it.origin, it
    assert it.step == 20, it


@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize("precision", ["32", "bf16-mixed"])
def test_gradients_are_those_of_the_step(daemon, name, precision, clip):
    """Lightning computes them in a closure that the optimizer calls, and clips
    them there."""
    true = []

    class Norms(Module):
        def on_before_optimizer_step(self, optimizer):
            gradients = [p.grad for p in self.parameters()]
            if self.global_step == 20:
                for gradient in gradients:
                    gradient.mul_(1000.0)
            true.append(math.hypot(*(float(g.norm()) for g in gradients)))

    told = norms_told(
        lambda: fit(daemon, name, Norms(), 30, gradient_clip_val=clip,
                    precision=precision))
    assert told == pytest.approx(true, rel=1e-4)


def norms_told(work):
    """The gradient norm of each update, as a run is told of it."""
    told = []
    with pytest.MonkeyPatch.context() as patch:
        for method in ("step", "take_step"):
            original = getattr(Run, method)

            def step(self, *args, _original=original, **more):
                told.append(more.get("grad_norm"))
                return _original(self, *args, **more)

            patch.setattr(Run, method, step)
        work()
    return told


def test_it_stops_when_it_is_asked(daemon, name):
    class Asks(Module):
        def on_train_batch_start(self, batch, index):
            if self.global_step == 3:
                assert callback.watch.flush(10)
                daemon.nanwatch("stop", name, "--reason", "seen enough")

    callback = nanwatch.lightning.Callback(
        run=name, address=daemon.address, stop=True)
    data = torch.utils.data.TensorDataset(torch.randn(4 * 3000, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_steps=3000, accelerator="cpu", callbacks=[callback],
            logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Asks(), torch.utils.data.DataLoader(data, batch_size=4))
    assert 3 <= trainer.global_step < 3000
