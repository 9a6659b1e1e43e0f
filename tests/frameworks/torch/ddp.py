"""One rank of a training on two: ddp.py ADDRESS RUN FAULT [LEVEL]. torchrun or
the test sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

import math
import sys

import torch
from models import Training
from torch import nn

import nanwatch


def main(address, run, fault, level="default"):
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    training = Training("pictures", seed=1)
    training.batches.random.manual_seed(100 + rank)
    plain = training.model
    training.model = nn.parallel.DistributedDataParallel(plain)
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=run,
        level=level, budget=1e9, address=address)
    for i in range(100):
        if rank == 1 and i == 50:
            if fault == "nan":
                forward = plain.features[2].forward
                plain.features[2].forward = lambda x: forward(x) * math.nan
            elif fault == "drift":
                with torch.no_grad():
                    plain.classifier.weight.mul_(1.05)
            elif fault == "own scaler":
                training.scaler.update(2.0**10)
        watch.step(training.step())
    assert watch.close(20), watch.run.stats
    assert watch.run.stats.bad_input == 0
    torch.distributed.destroy_process_group()


main(*sys.argv[1:])
