"""What is watched can be copied, pickled and sent to another process, as it can
without; and what comes of that is nobody's who is watched."""

import copy
import io
import math
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from models import Training
from torch import nn

import nanwatch

MOMENTS = ("before", "after", "with a NaN")


def at(training, watch, moment):
    """Trains until then."""
    if moment != "before":
        for _ in range(3):
            watch.step(training.step())
    if moment == "with a NaN":
        training.before_forward = lambda x: x * math.nan
        watch.step(training.step())
        assert watch.modules.on
        training.before_forward = lambda x: x


@pytest.fixture(params=("default", "layers", "ops"))
def level(request):
    return request.param


@pytest.fixture(params=MOMENTS)
def watched(daemon, name, level, request):
    training = Training("pictures")
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        level=level, budget=1e9, address=daemon.address)
    at(training, watch, request.param)
    yield training, watch
    watch.close(5)


def is_plain(module):
    return all(
        not m._forward_hooks and not m._forward_hooks_with_kwargs
        and "__getstate__" not in vars(m) for m in module.modules())


def pickled(value):
    """And read again."""
    data = pickle.dumps(value)
    assert b"nanwatch" not in data, "it is read where there is none"
    return pickle.loads(data)


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    assert b"nanwatch" not in file.getvalue()
    file.seek(0)
    return torch.load(file, weights_only=False)


def sent(value):
    """To a process that is spawned."""
    data = ForkingPickler.dumps(value)
    assert b"nanwatch" not in bytes(data)
    return pickle.loads(data)


COPIES = (copy.deepcopy, copy.copy, pickled, saved, sent)


@pytest.mark.parametrize("make", [m for m in COPIES if m is not copy.copy])
def test_a_model(watched, make):
    training, watch = watched
    x, y = training.batches()
    made = make(training.model)
    assert is_plain(made)
    rows = len(watch.modules.rows)
    loss = training.batches.loss(made(x), y)
    assert len(watch.modules.rows) == rows
    loss.backward()
    watch.step(training.step())
    assert watch.run.stats.bad_input == 0


def test_an_average_of_the_model(watched):
    training, watch = watched
    average = torch.optim.swa_utils.AveragedModel(training.model)
    watch.step(training.step())
    average.update_parameters(training.model)
    assert is_plain(average)


@pytest.mark.parametrize("make", COPIES)
def test_a_scaler(watched, make):
    """One steps by itself, and leaves the first as it was."""
    training, watch = watched
    made = make(training.scaler)
    assert not {"step", "unscale_", "__getstate__"} & set(vars(made))
    before = training.scaler.state_dict()
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    made.scale(model(torch.ones(1, 2)).sum()).backward()
    made.unscale_(optimizer)
    assert model.bias.grad.item() == 1.0
    made.step(optimizer)
    made.update()
    if make is not copy.copy:  # which shares what it holds
        assert training.scaler.state_dict() == before
    assert not watch._current.updates


@pytest.mark.parametrize("make", COPIES)
def test_an_optimizer(watched, make):
    training, watch = watched
    made = make(training.optimizer)
    made.step()
    assert not watch._current.updates
    training.optimizer.load_state_dict(training.optimizer.state_dict())
    watch.step(training.step())
    watch.flush(0)
    assert watch.run.stats.pushed


class Keeping(torch.optim.SGD):
    """Keeps what it has, hooks too."""

    def __getstate__(self):
        return dict(vars(self))


def test_an_optimizer_that_copies_its_hooks(daemon, name):
    model = nn.Linear(2, 1)
    optimizer = Keeping(model.parameters(), lr=0.1)
    with nanwatch.torch.watch(model, optimizer, run=name,
                              address=daemon.address) as watch:
        for made in (copy.deepcopy(optimizer), sent(optimizer)):
            made.step()
            assert not watch._current.updates


class CopiesItself(nn.Linear):
    """By means of its own, hooks too."""

    def __deepcopy__(self, memo):
        made = CopiesItself(self.in_features, self.out_features)
        vars(made)["_forward_hooks"] = copy.deepcopy(self._forward_hooks, memo)
        made._forward_hooks_with_kwargs.update(self._forward_hooks_with_kwargs)
        return made


def test_a_module_that_copies_its_hooks(daemon, name, level):
    model = nn.Sequential(CopiesItself(2, 2), nn.ReLU())
    with nanwatch.torch.watch(model, run=name, level=level,
                              address=daemon.address) as watch:
        made = copy.deepcopy(model)
        made(torch.ones(1, 2))
        assert not watch.modules.rows


def test_hooks_of_others_are_copied(daemon, name, level):
    seen = []
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model[0].register_forward_hook(
        lambda module, args, kwargs, output: seen.append(module),
        with_kwargs=True)
    with nanwatch.torch.watch(model, run=name, level=level,
                              address=daemon.address):
        made = copy.deepcopy(model)
        made(torch.ones(1, 2))
    assert seen == [made[0]]
    model(torch.ones(1, 2))
    assert seen == [made[0], model[0]]


def test_a_compiled_model(watched):
    training, watch = watched
    compiled = torch.compile(training.model, backend="eager")
    made = copy.deepcopy(compiled)
    assert is_plain(made._orig_mod)


def test_a_replica(daemon, name, level, tmp_path):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        with nanwatch.torch.watch(model, run=name, level=level,
                                  address=daemon.address):
            made = copy.deepcopy(model)
            assert is_plain(made)
            made(torch.ones(1, 2)).sum().backward()
    finally:
        torch.distributed.destroy_process_group()


def test_a_method_of_the_programs_own_comes_back(daemon, name):
    """What a program put before its scaler's stays there afterwards, and in
    copies."""
    training = Training("pictures")
    steps = []
    step = training.scaler.step

    def own(optimizer):
        steps.append(optimizer)
        return step(optimizer)

    training.scaler.step = own
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        address=daemon.address)
    watch.step(training.step())
    assert vars(copy.deepcopy(training.scaler))["step"] is own
    watch.close(5)
    assert training.scaler.step is own and len(steps) == 1
