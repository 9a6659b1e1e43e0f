"""word2vec in PyTorch: train_pytorch.py padding|cure. A Log over zeros that an
NPU pads with overflows at every step: the scale falls to 1, and nothing is
learned. The cure is a fixed scale without a look at overflows."""

from __future__ import annotations

import sys

import npu
import torch

scenario = sys.argv[1] if len(sys.argv) > 1 else "padding"
torch.manual_seed(1)
inputs = torch.nn.Embedding(npu.WORDS, npu.WIDTH)
outputs = torch.nn.Embedding(npu.WORDS, npu.WIDTH)
optimizer = torch.optim.Adam(
    [*inputs.parameters(), *outputs.parameters()], lr=0.02
)
scaler = npu.Scaler(dynamic=scenario == "padding")
signs = torch.tensor([1.0] + [-1.0] * npu.NEGATIVES)
pairs = npu.Pairs()

with npu.open_run(f"word2vec-pytorch-{scenario}", "pytorch", scaler) as run:
    log = npu.Log(run)
    for step in range(300):
        words, others = map(torch.from_numpy, pairs())
        scores = torch.einsum("bw,bow->bo", inputs(words), outputs(others))
        # As it is stored: in whole blocks, with zeros around.
        stored = torch.zeros(npu.STORED)
        rows, columns = npu.LOGICAL
        stored[:rows, :columns] = torch.sigmoid(scores * signs)
        logarithms = torch.log(stored)
        overflow = log.tell(step, logarithms.detach().numpy())
        loss = -logarithms[:rows, :columns].mean()
        optimizer.zero_grad()
        (loss * scaler.scale).backward()
        gradients = [p.grad.div_(scaler.scale) for p in inputs.parameters()]
        gradients += [p.grad.div_(scaler.scale) for p in outputs.parameters()]
        norm = torch.stack([g.norm() for g in gradients]).norm()
        skipped = scaler.skips(overflow)
        if not skipped:
            optimizer.step()
        run.step(
            step,
            loss.item(),
            scaler.scale,
            overflow,
            skipped,
            norm.item(),
            0.02,
            float_status=[int(overflow)] + [0] * 7,
        )
        scaler.update(overflow)

print(f"loss {loss.item():.3f}, loss scale {scaler.scale:g}")
