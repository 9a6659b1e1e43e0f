"""MindSpore's own package on a CPU: Model.train, and a loop of functions."""

import contextlib

import mindspore
import numpy
import pytest
from forgotten import ends
from late_device import LateDevice
from mindspore import amp, nn, ops
from verdicts import Verdict

import nanwatch


def pictures(count, seed=1):
    random = numpy.random.default_rng(seed)
    x = random.normal(0, 0.5, (count, 16)).astype("float32")
    y = random.integers(0, 2, count).astype("int32")
    x[y == 1, :8] += 1
    return x, y


def small_net():
    mindspore.set_seed(1)
    return nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 2))


def batches(x, y, size=16):
    return mindspore.dataset.NumpySlicesDataset(
        {"x": x, "y": y}, shuffle=False).batch(size)


class OverflowOfTheGradients(nn.TrainOneStepWithLossScaleCell):
    """Its own look at the overflow is by an op that only NPUs have."""

    def get_overflow_status(self, status, compute_output):
        return ops.logical_not(amp.all_finite(compute_output))


def fit(daemon, name, x, y, scale=2.0**10, epochs=3, cell=True, **more):
    net = small_net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    if cell:
        update = nn.DynamicLossScaleUpdateCell(scale, 2, 50)
        train = OverflowOfTheGradients(
            nn.WithLossCell(net, loss), optimizer, update)
        model = mindspore.train.Model(train.set_train())
    else:
        model = mindspore.train.Model(net, loss, optimizer)
    callback = nanwatch.mindspore.Callback(run=name, address=daemon.address,
                                           **more)
    model.train(epochs, batches(x, y), callbacks=[callback],
                dataset_sink_mode=False)
    return Verdict(daemon, name)


def test_model_train(daemon, name):
    it = fit(daemon, name, *pictures(640), cell=False)
    assert it.worst == "" and it.steps == 120, it
    assert it.info["settings"]["mindspore"] == mindspore.__version__


def test_a_loss_scale_cell(daemon, name):
    it = fit(daemon, name, *pictures(640))
    assert it.worst == "" and it.steps == 120, it
    scaler = it.info["scaler"]
    assert scaler["name"] == "mindspore" and scaler["init_scale"] == 1024, it


def test_a_nan_in_the_data(daemon, name):
    x, y = pictures(640)
    x[300:] = numpy.nan
    it = fit(daemon, name, x, y, epochs=1)
    assert it.worst == "critical", it
    assert int(it.summary["skipped"]) >= 20, it


def loop(daemon, name, steps, poison=None, scale=2.0**12, times=1.0):
    net = small_net()
    scaler = amp.DynamicLossScaler(scale, 2, 50)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def forward(x, y):
        loss = loss_of(net(x), y)
        return scaler.scale(loss), loss

    gradient = mindspore.value_and_grad(
        forward, None, optimizer.parameters, has_aux=True)
    x, y = pictures(32)
    x *= times
    with nanwatch.mindspore.watch(
            scaler, optimizer, run=name, address=daemon.address) as watch:
        for i in range(steps):
            data = mindspore.Tensor(x)
            if poison is not None and i >= poison:
                data = data * mindspore.Tensor(numpy.nan, mindspore.float32)
            (_, loss), grads = gradient(data, mindspore.Tensor(y))
            grads = scaler.unscale(grads)
            finite = amp.all_finite(grads)
            if finite:
                optimizer(grads)
            scaler.adjust(finite)
            watch.step(loss, finite, grads)
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    return Verdict(daemon, name)


def test_a_loop_of_functions(daemon, name):
    it = loop(daemon, name, 150)
    assert it.worst == "" and it.steps == 150, it


def test_a_scale_that_is_too_high_comes_down(daemon, name):
    it = loop(daemon, name, 60, scale=2.0**127, times=20.0)
    assert int(it.summary["skipped"]) >= 1, it
    assert ("2.weight", "grad_input") in it.bad_ops(), it


def test_a_nan_in_a_loop(daemon, name):
    it = loop(daemon, name, 80, poison=60)
    # Its ReLU makes 0 of a NaN: the loss stays finite, and the gradient of the
    # layer that the data enters is the only one that is not.
    assert it.worst == "critical" and it.cause == "nan_from_backward", it
    assert it.origin["op"] == "0.weight" and it.step == 60, it


def test_a_loop_that_calls_a_loss_scale_cell(daemon, name):
    """What it returned says all of a step."""
    net = small_net()
    cell = OverflowOfTheGradients(
        nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(
            sparse=True, reduction="mean")),
        nn.SGD(net.trainable_params(), learning_rate=0.05),
        nn.DynamicLossScaleUpdateCell(2.0**10, 2, 50)).set_train()
    x, y = pictures(32)
    with nanwatch.mindspore.watch(
            cell, run=name, address=daemon.address) as watch:
        for i in range(100):
            data = mindspore.Tensor(x if i != 40 else x * numpy.nan)
            watch.step(cell(data, mindspore.Tensor(y)))
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
    it = Verdict(daemon, name)
    assert it.steps == 100 and int(it.summary["skipped"]) == 1, it
    assert it.info["scaler"]["init_scale"] == 1024, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1024 and values["loss"] < 0.7, values


@pytest.mark.parametrize("loss", ["a string", None, object()])
def test_bad_input_does_not_raise(daemon, name, loss):
    with nanwatch.mindspore.watch(run=name, address=daemon.address) as watch:
        watch.step(loss)
        watch.step(1.0, grads=["no gradient"])
        assert watch.run.stats.bad_input == (1 if loss is None else 2)
        before = watch.run.stats.bad_input
        for number in (1.5, "one"):
            watch.step(1.0, step=number)
        watch.step(1.0)
        assert watch.run.stats.bad_input == before + 2


@pytest.mark.parametrize("scaled", [True, False])
def test_gradients_say_whether_they_are_finite(daemon, name, scaled):
    """Where nobody has called all_finite."""
    scaler = amp.DynamicLossScaler(2.0**12, 2, 50) if scaled else None
    bad = numpy.ones((4, 2), numpy.float32)
    bad[1] = numpy.nan
    with nanwatch.mindspore.watch(
            scaler, run=name, address=daemon.address) as watch:
        for i in range(20):
            grads = bad if i == 15 else numpy.ones((4, 2), numpy.float32)
            watch.step(1.0, None, [mindspore.Tensor(grads)])
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15)
    it = Verdict(daemon, name)
    assert int(it.summary["overflows"]) == 1, it
    assert "1 time, step 15, 2 elements" in it.text, it


def test_gradients_that_are_none(daemon, name):
    net = small_net()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
    bad = mindspore.Tensor(numpy.full(32, numpy.inf, numpy.float32))
    with nanwatch.mindspore.watch(
            None, optimizer, run=name, address=daemon.address) as watch:
        for _ in range(3):
            watch.step(1.0, None, [None, None, None, None])
            watch.step(1.0, None, (None, bad, None, None))
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15)
    it = Verdict(daemon, name)
    assert it.steps == 6 and it.bad_ops() == {("0.bias", "grad_input"): 1}, it


def test_what_is_watched_already(daemon, name, caplog):
    optimizer = nn.SGD(small_net().trainable_params(), learning_rate=0.05)
    with nanwatch.mindspore.watch(
            None, optimizer, run=name, address=daemon.address) as watch:
        assert nanwatch.mindspore.watch(None, optimizer, run=name) is watch
        assert watch.run.stats.bad_input == 1
    again = nanwatch.mindspore.watch(
        None, optimizer, run=name, address=daemon.address)
    assert again is not watch and again.close(15)
    assert caplog.text.count("this model is watched already") == 1


def test_another_scaler_is_another_training(daemon, name):
    optimizer = nn.SGD(small_net().trainable_params(), learning_rate=0.05)
    first, second = (mindspore.amp.StaticLossScaler(scale)
                     for scale in (64.0, 128.0))
    with nanwatch.mindspore.watch(
            first, optimizer, run=name, address=daemon.address) as watch:
        again = nanwatch.mindspore.watch(
            second, optimizer, run=name, address=daemon.address)
        assert again is not watch and watch.run.is_closed
        again.step(1.0)
        assert again.close(15)
    values = {v["field"]: v["last"]
              for v in Verdict(daemon, name).summary["values"]}
    assert values["loss_scale"] == 128, values


def test_a_training_that_failed_at_its_first_step(daemon, name):
    """Though somebody keeps what it left, the next one is told."""
    net = small_net()
    model = mindspore.train.Model(
        net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.SGD(net.trainable_params(), learning_rate=0.05))
    x, y = pictures(160)
    with pytest.raises(Exception) as kept:
        model.train(1, batches(x[:, :5], y), callbacks=[
            nanwatch.mindspore.Callback(run=name, address=daemon.address)],
            dataset_sink_mode=False)
    callback = nanwatch.mindspore.Callback(run=name, address=daemon.address)
    model.train(1, batches(x, y), callbacks=[callback],
                dataset_sink_mode=False)
    assert kept.value is not None and Verdict(daemon, name).steps == 10


def test_two_callbacks_of_one_training(daemon, name):
    net = small_net()
    model = mindspore.train.Model(
        net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.SGD(net.trainable_params(), learning_rate=0.05))
    first, second = (nanwatch.mindspore.Callback(
        run=name, address=daemon.address) for _ in range(2))
    model.train(1, batches(*pictures(160)), callbacks=[first, second],
                dataset_sink_mode=False)
    assert second.run is None and first.run.stats.bad_input == 1
    assert Verdict(daemon, name).steps == 10


def test_a_training_stops_when_it_is_asked(daemon, name):
    class Asks(mindspore.train.Callback):
        steps = 0

        def on_train_step_end(self, run_context):
            self.steps += 1
            if self.steps == 3:
                assert callback.run.flush(10)
                daemon.nanwatch("stop", name, "--reason", "seen enough")

    net = small_net()
    model = mindspore.train.Model(
        net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.SGD(net.trainable_params(), learning_rate=0.05))
    callback = nanwatch.mindspore.Callback(
        run=name, address=daemon.address, stop=True)
    asks = Asks()
    model.train(200, batches(*pictures(160)), callbacks=[callback, asks],
                dataset_sink_mode=False)
    assert 3 <= asks.steps < 2000


def test_a_second_training_is_an_attempt_of_its_own(daemon, name):
    callback = nanwatch.mindspore.Callback(run=name, address=daemon.address)
    for _ in range(2):
        net = small_net()
        model = mindspore.train.Model(
            net, nn.SoftmaxCrossEntropyWithLogits(
                sparse=True, reduction="mean"),
            nn.SGD(net.trainable_params(), learning_rate=0.05))
        model.train(1, batches(*pictures(160)), callbacks=[callback],
                    dataset_sink_mode=False)
        assert callback.run.stats.bad_input == 0
        assert Verdict(daemon, name).steps == 10
    assert "attempt 1" in daemon.nanwatch("show", name).stdout


@pytest.fixture
def device(monkeypatch):
    return LateDevice(
        monkeypatch, nanwatch.mindspore, mindspore.Tensor, ["asnumpy"])


def test_nothing_waits_for_the_device(daemon, name, device):
    scaler = amp.DynamicLossScaler(64.0, 2, 1000)
    bad = numpy.ones((4, 2), numpy.float32)
    bad[1] = numpy.nan
    good = numpy.ones((4, 2), numpy.float32)
    with nanwatch.mindspore.watch(
            scaler, run=name, address=daemon.address) as watch:
        told = device.hear(watch)
        for i in range(40):
            grads = [mindspore.Tensor(bad if i == 20 else good)]
            finite = amp.all_finite(grads)
            scaler.adjust(finite)
            loss = mindspore.Tensor(1.0, mindspore.float32)
            with device.asked():
                watch.step(loss, finite, grads)
        assert told == [(i, i + 3) for i in range(37)]
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 40 and int(it.summary["skipped"]) == 1, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 32.0 and values["loss"] == 1.0, it
    assert values["grad_norm"] == pytest.approx(8**0.5), it
    assert "1 time, step 20," in it.text, it


def test_the_callback_does_not_wait_either(daemon, name, device):
    callback = nanwatch.mindspore.Callback(run=name, address=daemon.address)
    end, late = callback.on_train_step_end, []

    def step_end(run_context):
        with device.asked():
            end(run_context)
        late.append(len(callback._pending))

    callback.on_train_step_end = step_end
    net = small_net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    train = OverflowOfTheGradients(
        nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 1e-2),
        nn.DynamicLossScaleUpdateCell(2.0**10, 2, 50))
    mindspore.train.Model(train.set_train()).train(
        1, batches(*pictures(320)), callbacks=[callback],
        dataset_sink_mode=False)
    assert late[-1] == 3 and callback.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 20 and it.worst == "", it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1024.0 and values["loss"] < 1.0, it


def test_a_forgotten_watch_ends_its_run(daemon, name):
    def cell():
        watch = nanwatch.mindspore.watch(run=name, address=daemon.address)
        grads = [mindspore.Tensor(numpy.ones((4, 2), numpy.float32))]
        for _ in range(20):
            watch.step(1.0, None, grads)
        return watch

    ends(daemon, name, cell, 20)


class Stops(mindspore.train.Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 10:
            raise KeyboardInterrupt


def test_an_interrupted_training_ends_its_run(daemon, name):
    def cell():
        callback = nanwatch.mindspore.Callback(run=name, address=daemon.address)
        net = small_net()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        model = mindspore.train.Model(
            net, loss, nn.SGD(net.trainable_params(), learning_rate=0.05))
        with contextlib.suppress(KeyboardInterrupt):
            model.train(1, batches(*pictures(640)),
                        callbacks=[callback, Stops()], dataset_sink_mode=False)
        return callback

    ends(daemon, name, cell, 10)


def test_of_gradients_of_nan_the_first_on_the_way_back_is_said(daemon, name):
    parameters = small_net().trainable_params()
    with nanwatch.mindspore.watch(
            None, nn.SGD(parameters, learning_rate=0.05), run=name,
            address=daemon.address) as watch:
        for i in range(40):
            grads = [numpy.ones(p.shape, numpy.float32) for p in parameters]
            if i == 30:
                grads[0] *= numpy.nan
                grads[1] *= numpy.nan
            watch.step(1.0 / (i + 1), None, list(map(mindspore.Tensor, grads)))
        assert watch.run.flush(15) and watch.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.cause == "nan_from_backward" and it.step == 30, it
    assert "0.bias comes last in the model" in it.headline, it
