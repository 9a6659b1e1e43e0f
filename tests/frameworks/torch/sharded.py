"""One rank of two: digests and sketches of its shards of a tensor, by dimension,
and of the whole."""

import json

import torch
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from nanwatch import _sketches
from nanwatch._torch.sketching import take


def main():
    torch.distributed.init_process_group("gloo")
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    # Seven rows: one rank has four of them.
    whole = torch.randn(7, 10, 5, generator=torch.Generator().manual_seed(1))
    library = _sketches.library()
    said = {"whole": take(library, whole).sketch}
    for dim in (0, 1, 2, "replicate"):
        how = Replicate() if dim == "replicate" else Shard(dim)
        mine = take(library, distribute_tensor(whole, mesh, [how]))
        said[dim] = None if mine is None else mine.sketch
    print(json.dumps(said))
    torch.distributed.destroy_process_group()


main()
