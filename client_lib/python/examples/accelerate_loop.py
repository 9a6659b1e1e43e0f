"""A loop of Accelerate's with nanwatch as its tracker."""

import torch
from accelerate import Accelerator
from torch import nn

import nanwatch

tracker = nanwatch.accelerate.Tracker(run="accelerate-example")
accelerator = Accelerator(log_with=tracker)
model = nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = torch.utils.data.TensorDataset(torch.randn(800, 8))
loader = torch.utils.data.DataLoader(data, batch_size=16)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
accelerator.init_trackers("example")
tracker.watch(accelerator, model, optimizer)
for step, (x,) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.log({"loss": loss}, step=step)
accelerator.end_training()
