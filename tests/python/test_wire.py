"""Our own encoding against protobuf's, on numbers drawn at random."""

import math
import pathlib
import random
import sys

import daemons
import pytest

sys.path.insert(0, str(daemons.ROOT / "tests" / "conformance"))

from nanwatch import _ops, _outbox, _program_end, _steps, _wire  # noqa: E402
from records import history_pb2, op_rows, running, step_rows  # noqa: E402

SEEDS = range(40)


def pb(name):
    """A message of ingest.proto, through the field that holds it."""
    return getattr(history_pb2().nanwatch_dot_v1_dot_ingest__pb2, name)


def number(chance):
    return chance.choice([
        None, None, 0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 5e-324,
        chance.uniform(-1e6, 1e6),
    ])


def whole(chance, most=2**64 - 1):
    return chance.choice([None, 0, 0, 0, 1, 127, 128, most,
                          chance.randrange(most + 1)])


def step(chance):
    return chance.choice([0, 1, -1, 2**63 - 1, -(2**63),
                          chance.randrange(-10**6, 10**6)])


def a_more(chance, digests):
    return _steps.More(
        *(number(chance) for _ in range(5)),
        optimizer=chance.randrange(3),
        replica_digest=chance.randrange(2**64) if digests else None,
        float_status=chance.choice([(), (1,), (0, 1, -5, 2**31 - 1) * 2]),
        float_status_combined=chance.random() < 0.5,
        layer_scales=tuple((chance.randrange(9), 2.0 ** chance.randrange(9))
                           for _ in range(chance.randrange(3))),
        request_id=7,
        update_fault=chance.choice([0, 0, 4, 8]),
        stuck_fraction=chance.choice([None, None, 0.0, 0.5]),
        samples=chance.choice([None, (5, 5), (-3, 2**53 - 1)]),
    )


def same(value, wanted):
    return (value == wanted and math.copysign(1, value)
            == math.copysign(1, wanted)) or (value != value
                                             and wanted != wanted)


def held(column, rows):
    """Values of a column, None where absent."""
    return [None if i // 8 < len(column.absent)
            and column.absent[i // 8] >> i % 8 & 1 else v
            for i, v in zip(range(rows), column.values)]


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_read_as_they_were_said(seed):
    chance = random.Random(seed)
    n = chance.randrange(1, 70)
    digests = chance.random() < 0.5
    rows = []
    for _ in range(n):
        rows += [step(chance), chance.uniform(1e9, 2e9),
                 *(number(chance) for _ in range(4)),
                 chance.choice([None, True, False]),
                 chance.choice([None, True, False]),
                 a_more(chance, digests)]
    columns = _steps.columns_of(rows)
    names = ["gen", "dis"]
    seen = _steps.Seen(*(chance.random() < 0.5 for _ in range(4)))
    batch = pb("StepBatch").FromString(
        _steps.encode(columns, names, 123) + seen.encode())
    assert batch.sent_time_us == 123
    assert all(getattr(batch, name) == each
               for name, each in seen._asdict().items())
    assert running(batch.step_deltas) == columns[0]
    assert running(batch.time_us_deltas) == [int(t * 1e6) for t in columns[1]]
    for at, name in ((2, "loss"), (3, "loss_scale"), (4, "grad_norm"),
                     (5, "learning_rate")):
        values = held(getattr(batch, name), n)
        if columns[at].count(None) == n:
            assert not batch.HasField(name)
            continue
        for value, wanted in zip(values, columns[at]):
            assert value is wanted is None or same(value, wanted)
    assert batch.request_id == 7
    optimizers = [batch.optimizers[i] for i in batch.optimizer] or list(
        batch.optimizers) * n or [""] * n
    more = columns[8]
    assert optimizers == [["", *names][m.optimizer] for m in more]
    assert list(batch.replica_digest) == [
        m.replica_digest for m in more if digests]
    event = history_pb2().StoredEvent(steps=batch)
    for row, m, overflow in zip(step_rows(event), more, columns[6]):
        assert row.get("overflow") == overflow
        assert row.get("float_status", ((), m.float_status_combined)) == (
            m.float_status, m.float_status_combined)
        assert len(row.get("layer_scales", ())) == len(m.layer_scales)
    facts = [(f.row, f.fault, f.stuck_fraction if f.HasField(
        "stuck_fraction") else None) for f in batch.update_facts]
    assert facts == [
        (i, m.update_fault, m.stuck_fraction) for i, m in enumerate(more)
        if m.update_fault or m.stuck_fraction is not None]
    samples = [(s.row, s.first, s.last) for s in batch.samples]
    assert samples == [
        (i, *m.samples) for i, m in enumerate(more) if m.samples is not None]


@pytest.mark.parametrize("seed", SEEDS)
def test_ops_read_as_they_were_said(seed):
    chance = random.Random(seed)
    n = chance.randrange(1, 70)
    sparse = chance.random() < 0.5
    statuses = [
        _ops.Status(
            chance.choice([5, 5, 5, step(chance)]), chance.uniform(1e9, 2e9),
            chance.randrange(3), chance.randrange(1, 8),
            elements=whole(chance),
            nan=0 if sparse and chance.random() < 0.8 else whole(chance),
            zero=whole(chance), rms=number(chance),
            exponents=chance.choice([None, (-3, (1, 0, 300))]), request=9)
        for _ in range(n)
    ]
    shapes = [0, 128, 2**64 - 1]
    body = _ops.encode(_ops.Table.of(statuses), shapes, 5)
    batch = pb("OpBatch").FromString(body)
    rows = op_rows(history_pb2().StoredEvent(ops=batch))
    assert len(rows) == n and batch.request_id == 9
    listed = dict(zip(running(batch.elements.row_gaps),
                      batch.elements.counts))
    for i, (row, status) in enumerate(zip(rows, statuses)):
        assert (row["step"], row["op"], row["slot"]) == (
            status.step, status.op, status.slot)
        assert row.get("nan") == status.nan
        assert row.get("zero") == status.zero
        assert ("rms" in row) == (status.rms is not None)
        assert row.get("exponents") == status.exponents
        as_shape = status.elements in (None, shapes[status.op])
        assert listed.get(i) == (None if as_shape else status.elements)


def test_a_batch_is_cut_where_one_cannot_say_it():
    rows = []
    for request in (0, 0, 1, 1, 0):
        more = _steps.More(request_id=request) if request else None
        rows += [1, 1.0, *[None] * 6, more]
    counts = [n for _, n in _steps.cut(_steps.columns_of(rows), 512)]
    assert counts == [2, 2, 1]
    assert [n for _, n in _steps.cut(_steps.columns_of(rows), 1)] == [1] * 5


@pytest.mark.parametrize("seed", SEEDS)
def test_an_end_reads_as_it_was_said(seed):
    chance = random.Random(seed)
    words = "".join(chance.choice("aä\ud800語 \n") for _ in range(300))
    end = _program_end.of_exception(ValueError(words))
    message = _outbox.Outgoing(_outbox.CLOSE, end.encode()).envelope(7, 9)
    close = pb("IngestRequest").FromString(message).close
    assert (close.session, close.sequence) == (7, 9)
    assert (close.end.kind, close.end.type) == (1, "ValueError")
    assert close.end.message == end.message.replace("\ud800", "?")
    assert len(close.end.message) <= 200 and "\n" not in close.end.message


def test_the_envelope_is_the_message():
    body = _outbox.Lost(3, 4, -5, 6).body()
    message = _outbox.Outgoing(_outbox.DROPPED, body).envelope(2**63, 300)
    dropped = pb("IngestRequest").FromString(message).dropped
    assert (dropped.session, dropped.sequence) == (2**63, 300)
    assert (dropped.steps, dropped.ops) == (3, 4)
    assert (dropped.first_step, dropped.last_step) == (-5, 6)


def test_answers_are_read_as_protobuf_wrote_them():
    response = pb("IngestResponse")()
    response.request.id = 2**64 - 1
    response.request.expires_at_step = -3
    response.request.collect_ops.ops.extend([1, 300, 2**32 - 1])
    response.request.collect_ops.steps = 8
    read = _wire.Message(response.SerializeToString())
    request = _wire.Message(read.blob(4))
    assert request.integer(2) == 2**64 - 1 and request.signed(5) == -3
    assert _wire.Message(request.blob(3)).integers(1) == [1, 300, 2**32 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_rubbish_is_refused_not_raised(seed):
    chance = random.Random(seed)
    for _ in range(500):
        data = chance.randbytes(chance.randrange(20))
        try:
            message = _wire.Message(data)
            message.integers(1), message.text(2), message.signed(3)
        except ValueError:
            pass


def test_the_protocol_is_read_from_this_checkout():
    assert pathlib.Path(_wire.__file__).is_relative_to(daemons.ROOT)
