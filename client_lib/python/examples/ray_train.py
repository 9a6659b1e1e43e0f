"""A Ray Train job with nanwatch: two lines are its own, in what each worker
runs. Ray tells each worker its rank, and the job's name becomes the run.

nanwatchd &
python ray_train.py
nanwatch show ray-example
"""

import os
import sys

import ray
import ray.train.torch
import torch
from ray.train import RunConfig, ScalingConfig
from torch import nn

import nanwatch

# The rank whose data hold a NaN at step 50; none, unless it is said.
SPOILT = int(sys.argv[1]) if len(sys.argv) > 1 else None


def train(config):
    context = ray.train.get_context()
    model = ray.train.torch.prepare_model(
        nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1))
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watch = nanwatch.torch.watch(
        model, optimizer, run=context.get_experiment_name()
    )
    torch.manual_seed(context.get_world_rank())
    for i in range(100):
        x = torch.randn(32, 16)
        if i == 50 and context.get_world_rank() == config["spoilt"]:
            x[3, 5] = torch.nan
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    watch.close()


ray.init()
ray.train.torch.TorchTrainer(
    train,
    train_loop_config={"spoilt": SPOILT},
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(
        name="ray-example", storage_path=os.path.abspath("ray-results")
    ),
).fit()
