"""A Trainer of Lightning's with the loss scaler that it makes itself."""

import math
import warnings

import lightning
import pytest
import torch
from lightning.pytorch.plugins import MixedPrecision
from torch import nn
from verdicts import Verdict

import nanwatch


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
        assert it.origin["op"] == "net.2" and it.step == 21, it
    else:  # the update of the first NaN spoilt all weights before any look
        assert "op" not in it.origin and it.step == 20, it
