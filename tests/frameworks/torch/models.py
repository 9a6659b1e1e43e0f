"""Small models and their data, for real trainings: on a CPU, or on the device
that NANWATCH_TEST_DEVICE names ("cuda")."""

import math
import os

import torch
from torch import nn

torch.set_num_threads(1)
DEVICE = os.environ.get("NANWATCH_TEST_DEVICE", "cpu")

TEXT = (
    "the loss scale falls when a gradient overflows and rises when none does. "
    "a nan that is born in the forward pass is not cured by any scale. "
) * 8
CHARS = sorted(set(TEXT))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mask = scores.new_ones(length, length, dtype=torch.bool).triu(1)
        shares = self.softmax(scores.masked_fill(mask, float("-inf")))
        return self.proj((shares @ v).transpose(1, 2).reshape(x.shape))

    def softmax(self, scores):
        return torch.softmax(scores, dim=-1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(self.act(self.fc1(self.norm2(x))))


class CharTransformer(nn.Module):
    def __init__(self, width=32, heads=2, blocks=2, length=16):
        super().__init__()
        self.token = nn.Embedding(len(CHARS), width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(CHARS))

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True),
        )
        self.classifier = nn.Linear(16 * 16, 4)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Texts:
    """Batches of characters and the ones that follow."""

    loss = staticmethod(
        lambda out, y: nn.functional.cross_entropy(
            out.flatten(0, 1).float(), y.flatten())
    )

    def __init__(self, seed, batch=8, length=16):
        self.random = torch.Generator().manual_seed(seed)
        self.codes = torch.tensor([CHARS.index(c) for c in TEXT])
        self.batch, self.length = batch, length

    def __call__(self):
        starts = torch.randint(
            len(self.codes) - self.length - 1, (self.batch,),
            generator=self.random)
        rows = torch.stack(
            [self.codes[s:s + self.length + 1] for s in starts])
        rows = rows.to(DEVICE)
        return rows[:, :-1], rows[:, 1:]


class Pictures:
    """A bright quarter of a noisy square, and which one it is."""

    loss = staticmethod(
        lambda out, y: nn.functional.cross_entropy(out.float(), y))

    def __init__(self, seed, batch=16):
        self.random = torch.Generator().manual_seed(seed)
        self.batch = batch

    def __call__(self):
        x = 0.5 * torch.randn(self.batch, 1, 8, 8, generator=self.random)
        y = torch.randint(4, (self.batch,), generator=self.random)
        for i, quarter in enumerate(y.tolist()):
            down, right = 4 * (quarter // 2), 4 * (quarter % 2)
            x[i, 0, down:down + 4, right:right + 4] += 1.0
        return x.to(DEVICE), y.to(DEVICE)


KINDS = {"text": (CharTransformer, Texts), "pictures": (ConvNet, Pictures)}


class Training:
    """A loop as people write it: fp16 autocast, a GradScaler, clipping."""

    def __init__(self, kind="text", seed=1, dtype=torch.float16, lr=3e-3,
                 scaler=True, clip=1.0, **scaling):
        torch.manual_seed(seed)
        model, data = KINDS[kind]
        self.model = model().to(DEVICE)
        self.batches = data(seed)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler(
            DEVICE, enabled=scaler, **scaling) if scaler is not None else None
        self.dtype, self.clip = dtype, clip
        self.number = 0
        self.before_forward = self.before_update = lambda x: x

    def forward(self, x, y):
        with torch.autocast(DEVICE, dtype=self.dtype,
                            enabled=self.dtype is not torch.float32):
            out = self.model(x)
        return self.batches.loss(out, y)

    def step(self):
        """One update; the loss, still a tensor."""
        x, y = self.batches()
        x = self.before_forward(x)
        self.optimizer.zero_grad()
        loss = self.forward(x, y)
        if self.scaler is None:
            loss.backward()
            self.before_update(None)
            self._clip()
            self.optimizer.step()
        else:
            self.scaler.scale(loss).backward()
            self.before_update(None)
            if self.clip:
                self.scaler.unscale_(self.optimizer)
                self._clip()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.number += 1
        return loss

    def _clip(self):
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
