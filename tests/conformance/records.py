"""What a daemon recorded of a run, in a form in which two clients compare."""

import functools
import importlib
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile

import zstandard

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Kinds of events that say nothing of the client.
OTHERS = {"daemon_started", "rules_loaded", "checkpoint", "annotation"}


@functools.lru_cache
def history_pb2():
    """The messages of proto/nanwatch/v1/history.proto, generated now."""
    out = tempfile.mkdtemp(prefix="nw-proto-")
    files = ["nanwatch/v1/ingest.proto", "nanwatch/v1/history.proto"]
    subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={out}",
                    *files], check=True)
    # "nanwatch" is the package under test: read the two beside it.
    pages = pathlib.Path(out) / "nanwatch" / "v1"
    flat = pathlib.Path(out) / "flat"
    flat.mkdir()
    for page in pages.glob("*_pb2.py"):
        text = page.read_text().replace("from nanwatch.v1 import", "import")
        (flat / page.name).write_text(text)
    sys.path.insert(0, str(flat))
    try:
        return importlib.import_module("history_pb2")
    finally:
        sys.path.remove(str(flat))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def events(path):
    """The StoredEvents of an export, in the order of their ids."""
    found = []
    with sqlite3.connect(path) as file:
        blobs = [row[0] for row in file.execute("SELECT body FROM events")]
    for blob in blobs:
        plain = zstandard.ZstdDecompressor().decompress(
            blob, max_output_size=1 << 28)
        at = number = 0
        while at < len(plain):
            gap, at = varint(plain, at)
            number += gap
            _, at = varint(plain, at)  # the daemon's time
            size, at = varint(plain, at)
            event = history_pb2().StoredEvent.FromString(plain[at:at + size])
            found.append((number, event))
            at += size
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]


def bit(bitmap, row):
    return row // 8 < len(bitmap) and bitmap[row // 8] >> row % 8 & 1


def exact(value):
    """Every bit of a float, and NaNs that are equal."""
    if isinstance(value, float):
        return struct.pack("<d", value).hex() if value == value else "nan"
    return value


def running(values):
    total, sums = 0, []
    for value in values:
        total = (total + value + 2**63) % 2**64 - 2**63
        sums.append(total)
    return sums


COLUMNS = {"DoubleColumn", "FloatColumn"}


def counts_of(column, rows):
    if not column.row_gaps:
        counts = list(column.counts) or [0] * rows
    else:
        counts = [0] * rows
        for row, count in zip(running(column.row_gaps), column.counts):
            counts[row] = count
    return counts


def column_values(field, column, rows):
    """Row and value of each that is present."""
    kind = field.message_type.name
    if kind in COLUMNS:
        values = [exact(v) for v in column.values]
    elif kind == "BitColumn":
        values = [bool(bit(column.values, i)) for i in range(rows)]
    else:
        values = counts_of(column, rows)
    return [(i, v) for i, v in enumerate(values) if not bit(column.absent, i)]


def add_columns(batch, rows):
    for field, column in batch.ListFields():
        if field.message_type is None or field.name in ("layer_scales",
                                                        "elements", "sketches"):
            continue
        if field.message_type.name in COLUMNS | {"BitColumn", "CountColumn"}:
            for i, value in column_values(field, column, len(rows)):
                rows[i][field.name] = value


# The columns of steps, in the order of their numbers (daemon/model/step.h).
STEP_FIELDS = (
    "loss", "loss_scale", "grad_norm", "update_norm", "param_norm",
    "learning_rate", "zero_fraction", "underflow_fraction",
    "consumed_samples", "applied_grad_norm")


def widen(event):
    """Puts columns that are stored as fp32 back among the values."""
    for narrow in event.narrow:
        planes = narrow.planes
        rows = len(planes) // 4
        words = (bytes(planes[row::rows]) for row in range(rows))
        column = getattr(event.steps, STEP_FIELDS[narrow.field])
        column.values.extend(struct.unpack("<f", word)[0] for word in words)


def step_rows(event):
    widen(event)
    batch = event.steps
    rows = [{"step": step} for step in running(batch.step_deltas)]
    add_columns(batch, rows)
    for i, row in enumerate(rows):
        row["rank"] = event.rank
        row["attempt"] = event.attempt
        row["request"] = batch.request_id
        index = batch.optimizer[i] if batch.optimizer else 0
        row["optimizer"] = batch.optimizers[index] if batch.optimizers else ""
        if batch.replica_digest:
            row["replica_digest"] = batch.replica_digest[i]
    for status in batch.float_status:
        rows[status.row]["float_status"] = (tuple(status.words),
                                            status.combined)
    for one in batch.batch_digests:
        rows[one.row]["batch_digest"] = one.digest
    scales = batch.layer_scales
    for i, op, scale in zip(scales.rows, scales.ops, scales.scales):
        rows[i].setdefault("layer_scales", []).append((op, exact(scale)))
    return rows


def op_rows(event):
    batch = event.ops
    rows = []
    for count, step in zip(batch.step_rows, running(batch.step_deltas)):
        rows += [{"step": step} for _ in range(count)]
    for i, op in enumerate(running(batch.op_deltas)):
        slot = batch.slots[i] if len(batch.slots) > 1 else batch.slots[0]
        rows[i].update(op=op, slot=slot, rank=event.rank,
                       attempt=event.attempt, request=batch.request_id)
        if batch.digest:
            rows[i]["digest"] = batch.digest[i]
    add_columns(batch, rows)
    if batch.elements.counts:
        for row, count in zip(rows, counts_of(batch.elements, len(rows))):
            if count:  # 0: it covers a shape that nobody said, or no element
                row["elements"] = count
    for exponents in batch.exponents:
        rows[exponents.row]["exponents"] = (exponents.first,
                                            tuple(exponents.counts))
    for i, row in enumerate(batch.sketches.rows):
        rows[row]["sketch"] = tuple(
            exact(v) for v in batch.sketches.values[16 * i:16 * (i + 1)])
    return rows


def other(event, kind):
    body = getattr(event, kind)
    for name in ("session", "sequence", "first_index", "clock_skew_us"):
        if name in body.DESCRIPTOR.fields_by_name:
            body.ClearField(name)
    if kind == "rank_opened":
        body.rank.ClearField("pid")
    if kind == "run_opened":
        for trouble in body.troubles_before:
            trouble.ClearField("id")  # of the run's name, which is each client's
    if kind == "op_names":
        return [str(op) for op in body.ops]
    return [f"rank {event.rank} attempt {event.attempt}: {body}"]


def records(path):
    """Rows of each kind of event, in their order."""
    found = {}
    for event in events(path):
        kind = event.WhichOneof("body")
        if kind in OTHERS:
            continue
        if kind == "steps":
            rows = step_rows(event)
        elif kind == "ops":
            rows = op_rows(event)
        else:
            rows = other(event, kind)
        found.setdefault(kind, []).extend(rows)
    return found
