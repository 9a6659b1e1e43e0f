"""The nets that are trained, small ones: each has a norm with an epsilon, an
activation, a square weight, a dropout and a place in the code between two
modules, which the faults are put into."""

import torch
from torch import nn
from torch.nn import functional as F

WORDS = 64


class Attention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(width, width)
        self.between = 1.0

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(
            batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / k.shape[-1] ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        weights = (self.between * scores).masked_fill(
            ~mask, float("-inf")).softmax(-1)
        mixed = self.drop(weights) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(nn.Module):
    # `between`: whose attribute of that name is a factor; `after`: the module
    # that first gets what it made; `before`: the one that made what it gets.
    places = {
        "norm": "blocks.2.norm2", "act": "blocks.1.act", "linear": "blocks.2.up",
        "square": "blocks.1.attention.out.weight",
        "drop": "blocks.0.attention.drop", "between": "blocks.1.attention",
        "after": "blocks.1.attention.drop", "before": "blocks.1.attention.qkv",
    }

    def __init__(self, width=48, blocks=4):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.head = nn.Linear(width, WORDS)

    def forward(self, x):
        return self.head(self.blocks(self.words(x)))

    @staticmethod
    def data(generator):
        words = torch.randint(0, WORDS, (8, 25), generator=generator)
        return words[:, :-1], words[:, 1:].flatten()

    @staticmethod
    def loss(made, wanted):
        return F.cross_entropy(made.flatten(0, 1), wanted)


class Conv(nn.Module):
    places = {
        "norm": "norm2", "act": "act1", "linear": "conv2",
        "square": "point.weight", "drop": "drop", "between": "",
        "after": "point", "before": "drop",
    }

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.norm1 = nn.GroupNorm(4, 16)
        self.act1 = nn.GELU()
        self.conv2 = nn.Conv2d(16, 24, 3, stride=2, padding=1)
        self.norm2 = nn.GroupNorm(4, 24)
        self.act2 = nn.SiLU()
        self.drop = nn.Dropout(0.1)
        self.point = nn.Conv2d(24, 24, 1)
        self.head = nn.Linear(24, 10)
        self.between = 1.0

    def forward(self, x):
        x = self.act1(self.norm1(self.conv1(x)))
        x = self.drop(self.act2(self.norm2(self.conv2(x))))
        x = self.point(self.between * x)
        return self.head(x.mean((2, 3)))

    @staticmethod
    def data(generator):
        return (torch.randn(8, 3, 16, 16, generator=generator),
                torch.randint(0, 10, (8,), generator=generator))

    loss = staticmethod(F.cross_entropy)


class Gru(nn.Module):
    places = {
        "norm": "norm", "act": "act", "linear": "up", "square": "down.weight",
        "drop": "drop", "between": "", "after": "down", "before": "drop",
    }

    def __init__(self, width=32):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.act = nn.GELU()
        self.drop = nn.Dropout(0.1)
        self.down = nn.Linear(width, width)
        self.head = nn.Linear(width, WORDS)
        self.between = 1.0

    def forward(self, x):
        x = self.norm(self.gru(self.words(x))[0])
        x = self.drop(self.act(self.up(x)))
        return self.head(self.down(self.between * x))

    data, loss = Transformer.data, Transformer.loss


NETS = {"transformer": Transformer, "conv": Conv, "gru": Gru}


class Residual(nn.Module):
    """Kinks: ReLU as a module, in place and as a function, and the largest of
    four; biases before batch norms, whose gradients are 0 but for roundings."""

    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(2)
        self.convs = nn.ModuleList(
            nn.Conv2d(width, width, 3, padding=1) for _ in range(4))
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(4))
        self.acts = nn.ModuleList(nn.ReLU() for _ in range(2))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.pool(self.act(self.norm(self.conv(x))))
        for conv, norm, act in zip(self.convs, self.norms,
                                   [*self.acts, F.relu, F.relu]):
            x = act(x + norm(conv(x)))
        return self.head(x.mean((2, 3)))

    data, loss = Conv.data, Conv.loss


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(768, 256), nn.ReLU(), nn.Linear(256, 256),
            nn.ReLU(), nn.Linear(256, 10))

    def forward(self, x):
        return self.layers(x)

    data, loss = Conv.data, Conv.loss


class Sharp(Transformer):
    """Its attention looks at few words, as a trained one does."""

    def __init__(self):
        super().__init__()
        with torch.no_grad():
            for block in self.blocks:
                block.attention.qkv.weight.mul_(4)


# Of which healthy pairs alone are judged.
HEALTHY = {"residual": Residual, "mlp": Mlp, "sharp": Sharp}
ALL = {**NETS, **HEALTHY}
