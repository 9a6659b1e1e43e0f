"""PyTorch on an Ascend NPU with nanwatch: two lines are its own. It needs a
device, and was written after torch_npu's source: nobody has run it here.
INF_NAN_MODE_ENABLE says whether an overflow is an infinity there or saturates;
nanwatch reads it, and the device's float status, itself."""

import torch
import torch_npu

import nanwatch

torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch_npu.npu.amp.GradScaler()

watch = nanwatch.torch_npu.watch(model, optimizer, scaler, run="npu-example")
for _ in range(100):
    x = torch.randn(32, 16, device="npu")
    with torch_npu.npu.amp.autocast():
        out = model(x)
    loss = (out.float() - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    watch.step(loss)
watch.close()
