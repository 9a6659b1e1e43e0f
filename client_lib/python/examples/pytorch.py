"""A PyTorch training in fp16 with nanwatch: two lines are its own.

nanwatchd &
python pytorch.py
nanwatch show pytorch-example
"""

import torch
from torch import nn

import nanwatch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
model = nn.Sequential(
    nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1)
).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler(device)

watch = nanwatch.torch.watch(model, optimizer, scaler, run="pytorch-example")
for _ in range(200):
    x = torch.randn(32, 16, device=device)
    with torch.autocast(device, dtype=torch.float16):
        out = model(x)
    loss = nn.functional.mse_loss(out.float(), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    watch.step(loss)
    if watch.should_stop:
        print("asked to stop:", watch.should_stop)
        break
watch.close()
