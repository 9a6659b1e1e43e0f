"""What is built on PyTorch, on a GPU."""

import math
import warnings

import pytest
import torch
from gpu_trainings import (
    ALL_MODULES, BEGIN, needs_a_gpu, text, train, verdict, watched)
from models import CharTransformer, Texts
from torch import nn
from verdicts import Verdict

import nanwatch

pytestmark = needs_a_gpu


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize("fault", [None, "nan", "rate"])
def test_hugging_face(daemon, name, tmp_path, kind, level, fault):
    tiny = pytest.importorskip("tiny_gpt2")
    callback = nanwatch.transformers.Callback(
        run=name, address=daemon.address, level=level, budget=ALL_MODULES)
    model = tiny.gpt2()
    its = tiny.trainer(
        tmp_path, callback, 300, model, use_cpu=False,
        fp16=kind == "fp16", bf16=kind == "bf16")
    if fault == "nan":
        mlp = model.transformer.h[1].mlp
        forward, calls = mlp.forward, []

        def poisoned(x):
            calls.append(1)
            return forward(x) * (math.nan if len(calls) > BEGIN else 1.0)

        mlp.forward = poisoned
    elif fault == "rate":
        pytest.importorskip("transformers")
        from transformers import TrainerCallback

        class Faster(TrainerCallback):
            def on_step_begin(self, args, state, control, **more):
                if state.global_step >= BEGIN:
                    for group in more["optimizer"].param_groups:
                        group["lr"] = 0.3

        its.add_callback(Faster())
    its.train()
    assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 300, it
    if fault is None:
        assert it.worst in ("", "info"), it
    elif fault == "nan":
        assert it.worst == "critical" and it.cause == "nan_from_forward", it
        assert it.origin.get("op") in ("transformer.h.1.mlp", None), it
        assert it.step - BEGIN in (1, 2, 3), it
    else:
        assert "divergence" in [c["cause"] for c in it.causes], it


@pytest.mark.parametrize("level", ["default", "ops"])
@pytest.mark.parametrize("kind", ["16-mixed", "bf16-mixed", "32-true"])
def test_lightning(daemon, name, kind, level):
    lightning = pytest.importorskip("lightning")
    batches = Texts(1, 32, 64)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = CharTransformer(
                width=128, heads=4, blocks=4, length=64)

        def training_step(self, batch, index):
            x, y = batches()
            return Texts.loss(self.net(x), y)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    callback = nanwatch.lightning.Callback(
        run=name, address=daemon.address, level=level, budget=ALL_MODULES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_steps=300, accelerator="gpu", devices=1, precision=kind,
            callbacks=[callback], logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
            gradient_clip_val=1.0)
        trainer.fit(Module(), torch.utils.data.DataLoader(
            torch.zeros(400, 1), batch_size=1))
    assert callback.watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 300 and it.worst in ("", "info"), it


@pytest.mark.parametrize("wrapping", ["ddp", "fully_shard"])
@pytest.mark.parametrize("level", ["default", "ops"])
def test_one_rank(daemon, name, tmp_path, wrapping, level):
    torch.distributed.init_process_group(
        "nccl", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        it = text("bf16")
        if wrapping == "ddp":
            it.model = nn.parallel.DistributedDataParallel(it.model)
        else:
            from torch.distributed import fsdp

            for block in it.model.blocks:
                fsdp.fully_shard(block)
            it.model = fsdp.fully_shard(it.model)
        it.optimizer = torch.optim.AdamW(it.model.parameters(), lr=3e-4)
        watch = watched(it, daemon, name, level)
        train(it, watch, 150)
        told = verdict(daemon, watch, name, 150)
    finally:
        torch.distributed.destroy_process_group()
    assert told.worst in ("", "info"), told
