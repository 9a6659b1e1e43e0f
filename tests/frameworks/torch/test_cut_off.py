"""A part of the model that an optimizer holds and that never gets a gradient:
one that runs with a graph, and whose results are detached on the way to what is
trained, is a warning; what looks like it is a note at most."""

import copy
import pickle

import pytest
import torch
from made_wrong import batches, right
from torch import nn
from verdicts import Verdict

import nanwatch

STEPS = 320


class Cut(nn.Module):
    """Its encoder is cut off from the loss."""

    def __init__(self, detach=torch.Tensor.detach):
        super().__init__()
        torch.manual_seed(1)
        self.encoder = nn.Sequential(
            nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 12))
        self.head = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 1))
        self.detach = detach

    def forward(self, x):
        return self.head(self.detach(self.encoder(x)) - 0.5)


def train(daemon, name, model, optimizer=None, loop=right, steps=STEPS,
          loss_of=None):
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = loss_of or (lambda x, y: (model(x) - y).square().mean())
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(steps)):
            loss = loss_of(x, y)
            loop(model, optimizer, loss, i)
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def is_said(it, part):
    assert it.worst == "warning", it
    assert it.cause == "update_made_wrong", it
    assert f"{part} runs in front of what is trained" in it.headline, it
    assert it.step == 0, it


def is_no_more_than_a_note(it):
    """What norms do is another matter."""
    assert it.worst in ("", "info") or it.cause != "update_made_wrong", it


@pytest.mark.parametrize("detach", [
    torch.Tensor.detach,
    lambda h: h.data,
    lambda h: torch.tensor(h.tolist()),
    lambda h: torch.from_numpy(h.detach().numpy() * 2),
], ids=["detach", "data", "list", "numpy"])
def test_an_encoder_whose_results_are_detached(daemon, name, detach):
    is_said(train(daemon, name, Cut(detach)), "encoder")


def test_one_that_is_called_outside_of_the_models_forward(daemon, name):
    """As in a training_step of Lightning."""
    model = Cut()
    it = train(daemon, name, model, loss_of=lambda x, y: (
        model.head(model.encoder(x).detach()) - y).square().mean())
    is_said(it, "encoder")


def test_blocks_before_a_detach(daemon, name):
    class Blocks(nn.Module):
        def __init__(self):
            super().__init__()
            self.begin = nn.Linear(8, 16)
            self.h = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
            self.end = nn.Linear(16, 1)

        def forward(self, x):
            x = self.begin(x)
            for i, each in enumerate(self.h):
                x = torch.relu(each(x))
                x = x.detach() if i == 1 else x
            return self.end(x)

    it = train(daemon, name, Blocks())
    assert it.worst == "warning", it
    assert "runs in front of what is trained" in it.headline, it


def test_it_costs_no_hook_in_the_end_and_none_in_a_copy(daemon, name):
    model = Cut()
    hooks = []

    def loop(model, optimizer, loss, i):
        right(model, optimizer, loss, i)
        here = [m for m in model.modules() if m._forward_hooks]
        hooks.append(len(here))
        if here:
            for other in (copy.deepcopy(model.head),
                          pickle.loads(pickle.dumps(model.head))):
                assert not any(m._forward_hooks for m in other.modules())

    train(daemon, name, model, loop=loop, steps=200)
    assert 0 < sum(1 for n in hooks if n) <= 16, hooks
    assert hooks[-1] == 0


# --- What is meant ----------------------------------------------------------


def test_an_encoder_that_runs_without_a_graph(daemon, name):
    model = Cut()
    encode = torch.no_grad()(model.encoder)
    it = train(daemon, name, model, loss_of=lambda x, y: (
        model.head(encode(x)) - y).square().mean())
    is_no_more_than_a_note(it)


def test_an_encoder_that_is_frozen(daemon, name):
    model = Cut()
    model.encoder.requires_grad_(False)
    assert train(daemon, name, model).worst == ""


def test_a_head_that_is_not_called(daemon, name):
    model = Cut(lambda h: h)
    model.other = nn.Linear(12, 3)
    is_no_more_than_a_note(train(daemon, name, model))


class WithAnother(Cut):
    """What else it makes of the features no loss depends on, as a pooler's, or
    a head's that only feeds a metric."""

    def __init__(self, *, early, cut):
        super().__init__(lambda h: h)
        self.other = nn.Linear(12, 5)
        self.early, self.cut = early, cut
        self.seen = 0.0

    def forward(self, x):
        h = self.encoder(x)
        if self.early:
            self.look(h)
        out = self.head(h)
        if not self.early:
            self.look(h)
        return out

    def look(self, h):
        self.seen += float(self.other(h.detach() if self.cut else h).mean())


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_a_head_that_only_feeds_a_metric(daemon, name, early, cut):
    model = WithAnother(early=early, cut=cut)
    is_no_more_than_a_note(train(daemon, name, model))


@pytest.mark.parametrize("moves", ["never", "now and then", "at each step"])
def test_a_target_network_that_the_optimizer_holds(daemon, name, moves):
    model = nn.ModuleDict({"q": Cut(lambda h: h)})
    model["target"] = copy.deepcopy(model["q"])

    def loss_of(x, y):
        aim = model["target"](x + 0.1).detach()
        return (model["q"](x) - y - 0.5 * aim).square().mean()

    def loop(model, optimizer, loss, i):
        right(model, optimizer, loss, i)
        by = {"never": 0.0, "at each step": 0.01}.get(moves, i % 100 == 99)
        with torch.no_grad():
            for a, b in zip(model["target"].parameters(),
                            model["q"].parameters()):
                a.lerp_(b, float(by)) if by else None

    is_no_more_than_a_note(train(daemon, name, model, loop=loop,
                                 loss_of=loss_of))


def test_a_teacher_that_is_given_the_same_batch(daemon, name):
    model = nn.ModuleDict({
        "teacher": nn.Sequential(nn.Linear(8, 32), nn.Tanh(),
                                 nn.Linear(32, 1)),
        "student": Cut(lambda h: h)})

    def loss_of(x, y):
        aim = model["teacher"](x).detach()
        return (model["student"](x) - aim).square().mean()

    is_no_more_than_a_note(train(daemon, name, model, loss_of=loss_of))


def test_a_head_alone_that_warms_up(daemon, name):
    model = Cut()

    def loop(model, optimizer, loss, i):
        right(model, optimizer, loss, i)
        if i == 200:
            model.detach = lambda h: h

    is_no_more_than_a_note(train(daemon, name, model, loop=loop))


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 1)
        self.base.requires_grad_(False)
        self.A, self.B = nn.Linear(8, 2, bias=False), nn.Linear(2, 1)
        nn.init.zeros_(self.B.weight)

    def forward(self, x):
        return self.base(x) + self.B(self.A(x))


def test_an_adapter_whose_second_half_begins_at_0(daemon, name):
    assert train(daemon, name, Adapted()).worst == ""


def test_two_players(daemon, name):
    """The generator's samples are detached for the discriminator's turn."""
    torch.manual_seed(1)
    model = nn.ModuleDict({
        "g": nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)),
        "d": nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))})
    optimizers = {k: torch.optim.Adam(model[k].parameters(), lr=2e-4)
                  for k in ("d", "g")}
    aim = nn.functional.binary_cross_entropy_with_logits
    with nanwatch.torch.watch(model, optimizers, run=name,
                              address=daemon.address) as watch:
        for x, _ in batches(STEPS):
            fake = model["g"](x)
            for who in ("d", "g"):
                optimizers[who].zero_grad()
                if who == "d":
                    real = model["d"](torch.randn(len(x), 4) + 1)
                    loss = aim(real, torch.ones_like(real)) + aim(
                        model["d"](fake.detach()), torch.zeros_like(real))
                else:
                    loss = aim(model["d"](fake), torch.ones_like(real))
                loss.backward()
                optimizers[who].step()
            watch.step(loss)
        assert watch.flush(20)
    it = Verdict(daemon, name)
    assert "not trained" not in it.headline, it
    assert it.worst in ("", "info"), it
