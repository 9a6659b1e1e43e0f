"""DeepSpeed with nanwatch: two lines are its own. Start it with `deepspeed`,
with torchrun, or on one device with plain `python`."""

import os

import deepspeed
import torch

import nanwatch

# Without a launcher DeepSpeed would ask MPI; one rank of one needs none.
if "RANK" not in os.environ:
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")

torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
)
engine, *_ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.SGD(model.parameters(), lr=0.01),
    config={
        "train_micro_batch_size_per_gpu": 32,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 1},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": True},
    },
)

watch = nanwatch.deepspeed.watch(engine, run="deepspeed-example")
for _ in range(100):
    x = torch.randn(32, 16)
    out = engine(x.bfloat16()).float()
    loss = (out - x.sum(1, keepdim=True)).square().mean()
    engine.backward(loss)
    engine.step()
    watch.step(loss)
watch.close()
