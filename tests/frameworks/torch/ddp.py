"""One rank of a training on two: ddp.py ADDRESS RUN FAULT [LEVEL [WRAPPING
[KIND [SIZE [SEED]]]]], which is ddp, fsdp (of 1.x), fully_shard, none or
declared: none, and told to be a replica. torchrun or the test sets RANK,
WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

import contextlib
import math
import sys

import torch
from models import Training
from torch import nn

import nanwatch


def wrapped(model, wrapping):
    if wrapping in ("none", "declared"):
        return model
    if wrapping == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    from torch.distributed import fsdp

    if wrapping == "fsdp":
        return fsdp.FullyShardedDataParallel(
            model, device_id=torch.device("cpu"), use_orig_params=True)
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    return fsdp.fully_shard(model, mesh=mesh)


def average(model, least=0):
    """Of gradients, as people do it by hand; of those with so many axes."""
    for p in model.parameters():
        if p.grad is not None and p.ndim >= least:
            torch.distributed.all_reduce(p.grad)
            p.grad /= torch.distributed.get_world_size()


def accumulated(training):
    """A step of four parts, of which the last one exchanges gradients."""
    training.optimizer.zero_grad()
    for part in range(4):
        alone = (training.model.no_sync() if part < 3
                 else contextlib.nullcontext())
        with alone:
            loss = training.forward(*training.batches())
            training.scaler.scale(loss / 4).backward()
    training.scaler.step(training.optimizer)
    training.scaler.update()
    return loss


def main(address, run, fault, level="default", wrapping="ddp",
         kind="pictures", size="", seed="1"):
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    sharded = {} if wrapping in ("ddp", "none", "declared") else {
        "dtype": torch.float32, "scaler": None, "clip": None}
    training = Training(kind, seed=int(seed), **sharded)
    training.batches.random.manual_seed(100 * int(seed) + rank)
    plain = training.model
    training.model = wrapped(plain, wrapping)
    if sharded:
        training.optimizer = torch.optim.AdamW(training.model.parameters())
    layers = list(plain.parameters())
    if fault == "unfreezing":  # from the last layer on
        training.optimizer = torch.optim.AdamW(layers[-2:])
    elif fault == "freezing":
        training.optimizer = torch.optim.AdamW(
            [{"params": [p]} for p in layers])
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=run,
        level=level, budget=1e9, address=address,
        **({"dp": (rank, 2)} if wrapping == "declared" else {}))
    torch.distributed.barrier()
    if fault == "by hand":
        training.before_update = lambda _: average(plain)
    elif fault == "biases forgotten":
        training.before_update = lambda _: average(plain, 2)
    for i in range(100):
        groups = training.optimizer.param_groups
        if fault == "unfreezing" and i % 10 == 9 and 2 * len(groups) < len(
                layers):
            end = len(layers) - 2 * len(groups)
            training.optimizer.add_param_group({"params": layers[end - 2:end]})
        elif fault == "freezing" and i % 10 == 9 and len(groups) > 2:
            groups.pop(0)
        if rank == 1 and i == 50:
            if fault == "nan":
                forward = plain.features[2].forward
                plain.features[2].forward = lambda x: forward(x) * math.nan
            elif fault == "drift":
                layer = plain.norm if kind == "text" else plain.classifier
                with torch.no_grad():
                    layer.weight.mul_(1.0 + float(size or 0.05))
            elif fault == "own rate":
                groups[0]["lr"] /= 2
            elif fault == "own scaler":
                training.scaler.update(
                    training.scaler.get_scale() / float(size or 64))
        alone = (training.model.no_sync() if fault == "no sync"
                 else contextlib.nullcontext())
        with alone:
            watch.step(accumulated(training) if fault == "accumulates"
                       else training.step())
    assert watch.close(20), watch.run.stats
    assert watch.run.stats.bad_input == 0
    torch.distributed.destroy_process_group()


main(*sys.argv[1:])
