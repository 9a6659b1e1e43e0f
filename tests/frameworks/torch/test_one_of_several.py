"""One optimizer of several that steps and whose own loss reaches none of its
weights; and trainings that look like it and are right."""

import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from verdicts import Verdict

import nanwatch


def layers(*widths):
    parts = [part for a, b in zip(widths, widths[1:])
             for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*parts[:-1])


def adam(*modules, rate=1e-3):
    parameters = [p for module in modules for p in module.parameters()]
    return torch.optim.Adam(parameters, lr=rate, betas=(0.5, 0.99))


def is_real(logits, real):
    target = torch.full_like(logits, float(real))
    return binary_cross_entropy_with_logits(logits, target)


def train(daemon, name, model, optimizers, step, steps=80):
    """`step` does one, and returns the loss."""
    with nanwatch.torch.watch(model, optimizers, run=name,
                              address=daemon.address) as watch:
        for i in range(steps):
            watch.step(step(i))
        assert watch.flush(20)
    return Verdict(daemon, name)


def gan(daemon, name, cut, begins=0):
    """`cut`: the generator's loss is made of detached fakes. `begins`: that of
    the discriminator is not called before."""
    torch.manual_seed(3)
    model = nn.ModuleDict({"g": layers(4, 24, 2), "d": layers(2, 24, 1)})
    g, d = model["g"], model["d"]
    of_g, of_d = adam(g), adam(d)

    def step(i):
        real, fake = torch.randn(32, 2) + 1, g(torch.randn(32, 4))
        lost = is_real(d(real), 1) + is_real(d(fake.detach()), 0)
        if i >= begins:
            of_d.zero_grad()
            lost.backward()
            of_d.step()
        fakes = is_real(d(fake.detach() if cut else fake), 1)
        of_g.zero_grad()
        fakes.backward()
        of_g.step()
        return (lost + fakes).detach()

    return train(daemon, name, model, {"g": of_g, "d": of_d}, step)


def autoencoder(daemon, name, cut, to_none=True):
    """An adversarial one: two optimizers hold the encoder. `cut`: no gradient
    of the third loss reaches it."""
    torch.manual_seed(4)
    model = nn.ModuleDict({"enc": layers(8, 16, 4), "dec": layers(4, 16, 8),
                           "dis": layers(4, 16, 1)})
    enc, dec, dis = model["enc"], model["dec"], model["dis"]
    both, of_dis, of_enc = adam(enc, dec), adam(dis), adam(enc, rate=5e-4)

    def update(optimizer, loss):
        optimizer.zero_grad(set_to_none=to_none)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def step(i):
        x = torch.randn(32, 8)
        told = update(both, (dec(enc(x)) - x).square().mean())
        code = enc(x).detach()
        update(of_dis, is_real(dis(torch.randn(32, 4)), 1)
               + is_real(dis(code), 0))
        code = enc(x)
        update(of_enc, is_real(dis(code.detach() if cut else code), 1))
        return told

    return train(daemon, name, model,
                 {"both": both, "dis": of_dis, "reg": of_enc}, step)


def heads(daemon, name, turns, wakes=None):
    """A trunk and a head for each of some tasks, which take `turns`; or whose
    first one is frozen until it `wakes`. All step at each step."""
    torch.manual_seed(5)
    tasks = ["a", "b", "c", "d"]
    model = nn.ModuleDict({t: nn.Linear(16, 1) for t in tasks})
    model["trunk"] = layers(8, 16)
    optimizers = {part: adam(module) for part, module in model.items()}
    if wakes is not None:
        model["a"].requires_grad_(False)

    def step(i):
        if i == wakes:
            model["a"].requires_grad_(True)
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        x = torch.randn(32, 8)
        y = x.sum(1, keepdim=True)
        # The last one comes seldom.
        turn = tasks[3 if i % 20 == 19 else i % 3]
        loss = sum((model[t](model["trunk"](x)) - y).square().mean()
                   for t in ([turn] if turns else tasks))
        loss.backward()
        for optimizer in optimizers.values():
            optimizer.step()
        return loss

    return train(daemon, name, model, optimizers, step)


def critic(daemon, name, penalty=True):
    """A critic that updates more often, with a penalty on its gradient."""
    torch.manual_seed(6)
    model = nn.ModuleDict({"g": layers(4, 24, 2), "d": layers(2, 24, 1)})
    g, d = model["g"], model["d"]
    of_g, of_d = adam(g), adam(d)

    def step(i):
        for _ in range(3):
            real, fake = torch.randn(32, 2), g(torch.randn(32, 4)).detach()
            x = (real + fake).div(2).requires_grad_(True)
            slope, = torch.autograd.grad(d(x).sum(), x, create_graph=True)
            lost = (d(fake).mean() - d(real).mean()
                    + 10 * (slope.norm(dim=1) - 1).square().mean())
            of_d.zero_grad()
            lost.backward()
            of_d.step()
        loss = -d(g(torch.randn(32, 4))).mean()
        of_g.zero_grad()
        loss.backward()
        of_g.step()
        return loss

    return train(daemon, name, model, {"g": of_g, "d": of_d}, step)


def is_said(it, optimizer):
    assert it.worst == "warning", it
    assert it.cause == "update_made_wrong", it
    assert (f"The optimizer {optimizer} steps without gradients: no "
            "backward()") in it.headline, it
    assert it.step <= 1, it
    assert "detached" in str(it.causes[0]["actions"]), it


def test_a_generator_whose_fakes_are_detached(daemon, name, device):
    is_said(gan(daemon, name, cut=True), "g")


@pytest.mark.parametrize("to_none", [True, False], ids=["none", "zeros"])
def test_gradients_of_another_loss_alone(daemon, name, to_none, device):
    is_said(autoencoder(daemon, name, cut=True, to_none=to_none), "reg")


RIGHT = {
    "gan": lambda *of: gan(*of, cut=False),
    "rests_first": lambda *of: gan(*of, cut=False, begins=40),
    "autoencoder": lambda *of: autoencoder(*of, cut=False),
    "with_zeros": lambda *of: autoencoder(*of, cut=False, to_none=False),
    "tasks": lambda *of: heads(*of, turns=False),
    "tasks_in_turns": lambda *of: heads(*of, turns=True),
    "frozen_first": lambda *of: heads(*of, turns=False, wakes=40),
    "critic": critic,
}


@pytest.mark.parametrize("training", RIGHT.values(), ids=RIGHT)
def test_what_is_right(daemon, name, training, device):
    it = training(daemon, name)
    assert it.worst in ("", "info"), it
    assert it.cause != "update_made_wrong", it
