"""Level "compare": what is recorded for `nanwatch compare`."""

import os
import pathlib

import pytest
import torch
from comparisons import LIBRARY, compared, library  # noqa: F401
from ranks import ranks_say
from torch import nn

import nanwatch
import nanwatch.torch
from nanwatch import _sketches
from nanwatch._compared_steps import ComparedSteps

HERE = pathlib.Path(__file__).resolve().parent
MASK = (1 << 64) - 1


def model_of(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(),
                         nn.Linear(16, 4))


def train(daemon, run, put=None, scale=None, steps=5):
    model = model_of()
    if put is not None:
        put(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = None if scale is None else torch.amp.GradScaler(
        "cpu", init_scale=scale)
    watch = nanwatch.torch.watch(model, optimizer, scaler, run=run,
                                 level="compare", address=daemon.address)
    data = torch.Generator().manual_seed(2)
    for _ in range(steps):
        optimizer.zero_grad()
        x = torch.randn(6, 8, generator=data)
        loss = model(x).square().mean()
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        watch.step(loss)
    assert watch.close(timeout=10.0)
    return model, watch


def test_a_repeat_is_equal_to_the_bit(daemon, name):
    train(daemon, name + "-a")
    train(daemon, name + "-b")
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 0, found
    assert "first_unequal" not in found and "divergence" not in found
    assert found["tensors"]["steps"] == [0, 1, 2]
    assert found["tensors"]["only_a"] == found["tensors"]["only_b"] == 0
    # Four weights and their gradients, a batch, and of five modules (the model
    # is one) input and output, and gradients.
    assert found["tensors"]["compared"] > 3 * (2 * 6 + 1 + 5 * 3)
    assert found["batches"]["steps"] == 5


def test_it_is_kept_exported_and_replayed(daemon, name, tmp_path):
    def put(model):
        model[1].eps = 1e-2
    train(daemon, name + "-a")
    train(daemon, name + "-b", put)
    files = []
    for run in ("a", "b"):
        files.append(str(tmp_path / f"{run}.db"))
        daemon.nanwatch("export", f"{name}-{run}", "--output", files[-1])
        replayed = daemon.nanwatch("replay", files[-1])
        assert replayed.returncode == 0, replayed.stdout
    status, found = compared(daemon, *files)
    assert status == 2
    assert found["divergence"]["class"] == "divergent_op", found
    assert found["divergence"]["op"] == "1"
    assert found["divergence"]["type"] == "LayerNorm"
    # The same of the daemon, and of its history.
    history = [f"{daemon.history}:{name}-{run}@0" for run in ("a", "b")]
    for pair in ((name + "-a", name + "-b"), history):
        _, again = compared(daemon, *pair)
        assert again["divergence"] == found["divergence"]


def test_gradients_are_compared_without_the_loss_scale(daemon, name):
    train(daemon, name + "-a", scale=2.0**8)
    train(daemon, name + "-b", scale=2.0**12)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert "divergence" not in found, found
    assert found["tensors"]["compared"] > 100


class Square(nn.Linear):
    """What it gives on is as large as what a function behind it does."""

    def __init__(self, width, behind):
        super().__init__(width, width)
        self._behind = behind

    def forward(self, x):
        return self._behind(super().forward(x))


def test_a_function_behind_an_op_is_not_taken_for_it(daemon, name):
    for run, behind in ("a", torch.clone), ("b", lambda x: 2 * x.mul(0.5)):
        train(daemon, f"{name}-{run}", lambda model, behind=behind:
              model.insert(0, Square(8, behind)))
    status, found = compared(daemon, name + "-a", name + "-b")
    assert status == 0, found
    assert "divergence" not in found
    assert found["tensors"]["only_a"] == found["tensors"]["only_b"] == 0


def test_other_data_is_told_at_its_step(daemon, name):
    train(daemon, name + "-a")

    def put(model):
        # A batch of a step where no tensors are recorded.
        seen = []
        before = model.forward

        def forward(x):
            seen.append(1)
            return before(x)
        model.forward = forward
        model.register_forward_pre_hook(
            lambda m, args: (args[0] + 1,) if len(seen) == 3 else None)
    train(daemon, name + "-b", put)
    _, found = compared(daemon, name + "-a", name + "-b")
    assert found["divergence"]["class"] == "other_data", found
    assert found["divergence"]["step"] == 3


def test_without_the_library_it_says_so_and_watches(daemon, name, monkeypatch):
    monkeypatch.setenv(_sketches.LIBRARY, os.devnull)
    _sketches.library.cache_clear()
    _, watch = train(daemon, name)
    assert watch.run.stats.bad_input == 1, watch.run.stats
    status, found = compared(daemon, name, name)
    assert status == 0
    assert found["tensors"]["compared"] == 0
    assert found["loss"]["steps"] == 5


def test_nothing_stays_on_the_model(daemon, name):
    model, _ = train(daemon, name)
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
        assert "__getstate__" not in vars(module)


def test_looks_are_seldom_where_they_take_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    steps = ComparedSteps()
    recorded = []
    looked_at = True
    for number in range(2000):
        if looked_at:
            recorded.append(number)
            steps.spent = 0.01
        now[0] += 0.02 if looked_at else 0.01
        steps.end(looked_at)
        looked_at = steps.has_next(number)
    # A look takes as long as a step, and half as long again unseen: each 300th
    # step is half a hundredth of the time.
    assert recorded[:4] == [0, 1, 2, 512]
    assert all(number % 512 == 0 for number in recorded[3:])


def test_digests_of_batches_are_seldom_where_they_take_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    steps = ComparedSteps()
    digests = []
    looked_at = True
    for number in range(1000, 1400):
        if steps.has_batch:
            digests.append(number)
            steps.spent = 0.0001
        now[0] += 0.01
        steps.end(looked_at)
        looked_at = steps.has_next(number)
    # A digest takes a hundredth of a step, and half of that unseen.
    assert digests[:64] == list(range(1000, 1064))
    assert digests[64:] == list(range(1064, 1400, 4))


@pytest.mark.parametrize("apart", [1, 2, 32, 1 << 20])
def test_looks_are_as_often_where_a_program_counts_samples(apart):
    steps = ComparedSteps()
    looks = 0
    looked_at = True
    for i in range(256):
        looks += looked_at
        steps.end(looked_at)
        looked_at = steps.has_next(i * apart)
    assert looks == 6  # the first three, then each 64th


def test_shards_of_ranks_add_up_to_the_whole():
    said = ranks_say(HERE / "sharded.py", **{_sketches.LIBRARY: str(LIBRARY)})
    digest, sums = said[0]["whole"][:2]
    norm = sum(s * s for s in sums) ** 0.5
    for dim in ("0", "1", "2", "replicate"):
        parts = [each[dim] for each in said if each[dim] is not None]
        # Of replicas the first rank's counts.
        assert len(parts) == (1 if dim == "replicate" else 2)
        assert sum(part[0] for part in parts) & MASK == digest, dim
        for i, want in enumerate(sums):
            got = sum(part[1][i] for part in parts)
            assert abs(got - want) <= 1e-6 * norm, dim
