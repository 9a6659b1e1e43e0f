"""A small conv net of Keras in mixed_float16, on the back end that the importing
test chose by KERAS_BACKEND."""

import contextlib
import threading

import keras
import numpy
import pytest
from forgotten import ends
from verdicts import Verdict

import nanwatch
from nanwatch import _keras_numbers


def pictures(count):
    random = numpy.random.default_rng(1)
    x = random.normal(0, 0.5, (count, 8, 8, 1)).astype("float32")
    y = random.integers(0, 2, count)
    x[y == 1, :4] += 1
    return x, y


def fit(daemon, name, x, y, scale=2.0**15, epochs=2, rate=1e-2, **more):
    keras.utils.set_random_seed(1)
    keras.mixed_precision.set_dtype_policy("mixed_float16")
    try:
        model = keras.Sequential([
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(2, dtype="float32"),
        ])
        model.compile(
            optimizer=keras.optimizers.LossScaleOptimizer(
                keras.optimizers.Adam(rate), initial_scale=scale),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        callback = nanwatch.keras.Callback(run=name, address=daemon.address,
                                           **more)
        model.fit(x, y, batch_size=16, epochs=epochs, verbose=0,
                  shuffle=False, callbacks=[callback])
    finally:
        keras.mixed_precision.set_dtype_policy("float32")
    assert callback.run.stats.bad_input == 0
    return Verdict(daemon, name)


def test_healthy(daemon, name):
    it = fit(daemon, name, *pictures(640))
    assert it.worst == "" and it.steps == 80, it
    assert it.info["precision"] == "fp16", it
    assert it.info["scaler"]["name"] == "keras", it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 2.0**15 and values["loss"] < 0.7


def test_a_rate_of_0(daemon, name):
    it = fit(daemon, name, *pictures(640), rate=0.0)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "learning rate is 0" in it.headline, it


def test_the_rate_that_an_update_had(daemon, name):
    """And not the one of the next: five have another than 0."""
    it = fit(daemon, name, *pictures(640),
             rate=keras.optimizers.schedules.PolynomialDecay(1e-2, 5, 0.0))
    assert "learning rate is 0" in it.headline, it
    assert it.step == 5, it


@pytest.mark.parametrize("highest", [1, 2])
def test_a_cross_entropy_below_0(daemon, name, highest):
    """Labels 1 and 2 where 0 and 1 are meant."""
    x, y = pictures(640)
    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        keras.layers.Input((8, 8, 1)), keras.layers.Flatten(),
        keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(1e-2),
                  loss="binary_crossentropy")
    model.fit(x, (y + highest - 1).astype("float32"), batch_size=16, epochs=2,
              verbose=0, shuffle=False, callbacks=[
                  nanwatch.keras.Callback(run=name, address=daemon.address)])
    it = Verdict(daemon, name)
    assert it.info["settings"]["loss"] == "cross_entropy", it
    wrong = highest > 1
    rules = [each["rule"] for each in it.incidents]
    assert ("loss_impossible" in rules) == wrong, it
    assert it.worst == ("warning" if wrong else ""), it


def test_a_huge_scale_is_calibration(daemon, name):
    it = fit(daemon, name, *pictures(640), scale=2.0**36)
    assert it.worst in ("", "info") and int(it.summary["skipped"]) > 5, it


def test_a_poisoned_batch(daemon, name):
    x, y = pictures(640)
    x[16 * 20] = numpy.nan
    it = fit(daemon, name, x, y, epochs=1)
    assert it.cause == "nan_from_forward" and it.step == 20, it
    assert int(it.summary["skipped"]) == 1, it


def flat_model(optimizer="sgd", **more):
    model = keras.Sequential([
        keras.layers.Input((8, 8, 1)), keras.layers.Flatten(),
        keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse", **more)
    return model


def test_several_batches_an_execution(daemon, name):
    """Each of them has its number; Keras tells of the last one."""
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    flat_model(steps_per_execution=8).fit(
        *pictures(640), batch_size=16, epochs=2, verbose=0,
        callbacks=[callback])
    it = Verdict(daemon, name)
    assert callback.run.stats.bad_input == 0
    assert it.steps == 10 and int(it.summary["last_step"]) == 79, it


def test_a_fixed_factor_is_a_scale(daemon, name):
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    flat_model(keras.optimizers.SGD(1e-3, loss_scale_factor=1024.0)).fit(
        *pictures(160), batch_size=16, verbose=0, callbacks=[callback])
    it = Verdict(daemon, name)
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert it.worst == "" and values["loss_scale"] == 1024, it
    assert it.info["scaler"]["init_scale"] == 1024, it
    assert "STATIC" in it.info["scaler"]["kind"], it.info


def test_two_callbacks_of_one_fit(daemon, name):
    first, second = (nanwatch.keras.Callback(run=name, address=daemon.address)
                     for _ in range(2))
    flat_model().fit(*pictures(160), batch_size=16, verbose=0,
                     callbacks=[first, second])
    assert second.run is None and first.run.stats.bad_input == 1
    assert Verdict(daemon, name).steps == 10


def test_a_fit_that_failed_at_its_first_batch(daemon, name):
    """Though somebody keeps what it left, the next one is told."""
    model = flat_model()
    x, y = pictures(160)
    with pytest.raises(Exception) as kept:
        model.fit(x[:, :5], y, batch_size=16, verbose=0, callbacks=[
            nanwatch.keras.Callback(run=name, address=daemon.address)])
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    model.fit(x, y, batch_size=16, verbose=0, callbacks=[callback])
    assert callback.run is not None and kept.value is not None
    assert Verdict(daemon, name).steps == 10


def test_a_fit_that_failed_before_its_first_epoch(daemon, name):
    """By another callback's fault, which is called first."""
    model = flat_model()

    def train(rate, **more):
        callback = nanwatch.keras.Callback(run=name, address=daemon.address)
        model.fit(*pictures(160), batch_size=16, verbose=0, callbacks=[
            keras.callbacks.LearningRateScheduler(lambda _: rate), callback],
            **more)
        return callback

    with pytest.raises(Exception) as kept:
        train("0.1")
    callback = train(0.1, epochs=2)
    assert callback.run is not None and kept.value is not None
    assert Verdict(daemon, name).steps == 20


def test_a_loop_of_ones_own_after_one_that_was_interrupted(daemon, name):
    """Of its callbacks Keras knows nothing then."""
    model = flat_model()
    x, y = pictures(160)

    def train(batches):
        callback = nanwatch.keras.Callback(run=name, address=daemon.address)
        second = nanwatch.keras.Callback(run=name, address=daemon.address)
        both = keras.callbacks.CallbackList([callback, second], model=model)
        both.on_train_begin()
        both.on_epoch_begin(0)
        for batch in range(batches):
            both.on_train_batch_begin(batch)
            at = slice(16 * batch, 16 * batch + 16)
            loss = model.train_on_batch(x[at], y[at])
            both.on_train_batch_end(
                batch, {"loss": float(numpy.ravel(loss)[0])})
        assert callback.run is not None and second.run is None
        return both

    train(4)
    both = train(10)
    both.on_epoch_end(0)
    both.on_train_end()
    assert Verdict(daemon, name).steps == 10


def test_a_model_without_parameters(daemon, name):
    model = keras.Sequential([keras.layers.Input((8, 8, 1)),
                              keras.layers.Flatten()])
    model.trainable = False
    model.compile(optimizer="sgd", loss="mse")
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    with contextlib.suppress(Exception):  # some back ends do not train that
        model.fit(numpy.zeros((16, 8, 8, 1)), numpy.zeros((16, 64)),
                  verbose=0, callbacks=[callback])
    assert callback.run.stats.bad_input == 1
    callback.run.close()


def test_a_fit_stops_when_it_is_asked(daemon, name):
    class Asks(keras.callbacks.Callback):
        batches = 0

        def on_train_batch_end(self, batch, logs=None):
            self.batches += 1
            if self.batches == 3:
                daemon.nanwatch("stop", name, "--reason", "seen enough")

    callback = nanwatch.keras.Callback(
        run=name, address=daemon.address, stop=True)
    asks = Asks()
    flat_model().fit(*pictures(160), batch_size=16, epochs=300, verbose=0,
                     callbacks=[callback, asks])
    assert 3 <= asks.batches < 3000


def test_a_second_fit_is_an_attempt_of_its_own(daemon, name):
    x, y = pictures(160)
    model = keras.Sequential([
        keras.layers.Input((8, 8, 1)), keras.layers.Flatten(),
        keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    for epochs in (2, 1):
        model.fit(x, y, batch_size=16, epochs=epochs, verbose=0,
                  callbacks=[callback])
        assert callback.run.stats.bad_input == 0
        assert Verdict(daemon, name).steps == 10 * epochs
    assert "attempt 1" in daemon.nanwatch("show", name).stdout


class Clock(keras.callbacks.Callback):
    """Batches so far; at the end of an epoch everything is there."""

    async_safe = True

    def __init__(self):
        super().__init__()
        self.batches, self.over, self.threads = 0, False, set()

    def on_train_batch_begin(self, batch, logs=None):
        self.batches += 1

    def on_train_batch_end(self, batch, logs=None):
        self.threads.add(threading.current_thread())

    def on_epoch_end(self, epoch, logs=None):
        self.over = True


class Later:
    """Numbers that are on their way for some batches."""

    def __init__(self, numbers, clock, batches):
        self.numbers, self.clock = numbers, clock
        self.due = clock.batches + batches

    def ready(self):
        return self.clock.over or self.clock.batches >= self.due

    def read(self):
        assert self.ready(), "read before it was there"
        return self.numbers.read()


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("rate", [
    1e-2, keras.optimizers.schedules.ExponentialDecay(1e-2, 10, 0.5)])
def test_nothing_waits_for_the_device(daemon, name, rate, late, monkeypatch):
    clock = Clock()
    real = _keras_numbers.taker

    def slow_taker(*arguments):
        take = real(*arguments)
        return lambda: Later(take(), clock, late)

    monkeypatch.setattr(nanwatch.keras, "taker", slow_taker)
    model = keras.Sequential([
        keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile(
        optimizer=keras.optimizers.LossScaleOptimizer(
            keras.optimizers.SGD(rate), initial_scale=64.0,
            dynamic_growth_steps=4), loss="mse")
    callback = nanwatch.keras.Callback(run=name, address=daemon.address)
    x = numpy.random.default_rng(1).normal(size=(12, 4)).astype("float32")
    x[5] = numpy.nan
    model.fit(x, x[:, :1], batch_size=1, epochs=1, verbose=0, shuffle=False,
              callbacks=[clock, callback])
    if keras.backend.backend() != "tensorflow":
        main = threading.main_thread()
        assert clock.threads and main not in clock.threads, "Keras waits"
    assert callback.run.stats.bad_input == 0
    it = Verdict(daemon, name)
    assert it.steps == 12 and int(it.summary["skipped"]) == 1, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    # As the last batch had it: twice as much after the 4th, half after the
    # 6th, twice after the 10th.
    assert values["loss_scale"] == 128.0, it
    assert 0 < values["learning_rate"] <= 1e-2, it


class Stops(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 10:
            raise KeyboardInterrupt


def test_an_interrupted_fit_ends_its_run(daemon, name):
    def cell():
        callback = nanwatch.keras.Callback(run=name, address=daemon.address)
        model = keras.Sequential([
            keras.layers.Input((8, 8, 1)), keras.layers.Flatten(),
            keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
        with contextlib.suppress(KeyboardInterrupt):
            model.fit(*pictures(320), batch_size=16, epochs=1, verbose=0,
                      callbacks=[callback, Stops()])
        return callback

    ends(daemon, name, cell, 10)
