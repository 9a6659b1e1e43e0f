"""Loops that make their updates wrong, as people write them, and loops that look
like them and are right: each is given model, optimizer, scaler, loss and the
number of the step."""

import torch
from torch import nn


def net(width=16):
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 1))


def batches(n):
    random = torch.Generator().manual_seed(2)
    for _ in range(n):
        x = torch.randn(32, 8, generator=random)
        yield x, x.sum(1, keepdim=True) + torch.randn(
            32, 1, generator=random)


def right(model, optimizer, loss, i):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def with_zeros(model, optimizer, loss, i):
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()


def zeros_of_data(model, optimizer, loss, i):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.data.zero_()
    loss.backward()
    optimizer.step()


def clears_after(model, optimizer, loss, i):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def clips(model, optimizer, loss, i):
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()


def accumulates(model, optimizer, loss, i):
    (loss / 4).backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()


def by_hand(model, optimizer, loss, i):
    parameters = list(model.parameters())
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
        p.grad = g
    optimizer.step()


def clears_in_two_ways(model, optimizer, loss, i):
    """Whichever costs less."""
    optimizer.zero_grad(set_to_none=i % 8 == 0)
    loss.backward()
    optimizer.step()


def forgets_seldom(model, optimizer, loss, i):
    if i % 10:
        optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def warms_up(model, optimizer, loss, i):
    """From a rate of 0, as schedules do."""
    optimizer.param_groups[0]["lr"] = 0.02 * min(1.0, i / 20)
    right(model, optimizer, loss, i)


RIGHT = [right, with_zeros, zeros_of_data, clears_after, clips, accumulates,
         by_hand, clears_in_two_ways, forgets_seldom, warms_up]


def clears_each(n):
    """Though all update."""
    def loop(model, optimizer, loss, i):
        if i % n == 0:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loop


def no_step(model, optimizer, loss, i):
    optimizer.zero_grad()
    loss.backward()


def no_backward(model, optimizer, loss, i):
    optimizer.zero_grad()
    optimizer.step()


def clears_between(model, optimizer, loss, i):
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()


def zeroes_between(model, optimizer, loss, i):
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()


def clears_what_it_clipped(model, optimizer, loss, i):
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.zero_grad()
    optimizer.step()


def no_rate(model, optimizer, loss, i):
    optimizer.param_groups[0]["lr"] = 0.0
    right(model, optimizer, loss, i)


def never_clears(model, optimizer, loss, i):
    optimizer.param_groups[0]["lr"] = 1e-5  # else it is gone at once
    loss.backward()
    optimizer.step()


def never_clears_and_clips(model, optimizer, loss, i):
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()


def no_gradient(model, optimizer, loss, i):
    """Of anything: what leads to the loss is cut off."""
    right(model, optimizer, loss * 0.0 + 3.0, i)


# The loop, and what the verdict says.
WRONG = [
    (no_step, "step() is not called"),
    (no_backward, "no backward()"),
    (clears_between, "cleared between backward() and"),
    (zeroes_between, "cleared between backward() and"),
    (clears_what_it_clipped, "cleared between backward() and"),
    (no_rate, "learning rate is 0"),
    (never_clears, "not cleared between updates"),
    (never_clears_and_clips, "not cleared between updates"),
    (no_gradient, "exactly 0"),
]
