"""What the graph of a loss says of its kind, and of the weights of its terms;
what is made without one, of what it compares with."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from verdicts import Verdict

import nanwatch
from nanwatch._torch import own_targets
from nanwatch._torch.objective import Objective

NET = nn.Linear(4, 2)
STATE = torch.randn(8, 4)
ACTION = torch.randint(0, 2, (8,))
TARGET = torch.linspace(-1.0, 2.0, 8)
WEIGHT = torch.rand(8)


@pytest.fixture(autouse=True)
def _nothing_is_compiled(monkeypatch):
    """By tests before: then modules get no hooks."""
    monkeypatch.setattr(own_targets, "has_compiled", lambda: False)


def objective():
    own = {id(p) for p in NET.parameters()}
    return Objective(lambda what, work, *of: work(*of), lambda: own)


def taken(outputs):
    return outputs.gather(1, ACTION[:, None]).squeeze(1)


def log_probability():
    return torch.distributions.Categorical(logits=NET(STATE)).log_prob(ACTION)


def log_density():
    spread = torch.distributions.Normal(NET(STATE), 0.5)
    return spread.log_prob(STATE[:, :2]).sum(1)


def ratio():
    now = log_probability()
    return (now - now.detach()).exp()


REWARDS = {
    "ppo": lambda: -torch.min(
        ratio() * TARGET, ratio().clamp(0.8, 1.2) * TARGET).mean(),
    "ppo_as_cleanrl": lambda: torch.max(
        -TARGET * ratio(), -TARGET * ratio().clamp(0.8, 1.2)).mean(),
    "reinforce": lambda: -(log_probability() * TARGET).sum(),
    "of_wins_alone": lambda: -(log_probability() * WEIGHT).sum(),
    "by_log_softmax": lambda: -(
        taken(NET(STATE).log_softmax(-1)) * TARGET).mean(),
    "by_cross_entropy": lambda: (TARGET * F.cross_entropy(
        NET(STATE), ACTION, reduction="none")).mean(),
    "gaussian": lambda: -(log_density() * TARGET).mean(),
    "gaussian_of_wins_alone": lambda: -(log_density() * WEIGHT).mean(),
    "reinforce_in_a_list": lambda: torch.stack(
        [-p * r for p, r in zip(log_probability(), TARGET)]).sum(),
    "actor_critic": lambda: -(log_probability() * TARGET).mean() +
    F.mse_loss(NET(STATE)[:, 0], TARGET),
}
OTHERS = {
    "one_of_two_heads": lambda: F.mse_loss(taken(NET(STATE)), TARGET),
    "newest_of_a_sequence": lambda: F.mse_loss(
        NET(STATE[:, None]).gather(1, torch.zeros(8, 1, 2).long()),
        torch.zeros(8, 1, 2)),
    "sure": lambda: ((taken(NET(STATE).softmax(-1)) - 1) ** 2).mean(),
    "cross_entropy": lambda: F.cross_entropy(NET(STATE), ACTION),
    "label_smoothing": lambda: -taken(NET(STATE).log_softmax(-1)).mean(),
    "weighted_classes": lambda: -(
        taken(NET(STATE).log_softmax(-1)) * WEIGHT).mean(),
    "masked_likelihood": lambda: -(
        log_probability() * (WEIGHT > 0.5).float()).sum() / 4,
    "cosine": lambda: -(F.normalize(NET(STATE), dim=1) *
                        F.normalize(STATE[:, :2], dim=1)).sum(1).mean(),
    "correlation": lambda: 1 - (
        NET(STATE)[:, 0] * TARGET).sum() / NET(STATE)[:, 0].norm(),
    "annealed_divergence": lambda: F.mse_loss(
        NET(STATE)[:, 0], TARGET) + 0.1 * (log_density() - 1).sum(),
    "regression": lambda: F.mse_loss(NET(STATE)[:, 0], TARGET),
    "weighted_regression": lambda: (
        WEIGHT * (NET(STATE)[:, 0] - TARGET) ** 2).mean(),
    "masked": lambda: F.mse_loss(
        NET(STATE)[ACTION > 0], NET(STATE)[ACTION > 0].detach()),
    "cloning": lambda: -log_probability().mean(),
    "sure_of_itself": lambda: (
        0.2 * log_probability() + NET(STATE)[:, 0]).mean(),
}


@pytest.mark.parametrize("name", {**REWARDS, **OTHERS})
def test_a_loss_shows_that_it_follows_rewards(name):
    it = objective()
    loss = {**REWARDS, **OTHERS}[name]()
    it.begins(loss)
    assert not it.follows_rewards
    it.ended([0])
    assert it.follows_rewards == (name in REWARDS)
    del it
    assert not nn.modules.module._global_forward_hooks


@pytest.mark.parametrize("given", [None, 0.5, torch.tensor(0.5)])
def test_a_loss_without_a_graph_shows_nothing(given):
    it = objective()
    it.begins(given)
    it.ended([0])
    assert not it.follows_rewards and not it.moves


# --- What it compares with --------------------------------------------------


def follow(loss_of, steps=12):
    """`loss_of` a step."""
    it, hooks = objective(), nn.modules.module._global_forward_hooks
    for step in range(steps):
        loss = loss_of(step)
        it.begins(loss)
        loss.backward()
        it.ended([0])
        it.updated()
    assert not hooks
    return it.follows_rewards


COPY = copy.deepcopy(NET)
TEACHER = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2))


@torch.no_grad()
def made_by(model):
    return 0.9 * model(STATE).max(1)[0]


ATOMS = nn.Linear(4, 2 * 3)
PICKS = {
    "gather": lambda q: taken(q),
    "index": lambda q: q[torch.arange(8), ACTION],
    "one_hot": lambda q: (q * F.one_hot(ACTION, 2)).sum(1),
}


@pytest.mark.parametrize("pick", PICKS)
def test_q_learning(pick):
    assert follow(lambda _: F.smooth_l1_loss(
        PICKS[pick](NET(STATE)), TARGET + made_by(COPY)))
    assert follow(lambda _: (
        (PICKS[pick](NET(STATE)) - made_by(COPY)) ** 2).mean())
    assert not follow(lambda _: F.mse_loss(PICKS[pick](NET(STATE)), TARGET))


def test_targets_of_the_model_itself():
    assert follow(lambda _: F.mse_loss(taken(NET(STATE)), made_by(NET)))
    # Now and then, or of other samples, or out of training: a look at how good
    # it is.
    assert not follow(lambda i: F.mse_loss(
        taken(NET(STATE)), made_by(NET) if i % 3 == 0 else TARGET))

    def loss_of(_, how):
        with torch.no_grad():
            NET(STATE[:5]) if how == "others" else NET.eval()(STATE)
        return F.mse_loss(taken(NET.train()(STATE)), TARGET)

    assert not follow(lambda i: loss_of(i, "others"))
    assert not follow(lambda i: loss_of(i, "out of training"))


def test_a_distribution_of_values():
    def loss_of(_):
        aim = COPY(STATE).detach().softmax(1)
        return -(aim * NET(STATE).log_softmax(1)).sum(1).mean()

    COPY.requires_grad_(False)
    assert follow(loss_of)
    COPY.requires_grad_(True)


def test_what_another_model_says_stays():
    assert not follow(lambda _: F.mse_loss(
        taken(NET(STATE)), made_by(TEACHER)))


def test_a_copy_that_no_loss_follows():
    assert not follow(lambda _: F.cross_entropy(
        NET(STATE) + 0 * made_by(COPY)[:, None], ACTION))


def test_what_runs_within_the_pass_alone():
    from torch.utils.checkpoint import checkpoint
    for again in (False, True):
        state = STATE.clone().requires_grad_(True)
        assert not follow(lambda _: F.mse_loss(
            taken(checkpoint(NET, state, use_reentrant=again)), TARGET))


def train(daemon, name, copies, steps=500):
    """The values grow with rewards that do, from step 200 on."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    target = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i in range(steps):
            state = torch.randn(32, 4)
            action = torch.randint(0, 2, (32,))
            won = (0.5 + max(0, i - 200) / 40) * (state[:, 0] + action)
            if copies:
                with torch.no_grad():
                    won = won + 0.5 * target(torch.randn(32, 4)).max(1)[0]
            if i % 40 == 0:
                target.load_state_dict(model.state_dict())
            values = model(state)[torch.arange(32), action]
            loss = F.mse_loss(values, won)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def test_values_that_grow(daemon, name):
    it = train(daemon, name, copies=True)
    assert it.worst in ("", "info"), it


def test_the_same_numbers_of_no_copy(daemon, name):
    assert train(daemon, name, copies=False).worst == "critical"


# --- Weights of terms -------------------------------------------------------


def moves(weight_of, steps=400, loss_of=None):
    """At which of some steps the weights of a loss are seen to move."""
    it, seen = objective(), []
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
    it = objective()
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
    it = objective()
    for step in range(64):
        it.begins(NET(STATE).mean() + float(step) * NET(STATE).mean())
        it.ended([])
    assert not it.moves
