"""Megatron-Core's fp16 optimizer with nanwatch: two lines are its own. Start it
with torchrun, or on one device with plain `python`. In Megatron-LM's own
pretrain the first one follows `setup_model_and_optimizer`."""

import os

import torch
from megatron.core import parallel_state
from megatron.core.optimizer import OptimizerConfig
from megatron.core.optimizer.grad_scaler import DynamicGradScaler
from megatron.core.optimizer.optimizer import Float16OptimizerWithFloat16Params

import nanwatch

if "RANK" not in os.environ:
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
torch.distributed.init_process_group()
parallel_state.initialize_model_parallel()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4)
).to(device, torch.float16)
config = OptimizerConfig(optimizer="sgd", lr=0.01, fp16=True, clip_grad=1.0)
scaler = DynamicGradScaler(
    initial_scale=2.0**12,
    min_scale=1.0,
    growth_factor=2.0,
    backoff_factor=0.5,
    growth_interval=1000,
    hysteresis=2,
)
optimizer = Float16OptimizerWithFloat16Params(
    torch.optim.SGD(model.parameters(), lr=config.lr), config, scaler, None
)
optimizer.grad_stats_parallel_group = torch.distributed.group.WORLD

watch = nanwatch.megatron.watch(model, optimizer, run="megatron-example")
for _ in range(100):
    x = torch.randn(32, 16, device=device)
    out = model(x.half()).float()
    loss = torch.nn.functional.cross_entropy(out, x[:, :4].argmax(1))
    optimizer.zero_grad()
    optimizer.scale_loss(loss).backward()
    optimizer.step()
    watch.step(loss)
watch.close()
