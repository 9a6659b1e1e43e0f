"""What the graph of a loss says of its kind, and of the weights of its terms."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from verdicts import Verdict

import nanwatch
from nanwatch._torch.objective import Objective

NET = nn.Linear(4, 2)
STATE = torch.randn(8, 4)
ACTION = torch.randint(0, 2, (8,))
TARGET = torch.randn(8)


def made():
    return Objective(lambda what, work, *of: work(*of))


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
    objective = made()
    loss = {**REWARDS, **OTHERS}[name]()
    objective.begins(loss)
    assert not objective.follows_rewards
    objective.ended([0])
    assert objective.follows_rewards == (name in REWARDS)


@pytest.mark.parametrize("given", [None, 0.5, torch.tensor(0.5)])
def test_a_loss_without_a_graph_shows_nothing(given):
    objective = made()
    objective.begins(given)
    objective.ended([0])
    assert not objective.follows_rewards


def moves(weight_of, steps=400, loss_of=None):
    """At which of some steps the weights of a loss are seen to move."""
    it, seen = made(), []
    loss_of = loss_of or (lambda a, b, weight: (a + weight * b) / 2)
    for step in range(steps):
        first, second = NET(STATE).square().mean(), NET(STATE).abs().mean()
        loss = loss_of(first, second, weight_of(step))
        losses = loss if isinstance(loss, list) else [loss]
        for each in losses:
            it.begins(each)
            each.backward(retain_graph=True)
            it.ended([0])
        it.updated()
        seen.append(it.moves)
    return [step for step in range(steps) if seen[step]]


def ramp(step):
    return min(max(step - 100, 0), 200) / 200


@pytest.mark.parametrize("loss_of", [
    lambda a, b, w: (a + w * b) / 2,
    lambda a, b, w: a + torch.tensor(w) * b,
    lambda a, b, w: a + b / (1 / max(w, 1e-9)),
    lambda a, b, w: torch.add(a, b, alpha=w),
    lambda a, b, w: [a, w * b],
], ids=["number", "tensor", "divided", "alpha", "pass_of_its_own"])
def test_an_annealed_weight_moves_while_it_is_annealed(loss_of):
    seen = moves(ramp, loss_of=loss_of)
    assert 100 <= seen[0] <= 108 and 300 <= seen[-1] <= 308
    assert len(seen) == 1 + seen[-1] - seen[0]
    assert moves(lambda step: 1 - min(step, 300) / 400, loss_of=loss_of) == []


def test_a_term_that_is_switched_on():
    assert moves(lambda step: 6.0 * (step >= 300)) == [300]
    added = moves(lambda step: step >= 300,
                  loss_of=lambda a, b, on: a + b if on else a)
    assert added and 300 <= added[0] <= 308 and added[-1] <= 316
    assert moves(lambda step: step < 300,
                 loss_of=lambda a, b, on: a + b if on else a) == []
    turns = moves(lambda step: step % 2,
                  loss_of=lambda a, b, on: a + b if on else a)
    assert len(turns) < 16


def test_losses_of_one_update_have_weights_of_their_own():
    assert moves(lambda step: 0, loss_of=lambda a, b, _: [
        a, 0.8 * a, 0.64 * b, 0.8 ** 3 * b]) == []


def test_a_scale_of_the_whole_loss_is_none():
    assert moves(lambda step: 1.02 ** step,
                 loss_of=lambda a, b, w: w * (a + b)) == []


def test_a_smoothed_cross_entropy_multiplies_by_numbers():
    it = made()
    for _ in range(2):
        it.begins(F.cross_entropy(NET(STATE), ACTION, label_smoothing=0.1))
        it.ended([0])
        assert not it.moves


def test_what_stands_or_is_drawn_does_not():
    assert moves(lambda step: 0.3) == []
    draws = torch.rand(400, generator=torch.Generator().manual_seed(1)).tolist()
    assert len(moves(lambda step: draws[step])) < 64


LENGTHS = {
    "likelihood": lambda x: F.cross_entropy(
        NET(x), torch.zeros(len(x), dtype=torch.long), reduction="sum") / 4,
    "mean": lambda x: NET(x).square().mean(),
    "sum": lambda x: NET(x).square().sum() / 4,
}


@pytest.mark.parametrize("kind", LENGTHS)
def test_samples_that_become_longer(kind):
    def seen(length_of):
        return moves(length_of, loss_of=lambda a, b, length: LENGTHS[kind](
            STATE.repeat(length, 1)))

    longer = seen(lambda step: 1 + step // 100)
    assert {step // 100 for step in longer} == {1, 2, 3}
    assert seen(lambda step: 4 - step // 100) == []
    batches = seen(lambda step: 1 + (step % 5 > 0))  # the last is smaller
    assert len(batches) < 16


def train_unfrozen(daemon, name, told):
    """The norm is that of the body, too, from step 300 on."""
    torch.manual_seed(1)
    body, head = nn.Linear(16, 16), nn.Linear(16, 1)
    model = nn.Sequential(body, head)
    with torch.no_grad():
        head.weight *= 10
    optimizer = torch.optim.SGD(head.parameters(), 1e-6)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(450):
            if i == 300 and told:
                optimizer.add_param_group({"params": body.parameters()})
            scale = 30 if i >= 300 and not told else 1
            loss = (model(torch.randn(64, 16)) - 1).square().mean()
            optimizer.zero_grad()
            (scale * loss).backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def test_weights_that_are_unfrozen_have_a_norm(daemon, name):
    it = train_unfrozen(daemon, name, told=True)
    assert it.worst in ("", "info"), it


def test_a_norm_that_grows_by_itself(daemon, name):
    assert train_unfrozen(daemon, name, told=False).worst == "warning"


def test_a_pass_of_another_model_says_nothing():
    it = made()
    for step in range(64):
        it.begins(NET(STATE).mean() + float(step) * NET(STATE).mean())
        it.ended([])
    assert not it.moves
