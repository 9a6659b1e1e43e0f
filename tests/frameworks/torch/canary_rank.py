"""One rank of a training on two, with a canary: canary_rank.py ADDRESS RUN
FAULT. The test sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

import sys

import torch
from models import Training
from torch import nn

import nanwatch

EVERY = 5


def main(address, run, fault):
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    training = Training("pictures", dtype=torch.float32, scaler=None, clip=None)
    training.batches.random.manual_seed(100 + rank)
    plain = training.model
    training.model = nn.parallel.DistributedDataParallel(plain)
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, run=run, address=address)

    def loss_of(call, batch):
        x, y = batch
        out = call(x)
        if fault == "not repeated" and rank == 1:
            out = out * (1 + 1e-3 * next(noise))
        return training.batches.loss(out, y)

    noise = iter(range(1000))
    canary = nanwatch.torch.canary(
        plain, loss_of, run + "-canary", every=EVERY, address=address)
    drawn = []
    training.batches = Drawn(training.batches, drawn)
    for i in range(100):
        if rank == 1 and i == 50 and fault == "device":
            forward = plain.classifier.forward
            plain.classifier.forward = lambda x: forward(x) * (1 + 1e-5)
        loss = training.step()
        watch.step(loss)
        canary.step(drawn.pop())
    assert canary.repeats == (fault != "not repeated")
    weights = torch.cat([p.detach().flatten() for p in plain.parameters()])
    other = weights.clone()
    torch.distributed.broadcast(other, 0)
    assert torch.equal(weights, other)  # the replicas stayed equal
    assert canary.close(20) and watch.close(20)
    torch.distributed.destroy_process_group()


class Drawn:
    """Batches, the newest of which is kept."""

    def __init__(self, batches, drawn):
        self._batches, self._drawn = batches, drawn

    def __call__(self):
        batch = self._batches()
        self._drawn[:] = [batch]
        return batch

    def loss(self, out, y):
        return self._batches.loss(out, y)


main(*sys.argv[1:])
