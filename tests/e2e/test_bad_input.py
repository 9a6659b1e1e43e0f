"""Bad input: a sentence for each, a counter, and nothing else is lost with it.

Not here: a full mailbox and a full history queue (PipelineTest, IngestTest
.SaysBusyOnceAndPassesOverWhatFollows, HistoryTest
.RefusesWhatDoesNotFitTheQueue); other socket paths, a port in use, a file that
is no history (test_lifecycle.py).
"""

import contextlib
import json
import os
import queue
import re
import resource
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time

import pytest
from conftest import BIN, Daemon, feed, get_json, wait_for

US = int(time.time() * 1e6)


class Raw:
    """One ingest stream on which anything can be said."""

    def __init__(self, address):
        self.process = subprocess.Popen(
            [str(BIN / "nanwatch-bad-client"), address], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.kill()
        self.process.wait()

    def say(self, *messages):
        for message in messages:
            self.process.stdin.write(message + "\n")
        self.process.stdin.flush()

    def hear(self, kind, seconds=10):
        """The next answer of this kind; others are passed over."""
        while True:
            answer = self.answers.get(timeout=seconds)
            assert kind == "status" or "status" not in answer, answer
            if kind in answer:
                return answer[kind] if kind != "status" else answer

    def acked(self, sequence):
        while int(self.hear("ack")["sequence"]) < sequence:
            pass

    def opened(self, session, run, **more):
        self.say(opening(session, run, **more))
        return self.hear("opened")

    def end(self):
        self.process.stdin.close()
        return self.hear("status")


def opening(session, run, rank=0, world=1, more=""):
    return (f'open {{ session: {session} client_time_us: {US} '
            f'run {{ run_id: "{run}" world_size: {world} {more} }} '
            f'rank {{ rank: {rank} }} }}')


def steps(session, sequence, first=0, n=10, columns="", deltas=None):
    deltas = deltas or [first] + [1] * (n - 1)
    times = [US] + [1000] * (len(deltas) - 1)
    return (f"steps {{ session: {session} sequence: {sequence} "
            f"sent_time_us: {US} step_deltas: {deltas} "
            f"time_us_deltas: {times} {columns} }}")


def names(session, sequence, n=1, first=0):
    ops = " ".join(f'ops {{ name: "op{first + i}" logical_shape: [16] }}'
                   for i in range(n))
    return (f"op_names {{ session: {session} sequence: {sequence} "
            f"first_index: {first} {ops} }}")


def ops(session, sequence, columns="", op=0):
    return (f"ops {{ session: {session} sequence: {sequence} "
            f"sent_time_us: {US} step_rows: [1] step_deltas: [1] "
            f"time_us_deltas: [{US}] op_deltas: [{op}] slots: SLOT_OUTPUT "
            f"{columns} }}")


@pytest.fixture(scope="module")
def house():
    """One daemon for all that must not harm it."""
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        it = Daemon(name).start()
        yield it
        assert it.process.poll() is None
        it.kill()


def counted(daemon, name, **labels):
    """One series; 0 when it is not there."""
    wanted = "".join(f'(?=[^}}]*{k}="{v}")' for k, v in labels.items())
    found = re.findall(rf"^{name}(?:{{{wanted}[^}}]*}})? (\S+)$",
                       daemon.metrics(), re.M)
    return sum(float(v) for v in found)


def refusals(daemon, code):
    return counted(daemon, "nanwatch_ingest_refusals_total", code=code)


def limit_hits(daemon, limit):
    return counted(daemon, "nanwatch_limit_hits_total", limit=limit)


def summary(daemon, run, *more):
    return daemon.show(run, *more)["summary"]


# What is wrong with the message of sequence 3 of a session that has named one
# op of 16 elements and sent 10 steps; the code and the words of the refusal;
# the limit that is counted; and how many steps are counted as dropped.
BAD = {
    "a column of another length": (
        lambda s: steps(s, 3, 10, 2, "loss { values: [1] }"),
        "invalid", ["loss", "1 values for 2 rows"], None, 2),
    "a row too many": (
        lambda s: steps(s, 3, 10, 4097),
        "limit", ["4097 steps", "4096"], "batch_records", 4097),
    "no rows": (
        lambda s: f"steps {{ session: {s} sequence: 3 }}",
        "invalid", ["no rows"], None, 0),
    "a negative step": (
        lambda s: steps(s, 3, -5, 2), "invalid", ["row 0", "step -5"], None, 2),
    "steps that overflow": (
        lambda s: steps(s, 3, deltas=[2**62, 2**62, 2**62]),
        "invalid", ["step"], None, 3),
    "a time that is none": (
        lambda s: steps(s, 3, 10, 1).replace(
            f"sent_time_us: {US}", f"sent_time_us: {2**62}"),
        "invalid", ["sent_time_us", "microseconds"], None, 1),
    "nine optimizers": (
        lambda s: steps(s, 3, 10, 1, "optimizers: " + str(
            [f"o{i}" for i in range(9)])),
        "limit", ["9 optimizers", "8"], "optimizers", 1),
    "an optimizer that is not listed": (
        lambda s: steps(s, 3, 10, 1, "optimizer: [3]"),
        "invalid", ["index 3"], None, 1),
    "a layer scale of no op": (
        lambda s: steps(s, 3, 10, 1,
                        "layer_scales { rows: 0 ops: 7 scales: 2 }"),
        "invalid", ["op 7", "OpNames"], None, 1),
    "a string that is not UTF-8": (
        lambda s: steps(s, 3, 10, 1, r'optimizers: "a\377b"'),
        "invalid", ["steps.optimizers", "not UTF-8"], None, 1),
    "five megabytes": (
        lambda s: steps(s, 3, 10, 1, f'optimizers: "{"x" * (5 << 20)}"'),
        "limit", ["at most 4194304", "smaller batches"], "message_bytes", 1),
    "a name of a thousand bytes": (
        lambda s: steps(s, 3, 10, 1, f'optimizers: "{"x" * 1000}"'),
        "limit", ["1000 bytes", "512"], "string_bytes", 1),
    "steps that go back again and again": (
        lambda s: steps(s, 3, deltas=[20, -1, -1, -1, -1, -1]),
        "invalid", ["go back 5 times", "optimizers"], None, 6),
    "more bad elements than elements": (
        lambda s: ops(s, 3, "nan { row_gaps: 0 counts: 17 }"),
        "invalid", ["nan", "17", "16"], None, 0),
    "an op that was not named": (
        lambda s: ops(s, 3, op=1), "invalid", ["op 1", "OpNames"], None, 0),
    "names with a hole before them": (
        lambda s: names(s, 3, first=5), "invalid", ["index 5"], None, 0),
    "a shape of 17 dimensions": (
        lambda s: (f"op_names {{ session: {s} sequence: 3 first_index: 1 ops "
                   f"{{ name: 'o' logical_shape: {[1] * 17} }} }}"),
        "limit", ["17", "16"], "shape_dims", 0),
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_bad_message_is_refused_alone(house, wrong):
    message, code, words, limit, dropped = BAD[wrong]
    run = wrong.replace(" ", "-")
    session = 1000 + list(BAD).index(wrong)
    before = refusals(house, code), limit and limit_hits(house, limit)
    with Raw(house.address) as raw:
        raw.opened(session, run)
        raw.say(names(session, 1), steps(session, 2), message(session))
        refusal = raw.hear("refusal")
        assert refusal["code"] == f"REFUSAL_CODE_{code.upper()}"
        assert int(refusal["session"]) == session
        assert int(refusal["sequence"]) == 3
        for word in words:
            assert word in refusal["message"], refusal
        # Its sequence is used, and what follows is welcome.
        raw.say(steps(session, 4, 10))
        raw.acked(4)
    shown = summary(house, run)
    assert int(shown["steps"]) == 20
    assert int(shown.get("dropped_steps", 0)) == dropped
    assert refusals(house, code) == before[0] + 1
    if limit:
        assert limit_hits(house, limit) == before[1] + 1


@pytest.mark.parametrize("line, words", [
    ("bytes ffffff007275626269736800", "not a nanwatch.v1.IngestRequest"),
    ("bytes 7801", "no kind that this daemon knows"),
    ("steps { session: 5 step_deltas: [1] time_us_deltas: [1] }",
     "session 5"),
])
def test_rubbish_in_between_harms_nobody(house, line, words):
    session = 1500 + len(line)
    before = counted(house, "nanwatch_ingest_refusals_total")
    with Raw(house.address) as raw:
        raw.opened(session, f"rubbish-{session}")
        raw.say(steps(session, 1), line)
        assert words in raw.hear("refusal")["message"]
        raw.say(steps(session, 2, 10))
        raw.acked(2)
    assert int(summary(house, f"rubbish-{session}")["steps"]) == 20
    assert counted(house, "nanwatch_ingest_refusals_total") == before + 1


def test_a_message_beyond_what_grpc_takes_ends_its_stream_alone(house):
    with Raw(house.address) as raw, Raw(house.address) as other:
        raw.opened(2001, "huge")
        other.opened(2002, "beside")
        raw.say(steps(2001, 1))
        raw.acked(1)
        raw.say(steps(2001, 2, 10, 1, f'optimizers: "{"x" * (9 << 20)}"'))
        status = raw.end()
        assert status["status"] == 8  # RESOURCE_EXHAUSTED
        assert "larger than max" in status["message"]
        other.say(steps(2002, 1))
        other.acked(1)
    # The session goes on where it was, on another stream.
    with Raw(house.address) as raw:
        opened = raw.opened(2001, "huge")
        assert int(opened["heldSequence"]) == 1
        raw.say(steps(2001, 2, 10))
        raw.acked(2)
    assert int(summary(house, "huge")["steps"]) == 20


def test_out_of_sequence_says_where_to_go_on(house):
    before = refusals(house, "out_of_sequence")
    duplicates = house.metric("nanwatch_ingest_duplicates_total")
    with Raw(house.address) as raw:
        raw.opened(2003, "jumps")
        raw.say(steps(2003, 1), steps(2003, 5, 40))
        refusal = raw.hear("refusal")
        assert refusal["code"] == "REFUSAL_CODE_OUT_OF_SEQUENCE"
        assert int(refusal["expectedSequence"]) == 2
        assert "send again from 2" in refusal["message"]
        raw.say(steps(2003, 2, 10), steps(2003, 1), steps(2003, 3, 20))
        raw.acked(3)
    assert refusals(house, "out_of_sequence") == before + 1
    assert house.metric("nanwatch_ingest_duplicates_total") == duplicates + 1
    assert int(summary(house, "jumps")["steps"]) == 30


def test_a_session_that_is_not_open(house):
    before = refusals(house, "unknown_session")
    with Raw(house.address) as raw:
        raw.say(steps(2004, 1))
        refusal = raw.hear("refusal")
        assert refusal["code"] == "REFUSAL_CODE_UNKNOWN_SESSION"
        assert "send OpenSession first" in refusal["message"]
        raw.opened(2004, "late")
        raw.say(steps(2004, 1), "close { session: 2004 sequence: 2 }",
                steps(2004, 3, 10))
        # This one is the pipeline's to know.
        assert "closed: open a new one" in raw.hear("refusal")["message"]
    assert refusals(house, "unknown_session") == before + 2
    assert int(summary(house, "late")["steps"]) == 10


@pytest.mark.parametrize("rank, more, word", [
    (4, "", "outside a world of 1"),
    (0, "attempt: -1", "run.attempt is -1"),
    (0, "scaler { growth_factor: nan }", "growth_factor"),
    (0, f'job: "{"j" * 600}"', "600 bytes"),
    (0, f"settings {{ key: 'k' value: '{'v' * 1100}' }}", "1024"),
    (0, r'job: "\377"', "open.run.job is not UTF-8"),
], ids=["rank", "attempt", "scaler", "long", "settings", "utf8"])
def test_an_opening_that_cannot_be(house, rank, more, word):
    with Raw(house.address) as raw:
        raw.say(opening(2005, "unopened", rank, more=more))
        refusal = raw.hear("refusal")
        assert word in refusal["message"], refusal
        assert int(refusal["session"]) == 2005
        raw.opened(2006, "opened-instead", more="attempt: 0")
        raw.say("close { session: 2006 sequence: 1 }")
    assert "unopened" not in house.nanwatch("runs").stdout


@pytest.mark.parametrize("scale", ["0", "-4", "nan"])
def test_a_scale_that_is_none_is_judged_not_refused(house, scale):
    run = f"scale-{scale}"
    session = 2100 + ["0", "-4", "nan"].index(scale)
    dynamic = "scaler { kind: SCALING_KIND_DYNAMIC name: 'pytorch' }"
    with Raw(house.address) as raw:
        raw.opened(session, run, more=dynamic)
        raw.say(steps(session, 1, 0, 3, "loss_scale { values: [8, 8, 8] }"),
                steps(session, 2, 3, 2,
                      f"loss_scale {{ values: [{scale}, {scale}] }}"))
        raw.acked(2)
        shown = house.show(run)
        rules = [f["rule"] for i in shown["incidents"] for f in i["findings"]]
        assert "scale_unrepresentable" in rules
        assert int(shown["summary"]["steps"]) == 5


def test_steps_that_go_back_are_a_new_attempt_beside_the_old(house):
    with Raw(house.address) as raw:
        raw.opened(2200, "again")
        raw.say(steps(2200, 1, 0, 30), steps(2200, 2, 10, 5))
        raw.acked(2)
    listed = json.loads(house.nanwatch("runs", "--json").stdout)
    found = {int(r.get("attempt", 0)): int(r["steps"])
             for r in listed["runs"] if r["run_id"] == "again"}
    assert found == {0: 30, 1: 5}
    old = get_json(house.http + "/api/v1/runs/again/attempts/0/steps")
    assert "29" in json.dumps(old)
    text = house.nanwatch("runs").stdout
    assert len(re.findall(r"\bagain\b", text)) == 2, text


def test_steps_that_repeat_count_each(house):
    with Raw(house.address) as raw:
        raw.opened(2201, "repeats")
        raw.say(steps(2201, 1, deltas=[0, 1, 0, 0, 0, 1]))
        raw.acked(1)
    shown = summary(house, "repeats")
    assert int(shown["steps"]) == 6 and int(shown.get("attempt", 0)) == 0


def test_a_clock_three_hours_off_is_shown_and_not_believed(house):
    feed(house.address, "--run", "ahead", "--steps", "50", "--rate", "0",
         "--skew-s", "10800")
    last = int(summary(house, "ahead")["last_record_us"]) / 1e6
    assert abs(last - time.time()) < 60


def test_the_client_repairs_strings_that_are_not_utf8(house):
    before = counted(house, "nanwatch_ingest_refusals_total")
    feed(house.address, "--run", b"caf\xe9", "--job", b"\xff\xfe", "--steps",
         "50", "--rate", "0")
    assert int(summary(house, "caf?")["steps"]) == 50
    assert counted(house, "nanwatch_ingest_refusals_total") == before


def test_an_annotation_of_nothing_is_a_sentence(house):
    feed(house.address, "--run", "noted", "--steps", "5", "--rate", "0")
    done = house.nanwatch("ack", "noted", "--incident", "dead", check=False)
    assert done.returncode not in (0, 1, 2)
    assert "run noted has no incident" in done.stderr
    done = house.nanwatch("mute", "nobody", "--reason", "x", check=False)
    assert "nobody" in done.stderr
    done = house.nanwatch("mute", "noted", "--rule", "none", check=False)
    assert "there is no rule none" in done.stderr


def resident_mb(daemon):
    return daemon.metric("process_resident_memory_bytes") / 2**20


def test_ten_thousand_runs_from_one_client(folder):
    daemon = Daemon(folder).start()
    try:
        with Raw(daemon.address) as one, Raw(daemon.address) as two, \
                Raw(daemon.address) as three, Raw(daemon.address) as other:
            other.opened(1, "other")
            for n, raw in enumerate((one, two, three)):
                # 4,096 are what a stream may carry; the rest is refused.
                sessions = range(10_000 * (n + 1), 10_000 * (n + 1) + 4_100)
                raw.say(*(opening(s, f"run-{s}") for s in sessions))
                for _ in range(4):
                    told = raw.hear("refusal", 20)
                    assert "4096 sessions" in told["message"]
                raw.say(*(steps(s, 1, 0, 2) for s in sessions[:4_096]))
            other.say(steps(1, 1))
            other.acked(1)
            wait_for("all steps are there", lambda: daemon.metric(
                "nanwatch_ingest_steps_total") == 3 * 2 * 4096 + 10, 30)
            assert limit_hits(daemon, "sessions_per_stream") == 12
            assert daemon.metric("nanwatch_engine_runs") == 3 * 4096 + 1
            assert resident_mb(daemon) < 400
            assert int(summary(daemon, "other")["steps"]) == 10
            # The exposition stays bounded, too, and says so.
            assert len(daemon.metrics()) < 32 << 20
    finally:
        daemon.kill()


def test_a_million_ops_from_one_client(folder):
    daemon = Daemon(folder).start()
    try:
        with Raw(daemon.address) as raw, Raw(daemon.address) as other:
            other.opened(1, "other")
            batches = [names(0, 9999, 8192, first)
                       for first in range(0, 65536, 8192)]
            full = 0
            for session in range(100, 116):
                raw.opened(session, f"ops-{session}")
                for n, message in enumerate(batches):
                    raw.say(message.replace("session: 0", f"session: {session}")
                            .replace("9999", str(n + 1)))
                raw.say(names(session, 9, 1, 65536))  # one more than may be
                told = ""
                while "65536" not in told:
                    told = raw.hear("refusal", 20)["message"]
                    full += "256 MB over all runs" in told
                    # What follows names that were refused has no beginning.
                    assert ("65536" in told or "256 MB over all runs" in told
                            or "name the ones between first" in told), told
                # The ops that are known go on.
                if session == 100:
                    raw.say(ops(session, 10, "nan { row_gaps: 0 counts: 1 }",
                                65535))
                    raw.acked(10)
            assert limit_hits(daemon, "ops_per_session") == 16
            assert limit_hits(daemon, "op_bytes") == full > 4
            assert daemon.metric("nanwatch_ingest_op_statuses_total") == 1
            assert resident_mb(daemon) < 400
            other.say(steps(1, 1))
            other.acked(1)
    finally:
        daemon.kill()


# ------------------------------------------------------------------- history


def degraded(daemon):
    return counted(daemon, "nanwatch_history_degraded")


def goes_on(daemon, run, steps=100):
    """Trainings are judged, whatever became of the file."""
    feed(daemon.address, "--run", run, "--steps", str(steps), "--rate", "0")
    assert int(summary(daemon, run)["steps"]) == steps


def set_aside(folder, kind):
    return [p for p in folder.iterdir() if f"history.db.{kind}-" in p.name
            and not p.name.endswith(("-wal", "-shm"))]


def test_a_history_damaged_in_its_middle_keeps_what_can_be_read(folder):
    daemon = Daemon(folder).start()
    feed(daemon.address, "--run", "old", "--steps", "20000", "--rate", "0")
    assert daemon.stop() == 0
    pages = bytearray(daemon.history.read_bytes())
    for at in range(len(pages) // 2, len(pages) // 2 + 3 * 4096):
        pages[at] ^= 0x5a
    daemon.history.write_bytes(pages)
    daemon.start()
    try:
        assert degraded(daemon) == 0
        goes_on(daemon, "new")
        assert set_aside(folder, "damaged")
        said = daemon.log.read_text()
        assert "cannot be used" in said and "set aside" in said
    finally:
        daemon.kill()


def test_a_history_of_a_newer_version_is_left_as_it_is(folder):
    daemon = Daemon(folder).start()
    feed(daemon.address, "--run", "old", "--steps", "100", "--rate", "0")
    assert daemon.stop() == 0
    with contextlib.closing(sqlite3.connect(daemon.history)) as file:
        version = file.execute("pragma user_version").fetchone()[0]
        file.execute(f"pragma user_version = {version + 1}")
        file.commit()
    daemon.start()
    try:
        assert degraded(daemon) == 0
        goes_on(daemon, "new")
        aside, = set_aside(folder, "newer")
        assert "of a newer nanwatch" in daemon.log.read_text()
        with contextlib.closing(sqlite3.connect(aside)) as file:
            assert file.execute("select count(*) from runs").fetchone()[0] == 1
    finally:
        daemon.kill()


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of its own; skips where none may be mounted."""
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}",
                           "tmpfs", str(folder)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("may not mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def limited(daemon, limit):
    """Starts the daemon so that files end at `limit` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        return daemon.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_up_ends_history_and_nothing_else(folder):
    daemon = Daemon(folder)
    limited(daemon, 150_000)
    try:
        assert degraded(daemon) == 0
        told = feed(daemon.address, "--run", "many", "--steps", "60000",
                    "--rate", "0")
        wait_for("the full disk shows", lambda: degraded(daemon) == 1)
        assert counted(daemon, "nanwatch_history_failures_total") >= 1
        assert counted(daemon, "nanwatch_history_lost_events_total") >= 1
        assert "history is off: it cannot be written" in daemon.log.read_text()
        assert int(summary(daemon, "many")["steps"]) == told["acked"] > 0
        goes_on(daemon, "after")
        kept = daemon.history.stat().st_size
    finally:
        daemon.stop()
    # What was kept before is there again where there is room.
    assert kept > 0
    daemon.start()
    try:
        assert degraded(daemon) == 0
        assert "many" in daemon.nanwatch("runs").stdout
        goes_on(daemon, "again")
    finally:
        daemon.kill()


def test_a_full_disk_from_the_start(folder):
    with small_disk(folder / "disk", "256k") as disk:
        (disk / "filler").write_bytes(b"x" * 250_000)
        daemon = Daemon(folder)
        daemon.history = disk / "history.db"
        daemon.start()
        try:
            assert degraded(daemon) == 1
            said = daemon.log.read_text()
            assert str(daemon.history) in said and "history is off" in said
            goes_on(daemon, "without")
        finally:
            daemon.kill()


def test_a_history_that_is_read_only(folder):
    with small_disk(folder / "disk", "16m") as disk:
        daemon = Daemon(folder)
        daemon.history = disk / "history.db"
        daemon.start()
        feed(daemon.address, "--run", "old", "--steps", "500", "--rate", "0")
        assert daemon.stop() == 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        daemon.start()
        try:
            assert degraded(daemon) == 1
            said = daemon.log.read_text()
            assert str(daemon.history) in said and "history is off" in said
            goes_on(daemon, "without")
        finally:
            daemon.kill()


# ------------------------------------------------ socket and configuration


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_socket_of_another_user_is_left_alone(folder):
    folder.chmod(0o777)
    path = folder / "ingest.sock"
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups",
         str(BIN / "nanwatchd"), "--socket", str(path), "--history", "off",
         "--listen", "127.0.0.1:0"],
        capture_output=True, text=True, timeout=10)
    if "Permission denied" in done.stderr:
        pytest.skip("another user may not run what was built here")
    assert done.returncode == 1
    assert f"{path} belongs to user 0" in done.stderr
    assert "choose another path" in done.stderr
    assert path.is_socket()


def test_every_error_of_a_configuration_with_its_line(folder):
    path = folder / "nanwatch.yaml"
    path.write_text("""\
history:
  keep_for: -3s
  keep_byts: 1GB
rules:
  scale_collapse: {warning_ratio: banana}
web:
  listen: 300.0.0.1:99999
""")
    done = subprocess.run([str(BIN / "nanwatchd"), "--config", str(path)],
                          capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    for line, word in ((2, "keep_for"), (3, "keep_byts"),
                       (5, "warning_ratio")):
        assert re.search(rf"{path}:{line}:.*{word}", done.stderr), done.stderr
    assert len(done.stderr.splitlines()) >= 4, done.stderr
