"""Trainings on rewards: their losses follow what is won, and rise as it does."""

import copy

import torch
import torch.nn.functional as F
from cart_pole import CartPoles
from torch import nn
from torch.distributions import Categorical


def network(outputs, last=1.0):
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64),
                        nn.Tanh(), nn.Linear(64, outputs))
    with torch.no_grad():
        net[-1].weight *= last
    return net


class Training:
    """`step` is one update, and gives its loss."""

    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), rate)
        self.won = []  # lengths of the games that ended

    def descend(self, loss, clip=None):
        self.optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        self.optimizer.step()
        return loss


class Dqn(Training):
    """Learns values, from memory, towards those of a copy of itself."""

    def __init__(self, rate=1e-3):
        super().__init__(network(2), rate)
        self.copy = copy.deepcopy(self.model)
        self.poles = CartPoles(8)
        self.memory = []
        self.updates = 0
        while len(self.memory) < 64:
            self.play()

    def play(self):
        chance = max(0.05, 1 - self.updates / 800)
        seen = self.poles.seen
        with torch.no_grad():
            best = self.model(seen).argmax(1)
        action = torch.where(torch.rand(8) < chance,
                             torch.randint(0, 2, (8,)), best)
        age = self.poles.age.clone()
        after, fell, ended = self.poles.push(action)
        self.won += (age[ended] + 1).tolist()
        self.memory.append((seen, action, after, fell))
        del self.memory[:-1000]

    def step(self):
        self.play()
        chosen = torch.randint(0, len(self.memory), (16,)).tolist()
        seen, action, after, fell = (
            torch.cat(part) for part in zip(*(self.memory[i] for i in chosen)))
        with torch.no_grad():
            goal = 1 + 0.99 * self.copy(after).max(1).values * ~fell
        value = self.model(seen).gather(1, action[:, None])[:, 0]
        loss = self.descend(F.mse_loss(value, goal))
        self.updates += 1
        if self.updates % 50 == 0:
            self.copy.load_state_dict(self.model.state_dict())
        return loss


class Ppo(Training):
    """Learns a policy and values of what it just played, each batch some times
    over."""

    def __init__(self, rate=1e-3):
        super().__init__(nn.ModuleDict({"policy": network(2, 0.01),
                                        "value": network(1)}), rate)
        self.poles = CartPoles(8)
        self.batches = []

    def play(self):
        played = []
        with torch.no_grad():
            for _ in range(64):
                seen = self.poles.seen
                choice = Categorical(logits=self.model["policy"](seen))
                action = choice.sample()
                value = self.model["value"](seen)[:, 0]
                age = self.poles.age.clone()
                _, _, ended = self.poles.push(action)
                self.won += (age[ended] + 1).tolist()
                played.append((seen, action, choice.log_prob(action), value,
                               ended))
            after = self.model["value"](self.poles.seen)[:, 0]
        better, gain = [], torch.zeros(8)
        for _, _, _, value, ended in reversed(played):
            gain = 1 + 0.99 * after * ~ended - value + 0.94 * gain * ~ended
            better.append(gain)
            after = value
        seen, action, chance, value, _ = (torch.cat(p) for p in zip(*played))
        gain = torch.cat(better[::-1])
        self.batches = [
            tuple(part[i] for part in (seen, action, chance, gain,
                                       gain + value))
            for _ in range(4) for i in torch.randperm(512).split(128)]

    def step(self):
        if not self.batches:
            self.play()
        seen, action, chance, gain, goal = self.batches.pop()
        choice = Categorical(logits=self.model["policy"](seen))
        ratio = (choice.log_prob(action) - chance).exp()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        policy = -torch.min(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean()
        value = F.mse_loss(self.model["value"](seen)[:, 0], goal)
        return self.descend(
            policy + 0.5 * value - 0.01 * choice.entropy().mean(), clip=0.5)


class ActorCritic(Training):
    """A game an update, and the loss its sum: so it grows with the game."""

    def __init__(self, rate=1e-2):
        super().__init__(nn.ModuleDict({"actor": network(2),
                                        "critic": network(1)}), rate)

    def step(self):
        poles, played = CartPoles(1), []
        ended = torch.tensor([False])
        while not ended:
            seen = poles.seen
            choice = Categorical(logits=self.model["actor"](seen))
            action = choice.sample()
            _, _, ended = poles.push(action)
            played.append((choice.log_prob(action),
                           self.model["critic"](seen)[:, 0]))
        self.won.append(len(played))
        goal, goals = torch.zeros(1), []
        for _ in played:
            goal = 1 + 0.99 * goal
            goals.append(goal)
        goals = torch.cat(goals[::-1])
        goals = (goals - goals.mean()) / (goals.std() + 1e-6)
        chance, value = (torch.cat(part) for part in zip(*played))
        return self.descend(
            (-chance * (goals - value.detach())).sum()
            + F.smooth_l1_loss(value, goals, reduction="sum"))
