"""Poles on carts: a game of classic control, many at once."""

import torch

GRAVITY, CART, POLE, HALF, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
LONGEST = 200


class CartPoles:
    """One that falls, leaves the track or has stood `LONGEST` steps begins
    anew."""

    def __init__(self, count):
        self.seen = torch.empty(count, 4).uniform_(-0.05, 0.05)
        self.age = torch.zeros(count)

    def push(self, right):
        """What is then seen, which fell, and which ended; `seen` is already
        of the games that begin."""
        x, speed, angle, turn = self.seen.unbind(1)
        force = (2.0 * right - 1.0) * FORCE
        sine, cosine = angle.sin(), angle.cos()
        pull = (force + POLE * HALF * turn**2 * sine) / (CART + POLE)
        bend = (GRAVITY * sine - cosine * pull) / (
            HALF * (4 / 3 - POLE * cosine**2 / (CART + POLE)))
        push = pull - POLE * HALF * bend * cosine / (CART + POLE)
        after = self.seen + SECONDS * torch.stack(
            [speed, push, turn, bend], 1)
        self.age += 1
        fell = (after[:, 0].abs() > 2.4) | (after[:, 2].abs() > 0.21)
        ended = fell | (self.age >= LONGEST)
        begin = torch.empty_like(after).uniform_(-0.05, 0.05)
        self.seen = torch.where(ended[:, None], begin, after)
        self.age[ended] = 0
        return after, fell, ended
