"""One rank of two: prints its places in the parallel groups, of ZeRO and with
experts. The test sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

import json
import os
import pathlib
import sys

# Its build needs ninja, which stands beside Python.
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:" + os.environ[
    "PATH"]
os.environ["DS_ACCELERATOR"] = "cpu"

import deepspeed  # noqa: E402
import torch  # noqa: E402
from deepspeed.moe.layer import MoE  # noqa: E402

import nanwatch.deepspeed  # noqa: E402


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.moe = MoE(8, torch.nn.Linear(8, 8), num_experts=2, ep_size=2, k=1)


def places(model):
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=torch.optim.SGD(model.parameters(), 0.1),
        config={"train_micro_batch_size_per_gpu": 4})
    with nanwatch.deepspeed.watch(engine) as watch:
        assert watch.run.stats.bad_input == 0
    return nanwatch.deepspeed._places(engine)


found = [places(torch.nn.Linear(8, 8)), places(Experts())]
print(json.dumps(found), flush=True)
os._exit(0)  # gloo's threads outlive the group
