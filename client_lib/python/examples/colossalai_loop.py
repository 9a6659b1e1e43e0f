"""Colossal-AI's fp16 optimizer with nanwatch: two lines are its own. With a
Booster the first one follows `booster.boost`, whose model and optimizer it
takes; the other one follows `optimizer.step()` there, too."""

import os

import colossalai
import torch
from colossalai.amp.naive_amp.mixed_precision_optimizer import (
    MixedPrecisionOptimizer,
)

import nanwatch

if "RANK" not in os.environ:
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
torch.distributed.init_process_group()
device = colossalai.accelerator.get_accelerator().get_current_device()

torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
).to(device, torch.float16)
optimizer = MixedPrecisionOptimizer(
    torch.optim.SGD(model.parameters(), lr=0.01),
    "fp16",
    initial_scale=2.0**12,
    max_norm=1.0,
)

watch = nanwatch.colossalai.watch(model, optimizer, run="colossalai-example")
for _ in range(100):
    x = torch.randn(32, 16, device=device)
    out = model(x.half()).float()
    loss = (out - x.sum(1, keepdim=True)).square().mean()
    optimizer.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    watch.step(loss)
watch.close()
