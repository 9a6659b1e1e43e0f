"""Lightning's Fabric with nanwatch: two lines are its own."""

import lightning
import torch

import nanwatch

fabric = lightning.Fabric(accelerator="cpu", precision="bf16-mixed")
fabric.launch()
fabric.seed_everything(1, verbose=False)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
)
model, optimizer = fabric.setup(
    model, torch.optim.AdamW(model.parameters(), lr=1e-2)
)

watch = nanwatch.torch.watch(model, optimizer, run="fabric-example")
for _ in range(100):
    x = torch.randn(32, 16)
    loss = (model(x).float() - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    fabric.backward(loss)
    optimizer.step()
    watch.step(loss)
watch.close()
