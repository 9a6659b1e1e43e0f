"""One rank of two. Prints its places in its parallel groups, by how the model
is wrapped. The test sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

import json
import sys

import torch
from torch import nn
from torch.distributed import fsdp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import parallel

import nanwatch._torch.places


def model_on(kind):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    rows = {"0": parallel.ColwiseParallel(), "2": parallel.RowwiseParallel()}
    if kind == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    if kind == "fsdp":
        return fsdp.FullyShardedDataParallel(
            model, device_id=torch.device("cpu"), use_orig_params=True)
    if kind == "fully_shard":
        return fsdp.fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    if kind == "tensor":
        return parallel.parallelize_module(
            model, init_device_mesh("cpu", (2,)), rows)
    if kind == "hybrid":  # of two dimensions, one kind
        mesh = init_device_mesh(
            "cpu", (2, 1), mesh_dim_names=("dp_replicate", "dp_shard"))
        return fsdp.fully_shard(model, mesh=mesh)
    shape = {"named dp": (1, 2, 1), "named tp": (1, 1, 2),
             "named pp": (2, 1, 1)}[kind]
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("pp", "dp", "tp"))
    parallel.parallelize_module(model, mesh["tp"], rows)
    return fsdp.fully_shard(model, mesh=mesh["dp"])


def main():
    torch.distributed.init_process_group("gloo")
    found = {}
    for kind in sys.argv[1:]:
        model = model_on(kind)
        found[kind] = nanwatch._torch.places.places(model)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with nanwatch.torch.watch(model, optimizer) as watch:
            assert watch.run.stats.bad_input == 0
    print(json.dumps(found), flush=True)
    torch.distributed.destroy_process_group()


main()
