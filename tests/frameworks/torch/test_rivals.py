"""Two networks against each other: each optimizer's own loss, and no alarm over
what they do to one another."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from verdicts import Verdict

import nanwatch

STEPS = 600


def bce(real, fake):
    return (F.binary_cross_entropy_with_logits(real, torch.ones_like(real))
            + F.binary_cross_entropy_with_logits(fake, torch.zeros_like(fake)))


def bce_of_generator(fake):
    return F.binary_cross_entropy_with_logits(fake, torch.ones_like(fake))


def hinge(real, fake):
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


def squares(real, fake):
    return (real - 1).square().mean() + fake.square().mean()


GANS = {
    "bce": (bce, bce_of_generator),
    "hinge": (hinge, lambda fake: -fake.mean()),
    "squares": (squares, lambda fake: (fake - 1).square().mean()),
}


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.LeakyReLU(0.2),
                         nn.Linear(64, 64), nn.LeakyReLU(0.2),
                         nn.Linear(64, outputs))


def loss_of(found):
    """The newest."""
    return next(v["last"] for v in found.summary["values"]
                if v["field"] == "loss")


class Gan:
    def __init__(self, kind, seed, scaled=False):
        torch.manual_seed(seed)
        self.scaler = torch.amp.GradScaler("cpu", enabled=scaled)
        self.of_critic, self.of_generator = GANS[kind]
        self.nets = nn.ModuleDict({"g": network(8, 2), "d": network(2, 1)})
        self.optimizers = {
            side: torch.optim.Adam(net.parameters(), 4e-4, betas=(0.5, 0.999))
            for side, net in self.nets.items()}

    def descend(self, side, loss):
        self.optimizers[side].zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizers[side])
        return loss.item()

    def step(self, spoilt=False, frozen=False):
        """The critic's loss, and the generator's. `frozen`: its gradients are
        not computed for the critic."""
        g, d = self.nets["g"], self.nets["d"]
        angle = torch.rand(64) * 6.28
        real = torch.stack([angle.cos(), angle.sin()], 1)
        if spoilt:
            real = real * float("nan")
        fake = g(torch.randn(64, 8)).detach()
        critic = self.descend("d", self.of_critic(d(real), d(fake)))
        d.requires_grad_(not frozen)
        generator = self.descend(
            "g", self.of_generator(d(g(torch.randn(64, 8)))))
        d.requires_grad_(True)
        self.scaler.update()
        return critic, generator


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("kind", GANS)
def test_is_healthy(daemon, name, kind, scaled):
    for seed in range(1 if scaled else 3):
        gan, run = Gan(kind, seed, scaled), f"{name}-{seed}"
        with nanwatch.torch.watch(gan.nets, gan.optimizers, gan.scaler, run=run,
                                  address=daemon.address) as watch:
            for _ in range(STEPS):
                losses = gan.step(frozen=seed == 1)
                watch.step(sum(losses))
        assert watch.run.stats.bad_input == 0
        found = Verdict(daemon, run)
        assert found.worst in ("", "info"), found
        # The optimizer that was called last has its own.
        assert loss_of(found) == pytest.approx(losses[1])


def test_a_nan_is_found(daemon, name):
    gan = Gan("bce", 0)
    with nanwatch.torch.watch(gan.nets, gan.optimizers, run=name,
                              address=daemon.address) as watch:
        for i in range(80):
            watch.step(sum(gan.step(spoilt=i >= 60)))
    found = Verdict(daemon, name)
    assert found.worst == "critical" and found.step == 60, found


def test_optimizers_that_share_a_loss_tell_it(daemon, name):
    """The weights' and the biases', say."""
    net = network(8, 2)
    optimizers = {
        "weights": torch.optim.SGD([p for p in net.parameters() if p.ndim > 1]),
        "biases": torch.optim.SGD([p for p in net.parameters() if p.ndim == 1])}
    with nanwatch.torch.watch(net, optimizers, run=name,
                              address=daemon.address) as watch:
        for _ in range(20):
            loss = net(torch.randn(16, 8)).square().mean()
            loss.backward()
            for optimizer in optimizers.values():
                optimizer.step()
                optimizer.zero_grad()
            watch.step(loss + 7)
    assert loss_of(Verdict(daemon, name)) >= 7


@pytest.mark.parametrize("apart", [False, True])
def test_a_head_beside_a_model_is_no_rival(daemon, name, apart):
    """A probe of what it computes: each has a loss, and what destroys the model
    is told, whether these go backward in one or one by one."""
    torch.manual_seed(1)
    model = nn.ModuleDict({"body": network(8, 4), "probe": nn.Linear(4, 3)})
    optimizers = {side: torch.optim.AdamW(model[side].parameters(), 3e-3)
                  for side in model}
    target = torch.randn(8, 3)
    with nanwatch.torch.watch(model, optimizers, run=name,
                              address=daemon.address) as watch:
        for i in range(500):
            if i == 250:
                optimizers["body"].param_groups[0]["lr"] *= 300
            x = torch.randn(64, 8)
            label = (x @ target).argmax(1)
            out = model["body"](x)
            loss = F.cross_entropy(out, label)
            other = F.cross_entropy(model["probe"](out.detach()), label)
            for optimizer in optimizers.values():
                optimizer.zero_grad()
            if apart:
                loss.backward()
                optimizers["body"].step()
                other.backward()
                optimizers["probe"].step()
            else:
                (loss + other).backward()
                for optimizer in optimizers.values():
                    optimizer.step()
            watch.step(loss)
    found = Verdict(daemon, name)
    assert found.worst in ("warning", "critical"), found
    assert found.cause == "divergence" and 250 <= found.step <= 256, found
