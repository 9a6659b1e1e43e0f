"""A generator of small pictures and its critic, of convolutions."""

import torch
import torch.nn.functional as F
from torch import nn


def blobs(count):
    """A bright spot somewhere, -1 to 1."""
    x, y, width = torch.rand(3, count, 1, 1) * torch.tensor(
        [8.0, 8.0, 2.0]).view(3, 1, 1, 1) + torch.tensor(
            [4.0, 4.0, 1.0]).view(3, 1, 1, 1)
    at = torch.arange(16.0)
    far = (at.view(1, 1, -1) - x)**2 + (at.view(1, -1, 1) - y)**2
    return (2 * (-far / (2 * width**2)).exp() - 1)[:, None]


def generator():
    return nn.Sequential(
        nn.ConvTranspose2d(16, 32, 4), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh())


def critic():
    return nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.LeakyReLU(0.2),
        nn.Conv2d(32, 1, 4), nn.Flatten(0))


class Dcgan:
    def __init__(self, rate=2e-4, count=32):
        self.count = count  # of a batch
        self.model = nn.ModuleDict({"d": critic(), "g": generator()})
        self.optimizer = {
            side: torch.optim.Adam(net.parameters(), rate, betas=(0.5, 0.999))
            for side, net in self.model.items()}

    def step(self, spoilt=False):
        """The critic's loss, and the generator's."""
        d, g = self.model["d"], self.model["g"]
        real = blobs(self.count) * (float("nan") if spoilt else 1)
        fake = g(torch.randn(self.count, 16, 1, 1))
        one = torch.ones(self.count)
        d.zero_grad()
        first = F.binary_cross_entropy_with_logits(d(real), one)
        first.backward()
        second = F.binary_cross_entropy_with_logits(d(fake.detach()), 1 - one)
        second.backward()
        self.optimizer["d"].step()
        g.zero_grad()
        loss = F.binary_cross_entropy_with_logits(d(fake), one)
        loss.backward()
        self.optimizer["g"].step()
        return first + second, loss
