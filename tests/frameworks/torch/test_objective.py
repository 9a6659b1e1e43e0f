"""What the graph of a loss says of its kind, and of the weights of its terms."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nanwatch._torch.loss_weights import LossWeights
from nanwatch._torch.objective import Objective

NET = nn.Linear(4, 2)
STATE = torch.randn(8, 4)
ACTION = torch.randint(0, 2, (8,))
TARGET = torch.randn(8)


def taken(outputs):
    return outputs.gather(1, ACTION[:, None]).squeeze(1)


def log_probability():
    return torch.distributions.Categorical(logits=NET(STATE)).log_prob(ACTION)


def ratio():
    now = log_probability()
    return (now - now.detach()).exp()


REWARDS = {
    "q_learning": lambda: F.smooth_l1_loss(taken(NET(STATE)), TARGET),
    "by_hand": lambda: ((taken(NET(STATE)) - TARGET) ** 2).mean(),
    "prioritised": lambda: (torch.rand(8) * F.mse_loss(
        taken(NET(STATE)), TARGET, reduction="none")).mean(),
    "ppo": lambda: -torch.min(
        ratio() * TARGET, ratio().clamp(0.8, 1.2) * TARGET).mean(),
    "ppo_as_cleanrl": lambda: torch.max(
        -TARGET * ratio(), -TARGET * ratio().clamp(0.8, 1.2)).mean(),
    "reinforce": lambda: -(log_probability() * TARGET).sum(),
    "reinforce_in_a_list": lambda: torch.stack(
        [-p * r for p, r in zip(log_probability(), TARGET)]).sum(),
    "actor_critic": lambda: -(log_probability() * TARGET).mean() +
    F.mse_loss(NET(STATE)[:, 0], TARGET),
}
OTHERS = {
    "newest_of_a_sequence": lambda: F.mse_loss(
        NET(STATE[:, None]).gather(1, torch.zeros(8, 1, 2).long()),
        torch.zeros(8, 1, 2)),
    "sure": lambda: ((taken(NET(STATE).softmax(-1)) - 1) ** 2).mean(),
    "cross_entropy": lambda: F.cross_entropy(NET(STATE), ACTION),
    "label_smoothing": lambda: -taken(NET(STATE).log_softmax(-1)).mean(),
    "weighted_classes": lambda: -(
        taken(NET(STATE).log_softmax(-1)) * torch.rand(8)).mean(),
    "regression": lambda: F.mse_loss(NET(STATE)[:, 0], TARGET),
    "masked": lambda: F.mse_loss(
        NET(STATE)[ACTION > 0], NET(STATE)[ACTION > 0].detach()),
    "cloning": lambda: -log_probability().mean(),
}


@pytest.mark.parametrize("name", {**REWARDS, **OTHERS})
def test_a_loss_shows_that_it_follows_rewards(name):
    objective = Objective()
    loss = {**REWARDS, **OTHERS}[name]()
    objective.begins(loss)
    assert not objective.follows_rewards
    objective.reached()
    assert objective.follows_rewards == (name in REWARDS)


@pytest.mark.parametrize("given", [None, 0.5, torch.tensor(0.5)])
def test_a_loss_without_a_graph_shows_nothing(given):
    objective = Objective()
    objective.begins(given)
    objective.reached()
    assert not objective.follows_rewards


def moves(weight_of, steps=400):
    """At which of some steps the weights of a loss are seen to move."""
    weights, seen = LossWeights(), []
    for step in range(steps):
        first, second = NET(STATE).square().mean(), NET(STATE).abs().mean()
        loss = (first + weight_of(step) * second) / 2
        weights.begins(loss)
        loss.backward()
        weights.reached()
        seen.append(weights.move)
    return [step for step in range(steps) if seen[step]]


def test_an_annealed_weight_moves_while_it_is_annealed():
    seen = moves(lambda step: min(max(step - 100, 0), 200) / 200)
    assert seen[0] in range(100, 117) and seen[-1] in range(300, 317)
    assert len(seen) == 1 + seen[-1] - seen[0]
    assert moves(lambda step: 1 - min(step, 300) / 400) == []


def test_a_smoothed_cross_entropy_multiplies_by_numbers():
    weights = LossWeights()
    loss = F.cross_entropy(NET(STATE), ACTION, label_smoothing=0.1)
    weights.begins(loss)
    weights.reached()
    assert not weights.move


def test_what_stands_or_is_drawn_does_not():
    assert moves(lambda step: 0.3) == []
    draws = torch.rand(400, generator=torch.Generator().manual_seed(1)).tolist()
    assert len(moves(lambda step: draws[step])) < 64
    scale = torch.tensor(2.0)
    assert moves(lambda step: scale * (step + 1)) == []


def test_a_pass_of_another_model_says_nothing():
    weights = LossWeights()
    for step in range(64):
        loss = NET(STATE).mean() * float(step)
        weights.begins(loss)
    assert not weights.move
