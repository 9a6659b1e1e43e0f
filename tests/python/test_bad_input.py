"""Whatever a training hands over: no exception, one warning, a counter."""

import decimal
import fractions
import logging
import sys
import weakref

import daemons
import numpy
import pytest

import nanwatch

MEGABYTES = "n" * 10_000_000


class Tensor:
    """On a device: whoever reads it waits for it."""

    def _read(self, *_):
        raise AssertionError("a tensor was read")

    __float__ = __int__ = __index__ = __bool__ = __eq__ = __lt__ = _read
    __sub__ = __len__ = __iter__ = __hash__ = item = tolist = _read
    __array__ = __str__ = __repr__ = _read


@pytest.fixture
def run():
    it = nanwatch.init(run="bad", address="unix:/nowhere/at.all",
                       buffer_rows=64)
    yield it
    it.close(0)


def looked_at(run):
    """The sender has looked at all rows that wait."""
    run.flush(0)
    daemons.wait_for("the sender looks", lambda: not run._rows)


def warnings(caplog):
    return [r for r in caplog.records if r.levelno >= logging.WARNING]


BAD_STEPS = [Tensor(), "7", None, float("nan"), 1.5, True, 2**63, -(2**63) - 1,
             10**5000, [], object, MEGABYTES]


@pytest.mark.parametrize("share", [55, -0.5, float("inf")])
def test_a_share_beyond_one(run, caplog, share):
    run.step(1, loss=1.0, zero_fraction=share)
    run.step(2, loss=1.0, underflow_fraction=0.5, zero_fraction=float("nan"))
    looked_at(run)
    assert run.stats.pushed == 2 and run.stats.bad_input == 1
    [said] = warnings(caplog)
    assert "zero_fraction= takes a share" in said.getMessage()


@pytest.mark.parametrize("step", BAD_STEPS, ids=lambda s: type(s).__name__)
def test_a_bad_step(run, caplog, step):
    for _ in range(20):
        run.step(step, loss=1.0)
        run.op("fc", step=step, nan=1)
    looked_at(run)
    assert run.stats.pushed == 0
    assert run.flush(5), "nothing of it is waited for"
    assert run.stats.bad_input == 40
    assert len(warnings(caplog)) == 1


BAD_NUMBERS = [Tensor(), "0.5", b"1", [1.0], MEGABYTES, 1j, {}]


@pytest.mark.parametrize("loss", BAD_NUMBERS, ids=lambda s: type(s).__name__)
def test_a_bad_number_is_left_out_and_the_rest_is_said(run, caplog, loss):
    for i in range(10):
        run.step(i, loss=loss, scale=2.0)
    looked_at(run)
    assert run.stats.pushed == run.stats.bad_input == 10
    assert len(warnings(caplog)) == 1
    assert "loss=" in caplog.text and len(caplog.text) < 1000


@pytest.mark.parametrize("name", [
    "scale", "grad_norm", "lr", "update_norm", "param_norm", "zero_fraction",
    "underflow_fraction", "consumed_samples", "overflow", "skipped",
    "optimizer", "replica_digest", "float_status", "layer_scales", "request",
    "time", "float_status_combined",
])
def test_every_argument_of_step_is_looked_at(run, caplog, name):
    for i in range(5):
        run.step(i, **{name: Tensor()})
    looked_at(run)
    assert run.stats.bad_input == 5 and len(warnings(caplog)) == 1


def test_after_the_first_tensor_none_is_kept(run):
    run.step(1, loss=Tensor())
    looked_at(run)
    tensor = Tensor()
    gone = weakref.ref(tensor)
    run.step(2, loss=tensor)
    del tensor
    assert gone() is None
    assert run.stats.bad_input == 2 and run.stats.pushed == 2


OP_ARGUMENTS = [
    "elements", "nan", "pos_inf", "neg_inf", "saturated", "zero", "subnormal",
    "min", "max", "abs_max", "mean", "rms", "log2_mean", "log2_std",
    "fp8_amax", "fp8_scale_inv", "device_flag", "digest", "exponents",
    "request", "time", "slot", "op",
]


@pytest.mark.parametrize("name", OP_ARGUMENTS)
@pytest.mark.parametrize("value", [Tensor(), "x" * 600],
                         ids=["tensor", "string"])
def test_every_argument_of_op_is_looked_at(run, caplog, name, value):
    for i in range(5):
        run.op(**{"op": "fc", "step": i, name: value})
    assert run.stats.bad_input >= 1
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("columns", [
    None, Tensor(), {}, {"op": [0]}, {"op": [0], "step": Tensor()},
    {"op": [0, 0], "step": [1, 2, 3]}, {"op": ["x"], "step": [Tensor()]},
    {"op": [0], "step": [1], "colour": [3]},
    {"op": [0], "step": numpy.ones((2, 2))},
    {"op": [[]], "step": [1]}, {3: 4},
    {"op": ["fc"], "step": [1], "nan": [-1]},
    {"op": ["fc"], "step": [1], "nan": numpy.array([1.5])},
], ids=[str(i) for i in range(13)])
def test_bad_columns(run, columns):
    for _ in range(3):
        run.ops(columns)
    assert run.stats.bad_input >= 3


def test_names_and_shapes(run):
    for name in (None, Tensor(), "", 7):
        assert run.register_op(name) == -1
    assert run.register_op("a", shape=(1,) * 17) == -1
    assert run.register_op("a", shape=(-1,)) == -1
    assert run.register_op("a", shape=Tensor()) == -1
    assert run.register_op("a", dtype=Tensor(), type=Tensor()) == -1
    assert run.register_op(MEGABYTES, type=MEGABYTES) == 0
    run.op(MEGABYTES, step=1, nan=0)
    assert run.register_op("b\ud800") == 1


def test_a_name_of_ten_megabytes_is_not_kept(run):
    run.op(MEGABYTES, step=1, nan=0)
    assert sys.getsizeof(run._op_index.popitem()[0]) < 2000


def test_a_closed_run(run, caplog):
    assert run.close(0) is True, "nothing was said: nothing is missing"
    for i in range(10):
        run.step(i, loss=1.0)
        run.op("fc", step=i)
        run.ops({"op": [0], "step": [1]})
    run.close()
    run.flush()
    assert run.register_op("x") == -1
    assert run.stats.bad_input == 31 and run.stats.pushed == 0
    assert len(warnings(caplog)) == 1


def test_numbers_of_other_kinds_are_numbers(run):
    for value in (numpy.float32(1.5), numpy.float64(1.5), numpy.int64(3), 3,
                  fractions.Fraction(3, 2), 10**400, numpy.float16(1)):
        run.step(numpy.int32(4), loss=value, scale=value, lr=value)
    run.step(4.0, overflow=numpy.bool_(True), skipped=1)
    run.step(5, loss=float("nan"), grad_norm=float("-inf"))
    looked_at(run)
    assert run.stats.bad_input == 0 and run.stats.pushed == 9
    run.step(5, loss=decimal.Decimal("NaN"))
    looked_at(run)
    assert run.stats.bad_input == 1, "no Real in Python's own table"


@pytest.mark.parametrize("name", [
    "job", "run", "attempt", "rank", "local_rank", "world_size", "address",
    "framework", "precision", "overflow_mode", "scaler", "clip_norm", "seed",
    "settings", "host", "device", "device_id", "dp", "buffer_rows",
    "unacked_bytes",
])
@pytest.mark.parametrize("value", [Tensor(), 10**30, MEGABYTES, b"\xff"],
                         ids=["tensor", "large", "long", "bytes"])
def test_init_takes_anything(monkeypatch, name, value):
    monkeypatch.setenv("NANWATCH_ADDRESS", "unix:/nowhere/at.all")
    it = nanwatch.init(**{name: value})
    it.step(1, loss=2.0)
    looked_at(it)
    fits = name == "clip_norm" and type(value) is int
    assert (it.stats.bad_input == 0) == fits
    it.close(0)


def test_a_scaler_of_rubbish(monkeypatch):
    monkeypatch.setenv("NANWATCH_ADDRESS", "unix:/nowhere/at.all")
    it = nanwatch.init(scaler=nanwatch.Scaler(
        kind="quantum", name=Tensor(), init_scale="x", growth_interval=-1,
        overflow_check=Tensor()))
    assert it.stats.bad_input == 5
    it.close(0)


def test_nothing_grows_without_a_daemon():
    it = nanwatch.init(run="full", address="unix:/nowhere/at.all",
                       buffer_rows=100, unacked_bytes=0)
    for i in range(100_000):
        it.step(i, loss=1.0)
        it.op("fc", step=i, nan=0)
    stats = it.stats
    assert stats.pushed == 200_000
    assert len(it._rows) <= 100 * 9 and len(it._shared.ops) <= 100
    # The sender took one batch, whatever its speed: the rest has no place.
    assert stats.dropped >= 200_000 - 4 * 100
    it.close(0)


def test_without_a_socket_grpc_is_never_started():
    assert daemons.said_by("""
import nanwatch, sys, time
run = nanwatch.init(address="/nowhere/at.all")
for i in range(1000):
    run.step(i, loss=1.0)
run.flush(0.5)
assert "no such socket" in run.stats.error, run.stats
assert "grpc" not in sys.modules and "numpy" not in sys.modules
assert not any(m.startswith("google") for m in sys.modules)
""") == ""


def test_arguments_that_there_are_not(run, caplog):
    for _ in range(3):
        run.op("fc", step=1, no_such=3)
        run.step(1, no_such=3)
    looked_at(run)
    assert run.stats.bad_input == 6 and run.stats.pushed == 6
    [said] = warnings(caplog)
    assert "op() has no argument 'no_such'" in said.getMessage()


def test_init_without_such_an_argument(caplog):
    run = nanwatch.init(run="bad", address="unix:/nowhere/at.all", no_such=3)
    run.step(1, loss=1.0)
    looked_at(run)
    assert run.stats.pushed == 1 and run.stats.bad_input == 1
    run.close(0)
    [said] = warnings(caplog)
    assert "init() has no argument 'no_such'" in said.getMessage()
