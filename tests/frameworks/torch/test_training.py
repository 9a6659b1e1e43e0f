"""Real trainings on a CPU, watched and judged by a real daemon."""

import contextlib
import json
import math
import signal

import pytest
import torch
from daemons import Daemon
from models import KINDS, Training
from torch import nn
from verdicts import Verdict

import nanwatch

# Steps of these models are over within what one hook takes of a real one: no
# budget, or little would be seen of each.
ALL_MODULES = 1e9


def watched(training, daemon, name, level="default", **init):
    return nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=name,
        level=level, budget=ALL_MODULES, address=daemon.address, **init)


def train(training, watch, steps):
    for _ in range(steps):
        watch.step(training.step())


def verdict(daemon, watch, name):
    assert watch.flush(20), watch.run.stats
    assert watch.run.stats.bad_input == 0 and watch.run.stats.dropped == 0
    assert watch.close(20)
    return Verdict(daemon, name)


def replaced(module, change):
    """Its forward pass gives something else from now on."""
    forward = module.forward

    def changed(*args):
        return change(forward(*args))

    module.forward = changed


def with_nan(out):
    out = out.clone()
    out.view(-1)[3] = math.nan
    return out


@pytest.mark.parametrize("level", ("default", "layers", "ops"))
@pytest.mark.parametrize("kind", KINDS)
def test_healthy_stays_healthy(daemon, name, kind, level):
    training = Training(kind)
    steps = 24 if kind == "text" else 120
    with watched(training, daemon, name, level) as watch:
        train(training, watch, steps)
        it = verdict(daemon, watch, name)
    assert it.worst == "" and it.steps == steps, it
    assert it.headline.startswith("Healthy"), it
    values = {v["field"]: v for v in it.summary["values"]}
    assert values["loss_scale"]["last"] == 65536.0
    assert values["grad_norm"]["last"] > 0 and "learning_rate" in values
    assert "update_norm" in values
    seen = daemon.nanwatch("watch", name, "--once").stdout
    assert "update norm" in seen and "\nlayers" in seen
    layers = json.loads(daemon.nanwatch("layers", name, "--json").stdout)
    told = {layer["name"]: layer for layer in layers["layers"]}
    assert list(told) == [n for n, _ in training.model.named_parameters()]
    assert all(layer["rms"] > 0 for layer in told.values()), told
    assert ("zeros" in next(iter(told.values()))) == (level != "default")
    assert int(it.summary["op_statuses"]) > 0
    assert it.info["scaler"]["kind"] == "SCALING_KIND_DYNAMIC"
    assert it.info["precision"] == "fp16"


@pytest.mark.parametrize("level", ["default", "ops"])
def test_where_a_nan_is_born(daemon, name, level):
    """At "default" modules are looked at from the step after the loss on."""
    training = Training("pictures")
    watch = watched(training, daemon, name, level)
    train(training, watch, 50)
    replaced(training.model.features[2], with_nan)
    train(training, watch, 30)
    it = verdict(daemon, watch, name)
    assert it.worst == "critical" and it.cause == "nan_from_forward", it
    assert it.origin["op"] == "features.2", it
    assert it.origin["slot"] == "output" and it.origin["rank"] == 0
    assert it.step == 50, it
    assert "Conv2d" in it.headline


class BadGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.clone()
        gradient.view(-1)[0] = math.inf
        return gradient


def test_where_an_infinity_is_born_on_the_way_back(daemon, name):
    training = Training("text")
    watch = watched(training, daemon, name, "ops")
    train(training, watch, 20)
    module = training.model.blocks[1].fc1
    forward = module.forward
    module.forward = lambda x: forward(BadGradient.apply(x))
    train(training, watch, 30)
    it = verdict(daemon, watch, name)
    assert it.worst == "critical", it
    assert it.origin["op"] == "blocks.1.fc1", it
    assert it.origin["slot"] == "grad_input", it
    # The layers behind it on the way back are clean.
    assert not any(op.startswith("head") for op, _ in it.bad_ops())


@pytest.mark.parametrize("level", ["default", "ops"])
def test_a_poisoned_batch(daemon, name, level):
    """One step, skipped by the scaler: a note that says which."""
    training = Training("pictures")
    training.before_forward = (
        lambda x: with_nan(x) if training.number == 60 else x)
    watch = watched(training, daemon, name, level)
    train(training, watch, 100)
    it = verdict(daemon, watch, name)
    assert it.cause == "nan_from_forward" and it.step == 60, it
    assert training.scaler.get_scale() == 32768.0
    assert int(it.summary["skipped"]) == 1, it
    if level == "ops":
        assert it.origin["op"] == "features.0", it
        assert it.origin["slot"] == "input", it
    else:
        assert not it.origin.get("op"), it


def test_a_huge_scale_is_calibration(daemon, name):
    training = Training("pictures", init_scale=2.0**40)
    watch = watched(training, daemon, name)
    train(training, watch, 80)
    it = verdict(daemon, watch, name)
    assert training.scaler.get_scale() < 2.0**40
    assert it.worst in ("", "info"), it
    assert it.cause in ("", "startup_calibration"), it
    assert int(it.summary["overflows"]) > 5, it


def test_a_scale_that_is_too_low_is_underflow(daemon, name):
    training = Training("pictures", init_scale=2.0**-12, lr=1e-4,
                        growth_interval=1 << 30)
    watch = watched(training, daemon, name, "layers")
    train(training, watch, 120)
    it = verdict(daemon, watch, name)
    assert it.info["scaler"]["kind"] == "SCALING_KIND_STATIC", it
    assert "underflow" in [c["cause"] for c in it.causes], it


def test_bf16_has_no_scaler(daemon, name):
    training = Training("text", dtype=torch.bfloat16, scaler=None)
    watch = watched(training, daemon, name)
    train(training, watch, 30)
    it = verdict(daemon, watch, name)
    assert it.worst == "" and it.steps == 30, it
    assert "loss_scale" not in {v["field"] for v in it.summary["values"]}


def test_a_scaler_that_is_disabled_is_none(daemon, name):
    training = Training("pictures", dtype=torch.float32, scaler=False)
    watch = watched(training, daemon, name)
    train(training, watch, 30)
    it = verdict(daemon, watch, name)
    assert it.worst == "" and it.info["scaler"]["kind"] == "SCALING_KIND_NONE"


def test_a_nan_that_is_applied_spoils_the_weights(daemon, name):
    """Without a scaler nothing skips the update. Clipping makes all gradients
    NaN: they are looked at before."""
    training = Training("pictures", dtype=torch.float32, scaler=None)

    def spoil(_):
        if training.number == 40:
            training.model.features[2].weight.grad.view(-1)[7] = math.nan

    training.before_update = spoil
    watch = watched(training, daemon, name)
    train(training, watch, 60)
    it = verdict(daemon, watch, name)
    assert it.worst == "critical", it
    assert it.bad_ops()[("features.2.weight", "grad_input")] == 40, it
    first = [op for op, at in it.bad_ops().items() if at == 40]
    assert first == [("features.2.weight", "grad_input")], it
    assert it.bad_ops()[("features.2.weight", "parameter")] == 41, it


def test_gradient_accumulation(daemon, name):
    """Parts of a step are no steps; `step` may be called for each."""
    training = Training("pictures")
    watch = watched(training, daemon, name)
    losses = []
    for i in range(40):
        x, y = training.batches()
        loss = training.forward(x, y) / 4
        training.scaler.scale(loss).backward()
        losses.append(loss.item())
        if i % 4 == 3:
            training.scaler.step(training.optimizer)
            training.scaler.update()
            training.optimizer.zero_grad()
        watch.step(loss)
    it = verdict(daemon, watch, name)
    assert it.steps == 10 and it.worst == "", it
    (loss,) = (v for v in it.summary["values"] if v["field"] == "loss")
    assert loss["last"] == pytest.approx(sum(losses[-4:]) / 4, rel=1e-5)


def test_several_optimizers(daemon, name):
    torch.manual_seed(1)
    one, two = nn.Linear(8, 8), nn.Linear(8, 1)
    both = nn.ModuleDict({"one": one, "two": two})
    optimizers = {n: torch.optim.SGD(m.parameters(), lr=0.01)
                  for n, m in both.items()}
    with nanwatch.torch.watch(both, optimizers, run=name,
                              address=daemon.address) as watch:
        for _ in range(20):
            loss = two(one(torch.randn(4, 8))).square().mean()
            for optimizer in optimizers.values():
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers.values():
                optimizer.step()
            watch.step(loss)
        it = verdict(daemon, watch, name)
    assert it.steps == 40 and it.worst == "", it
    assert int(it.summary["last_step"]) == 19


def test_a_compiled_model_trains_on(daemon, name):
    """With the hooks of "ops", too: what is compiled says nothing of its
    modules, and is as it was."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with nanwatch.torch.watch(compiled, optimizer, run=name, level="ops",
                              address=daemon.address) as watch:
        for _ in range(40):
            loss = compiled(torch.randn(4, 8)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
        it = verdict(daemon, watch, name)
    assert it.steps == 40 and it.worst == "", it


def test_the_daemon_asks_and_is_answered(daemon, name):
    """A loss that jumps is a finding of the daemon's; it asks for detail, and
    the modules are looked at though the level is the lowest."""
    training = Training("pictures", dtype=torch.float32, scaler=None)
    watch = watched(training, daemon, name)
    train(training, watch, 150)
    assert not watch.modules.on
    asked = False
    for _ in range(400):
        loss = training.step()
        watch.step(loss * 1000.0)
        if training.number % 8 == 0:
            watch.run.flush(5)
        asked = asked or watch.modules.on
    assert asked
    assert not watch.modules.on, "only for some steps"
    assert watch.close(20)
    statuses = int(Verdict(daemon, name).summary["op_statuses"])
    assert statuses > 16 * len(watch.modules.named), statuses


def test_a_stop_is_a_matter_of_asking(daemon, name):
    training = Training("pictures")
    with watched(training, daemon, name) as watch:
        train(training, watch, 3)
        assert watch.flush(10) and watch.should_stop == ""
        daemon.nanwatch("stop", name, "--reason", "seen enough")
        for _ in range(500):
            train(training, watch, 1)
            if watch.should_stop:
                break
        assert watch.should_stop.startswith("seen enough")


def test_closing_takes_everything_off(daemon, name):
    training = Training("pictures")
    watch = watched(training, daemon, name, "ops")
    train(training, watch, 3)
    assert watch.close(20)
    model, scaler = training.model, training.scaler
    assert not any(m._forward_hooks for m in model.modules())
    assert not training.optimizer._optimizer_step_pre_hooks
    assert not training.optimizer._optimizer_step_post_hooks
    assert "step" not in vars(scaler) and "unscale_" not in vars(scaler)
    training.step()


def test_the_training_is_the_same_to_the_last_bit(daemon, name):
    """Watched at the highest level, or not at all."""
    weights = []
    for level in (None, "ops"):
        training = Training("pictures", seed=5)
        watch = level and watched(training, daemon, name, level)
        for _ in range(20):
            loss = training.step()
            if watch:
                watch.step(loss)
        if watch:
            watch.close(10)
        weights.append([p.detach().clone() for p in training.model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*weights))


def test_a_daemon_that_hangs_or_dies_is_not_noticed(tmp_path, name):
    """Stopped in the middle, killed, started again: the training goes on, and
    what it said meanwhile is there."""
    daemon = Daemon(tmp_path).start()
    training = Training("pictures", dtype=torch.float32, scaler=None)
    watch = watched(training, daemon, name, "layers")
    try:
        train(training, watch, 20)
        assert watch.flush(10)
        daemon.process.send_signal(signal.SIGSTOP)
        train(training, watch, 50)
        daemon.process.send_signal(signal.SIGCONT)
        train(training, watch, 10)
        daemon.kill()
        train(training, watch, 50)
        daemon.start()
        it = verdict(daemon, watch, name)
        assert it.steps == 130 and it.worst == "", it
    finally:
        daemon.kill()


def test_clipping_can_be_compiled(daemon, name, recwarn):
    """And none of what is ours is compiled with it, which PyTorch would say."""
    training = Training("pictures", dtype=torch.float32, scaler=None)
    with watched(training, daemon, name) as watch:
        train(training, watch, 1)

        @torch.compile(backend="eager")
        def clip(parameters):
            return nn.utils.clip_grad_norm_(parameters, 1.0)

        for _ in range(2):
            assert clip(list(training.model.parameters())) > 0
            train(training, watch, 1)
        assert not [w for w in recwarn if "Dynamo" in str(w.message)]
        assert watch.run.stats.bad_input == 0


@pytest.mark.parametrize("told", ["loss", "number", "part"])
@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_a_training_can_be_compiled(
        daemon, name, recwarn, whole, is_scaled, told):
    """Its update or its `whole` step: nothing of ours is compiled with it, and
    all is seen as ever."""
    model = nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0) if is_scaled else None
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    watch = nanwatch.torch.watch(model, optimizer, scaler, run=name,
                                 address=daemon.address)

    def update():
        return scaler.step(optimizer) if scaler else optimizer.step()

    if not whole:
        update = torch.compile(update, backend=backend)

    def step(batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        (scaler.scale(loss) if scaler else loss).backward()
        update()
        if scaler:
            scaler.update()
        if told == "part":
            watch.add_loss(loss)
            watch.step()
        else:
            watch.step(loss.item() if told == "number" else loss)

    if whole:
        step = torch.compile(step, backend=backend)
    with contextlib.ExitStack() as stances:
        for i in range(20):
            batch = torch.randn(4, 8)
            if i == 15:
                batch[0] = math.nan
            if i == 10 and hasattr(torch.compiler, "set_stance"):
                stances.enter_context(
                    torch.compiler.set_stance("eager_on_recompile"))
            step(batch)
    it = verdict(daemon, watch, name)
    assert it.step == 15 and it.cause == "nan_from_forward", it
    assert it.worst == ("warning" if is_scaled else "critical"), it
    assert len(graphs) <= 3, graphs
    assert not [w for w in recwarn if "Dynamo" in str(w.message)]


def test_a_gradient_that_becomes_zero_has_its_name(daemon, name, caplog):
    """And of one that never was another nothing is said."""
    training = Training("pictures", dtype=torch.float32, scaler=None)
    frozen = training.model.features[0].bias

    def zero(_):
        frozen.grad.zero_()
        if training.number >= 90:
            training.model.classifier.weight.grad.zero_()

    training.before_update = zero
    watch = watched(training, daemon, name)
    train(training, watch, 120)
    it = verdict(daemon, watch, name)
    said = [r.getMessage() for r in caplog.records if "exactly 0" in r.msg % r.args]
    assert said == [
        "nanwatch: the gradient of classifier.weight is exactly 0 since step "
        "90, and was not before"]
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    elements = [p.numel() for p in training.model.parameters()]
    lost = frozen.numel() + training.model.classifier.weight.numel()
    assert values["zero_fraction"] == pytest.approx(lost / sum(elements))
    (cause,) = [c for c in it.causes if c["cause"] == "underflow"]
    assert cause["origin"]["op"] == "classifier.weight"
    assert int(cause["step"]) == 90


def test_who_flushes_the_run_has_all_steps(daemon, name):
    """Though nothing odd is told some steps at once; what is odd is told when
    it is seen."""
    training = Training("pictures", dtype=torch.float32, scaler=None)
    with nanwatch.init(run=name, address=daemon.address) as run:
        watch = nanwatch.torch.watch(training.model, training.optimizer,
                                     run=run)
        for steps in (1, 3, 11):
            train(training, watch, steps)
            assert run.flush(10)
        assert Verdict(daemon, name).steps == 15
        before = run.stats.pushed
        watch.step(training.step() * math.nan)
        assert run.stats.pushed > before, "at once"
        train(training, watch, 1)
    assert Verdict(daemon, name).steps == 17
