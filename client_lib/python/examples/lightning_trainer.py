"""A Lightning Trainer with nanwatch: one line is its own."""

import lightning
import torch
from torch import nn

import nanwatch


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, index):
        (x,) = batch
        loss = nn.functional.mse_loss(self.net(x), x.sum(1, keepdim=True))
        return loss.float()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


data = torch.utils.data.TensorDataset(torch.randn(800, 8))
lightning.Trainer(
    max_epochs=2,
    precision="bf16-mixed",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    callbacks=[nanwatch.lightning.Callback(run="lightning-example")],
).fit(Module(), torch.utils.data.DataLoader(data, batch_size=16))
