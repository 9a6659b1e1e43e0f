"""NVIDIA's Apex amp with nanwatch: two lines are its own. It needs a GPU and
an Apex that was built for it, and was written after their source: nobody has
run it here. New programs do better with torch.amp (pytorch.py)."""

import torch
from apex import amp

import nanwatch

torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2")

watch = nanwatch.apex.watch(model, optimizer, run="apex-example")
for _ in range(100):
    x = torch.randn(32, 16, device="cuda")
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    watch.step(loss)
watch.close()
