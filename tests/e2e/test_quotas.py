"""What one user may have of a daemon, and that others are served beside him: real
users on one socket."""

import contextlib
import signal
import socket
import subprocess
import sys

import grpc
import pytest

from conftest import (Daemon, counted, feed, limit_hits, refusals, summary,
                      wait_for)
from raw_client import names, opening, steps
from test_audit import line
from test_hostile_clients import watchers
from test_owners import ANN, BOB, CHIEF, as_user, client, why_not

SOCKET = 'ingest: {socket_mode: "0666"}\n'


@pytest.fixture(autouse=True)
def several_users():
    why = why_not()
    if why:
        pytest.skip(why)


@pytest.fixture
def limited(folder):
    """Starts a daemon with these quotas."""
    folder.chmod(0o711)
    started = []

    def start(quotas):
        it = Daemon(folder, config=SOCKET + quotas).start()
        started.append(it)
        return it

    yield start
    for one in started:
        one.kill()


def refused(raw, quota, user=ANN):
    """Says what, whose it is, how much, and which key."""
    refusal = raw.hear("refusal")
    assert refusal["code"] == "REFUSAL_CODE_LIMIT", refusal
    assert f"user {user} has " in refusal["message"], refusal
    assert f"quotas.{quota}" in refusal["message"], refusal
    return refusal["message"]


def test_runs(limited):
    daemon = limited(f"quotas: {{runs: 3, users: {{{BOB}: {{runs: 1}}}}}}")
    with client(daemon, ANN) as ann, client(daemon, BOB) as bob:
        for i in range(3):
            ann.opened(10 + i, f"ann-{i}")
        ann.say(opening(13, "ann-3"))
        assert " 3 runs" in refused(ann, "runs")
        # Another's room is his own, and another.
        bob.opened(20, "bob-0")
        bob.say(opening(21, "bob-1"))
        refused(bob, "runs", BOB)
        assert limit_hits(daemon, "user_runs") == 2
        # What is open goes on, another rank comes in, the next attempt does not.
        ann.say(steps(10, 1))
        ann.acked(1)
        ann.opened(14, "ann-0", rank=1, world=2)
        ann.say(opening(15, "ann-0", more="attempt: 1"))
        refused(ann, "runs")
        ann.say(steps(10, 2, first=0))
        refused(ann, "runs")
        # Taken again when it is written down otherwise.
        daemon.config.write_text(SOCKET + "quotas: {runs: 4}\n")
        daemon.process.send_signal(signal.SIGHUP)

        def opens():
            ann.say(opening(13, "ann-3"))
            answer = ann.answers.get(timeout=10)
            return "opened" in answer
        wait_for("the reload", opens)
    # Counted again after a restart.
    daemon.kill()
    daemon.start()
    with client(daemon, ANN) as ann:
        ann.say(opening(19, "ann-5"))
        assert " 4 runs" in refused(ann, "runs")


def test_runs_that_leave_make_room(limited):
    daemon = limited("engine: {ended_run_leaves_after: 1s}\nquotas: {runs: 1}")
    with client(daemon, ANN) as ann:
        ann.opened(1, "one")
        ann.say("close { session: 1 sequence: 1 }")
        ann.acked(1)

        def opens():
            ann.say(opening(2, "two"))
            return "opened" in ann.answers.get(timeout=10)
        wait_for("its place", opens)


def test_sessions_and_names(limited):
    daemon = limited("quotas: {sessions: 2, op_bytes: 4KiB, run_bytes: 2KiB}")
    with client(daemon, ANN) as ann, client(daemon, BOB) as bob:
        ann.opened(1, "job", world=3)
        ann.opened(2, "job", rank=1, world=3)
        ann.say(opening(3, "job", rank=2, world=3))
        refused(ann, "sessions")
        ann.say(names(1, 1, n=3))
        ann.acked(1)
        ann.say(names(1, 2, n=20, first=3))
        refused(ann, "op_bytes")
        ann.say(steps(1, 3))
        ann.acked(3)
        settings = " ".join(f'settings {{ key: "k{i}" value: "{"v" * 500}" }}'
                            for i in range(4))
        bob.say(opening(4, "big", more=settings))
        refusal = bob.hear("refusal")
        assert BOB in refusal["message"], refusal
        bob.opened(4, "small")
        bob.say(names(4, 1, n=3))
        bob.acked(1)
    for limit in ("user_sessions", "user_op_bytes", "user_run_bytes"):
        assert limit_hits(daemon, limit) == 1, limit


def test_an_administrator_s_opening_counts_for_the_owner(folder):
    folder.chmod(0o711)
    daemon = Daemon(folder, config=SOCKET + f"access: {{admins: [{CHIEF}]}}\n"
                    "quotas: {sessions: 1}").start()
    try:
        with client(daemon, ANN) as ann, client(daemon, CHIEF) as chief:
            ann.opened(1, "job", world=2)
            chief.say(opening(2, "job", rank=1, world=2))
            refused(chief, "sessions")
            chief.opened(3, "own")
    finally:
        daemon.kill()


def test_streams(limited, folder):
    audit = folder / "audit.jsonl"
    daemon = limited(f"quotas: {{streams: 2}}\naudit: {{file: {audit}}}")
    with contextlib.ExitStack() as stack:
        for i in range(2):
            stack.enter_context(client(daemon, ANN)).opened(1 + i, f"ann-{i}")
        ended = stack.enter_context(client(daemon, ANN)).end()
        assert ended["status"] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert "quotas.streams" in ended["message"] and ANN in ended["message"]
        stack.enter_context(client(daemon, BOB)).opened(9, "bob")
        assert limit_hits(daemon, "user_streams") == 1
        assert "quotas.streams" in line(audit, "refusal", who=ANN)["what"]
    # Who left made room.
    def comes_in():
        with client(daemon, ANN) as ann:
            ann.say(opening(20, "ann-2"))
            return "opened" in ann.answers.get(timeout=10)
    wait_for("a place", comes_in)


def connected(daemon):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    one.connect(str(daemon.socket))
    return one


def test_connections(limited):
    """They are counted by who opened them; here root."""
    daemon = limited("quotas: {connections: 20}")
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(connected(daemon)) for _ in range(20)]
        one = stack.enter_context(connected(daemon))
        with contextlib.suppress(ConnectionError):
            while one.recv(100):
                pass
        assert limit_hits(daemon, "user_connections") == 1
        log = daemon.log.read_text()
        assert "quotas.connections" in log and "peer=root" in log
        with client(daemon, BOB) as bob:
            bob.opened(1, "bob")
        for half in crowd[:10]:
            half.close()

        def served():
            return daemon.nanwatch("runs", check=False).returncode == 0
        wait_for("root comes in again", served)


WATCH_ONE = """if True:
    import grpc, sys
    with grpc.insecure_channel(sys.argv[1]) as channel:
        watch = channel.unary_stream("/nanwatch.v1.QueryService/WatchRun")
        print(len(next(watch(b"\\n\\x03job"))))
"""


def test_queries(limited, folder):
    audit = folder / "audit.jsonl"
    daemon = limited(f"quotas: {{queries: 3}}\naudit: {{file: {audit}}}")
    with client(daemon, ANN) as ann:
        ann.opened(1, "job")
        with watchers(daemon, "job", 5) as calls:  # root's
            codes = []
            for call in calls:
                try:
                    next(call)
                    codes.append(None)
                except grpc.RpcError as error:
                    codes.append(error.code())
                    assert "quotas.queries" in error.details()
                    assert "user root" in error.details()
            assert codes.count(None) == 3
            assert codes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) == 2
            assert limit_hits(daemon, "user_queries") == 2
            assert "quotas.queries" in line(audit, "refusal",
                                            who="root")["what"]
            watch = subprocess.run(
                [sys.executable, "-c", WATCH_ONE, daemon.address],
                capture_output=True, text=True, timeout=30, **as_user(BOB))
            assert int(watch.stdout) > 0, watch.stderr
            # Calls of another kind are counted by themselves.
            assert daemon.nanwatch("runs").returncode == 0


def test_who_sends_too_much_is_read_slowly(limited):
    """Nothing is refused, nothing is lost, no stream ends."""
    daemon = limited(f"quotas: {{users: {{{ANN}: {{bytes_per_second: 64KiB}}}}}}")
    with client(daemon, ANN) as ann, client(daemon, BOB) as bob:
        ann.opened(1, "ann")
        bob.opened(2, "bob")
        count = 50  # 3 KB each: 2 s after the first second's worth
        for i in range(count):
            ann.say(steps(1, i + 1, first=1000 * i, n=1000))
        for i in range(20):
            bob.say(steps(2, i + 1, first=10 * i))
            bob.acked(i + 1)
        # One of two streams pays for the other.
        with client(daemon, ANN) as more:
            more.opened(3, "more")
            more.say(steps(3, 1))
            more.hear("ack", 60)
        wait_for("all is there", lambda: int(summary(daemon, "ann")["steps"]) ==
                 1000 * count, seconds=60)
        assert int(summary(daemon, "bob")["steps"]) == 200
        assert limit_hits(daemon, "user_bytes") >= 1
        assert counted(daemon, "nanwatch_ingest_quota_pauses_total") >= 1
        for code in ("limit", "busy"):
            assert refusals(daemon, code) == 0
        # A pause is no reason not to end.
        ann.say(steps(1, count + 1, first=1000 * count, n=4000))
        assert daemon.stop(seconds=5) == 0


def test_a_flood_is_overtaken(limited):
    """Ann's batches are many and large; Bob's records are judged and on disk while
    hers wait."""
    daemon = limited("")
    with contextlib.ExitStack() as stack:
        floods = []
        for session in range(1, 5):
            ann = stack.enter_context(client(daemon, ANN))
            ann.opened(session, f"flood-{session}")
            floods.append(ann)
        bob = stack.enter_context(client(daemon, BOB))
        bob.opened(9, "bob")
        batches = 60
        for ann, session in zip(floods, range(1, 5)):
            # One line for all, so that they are there before Bob's.
            ann.process.stdin.write("".join(
                steps(session, i + 1, first=4000 * i, n=4000) + "\n"
                for i in range(batches)))
            ann.process.stdin.flush()
        waited = []
        for i in range(10):
            before = counted(daemon, "nanwatch_ingest_steps_total")
            bob.say(steps(9, i + 1, first=i, n=1))
            bob.acked(i + 1)
            waited.append(
                counted(daemon, "nanwatch_ingest_steps_total") - before)
        # Of what is sent by then: not half of it goes before a record of his.
        assert min(waited) < 4 * batches * 4000 / 2, waited
        for ann in floods:
            while True:
                answer = ann.answers.get(timeout=60)
                assert "refusal" not in answer, answer
                if int(answer.get("ack", {}).get("sequence", 0)) == batches:
                    break
        assert int(summary(daemon, "bob")["steps"]) == 10
        for session in range(1, 5):
            assert int(summary(daemon, f"flood-{session}")["steps"]) == (
                4000 * batches)


def test_who_is_alone_may_have_almost_all(limited):
    """Without a word in the configuration nobody who trains meets a quota."""
    daemon = limited("")
    told = feed(daemon.address, "--run", "job", "--steps", "100000", "--rate",
                "0", "--in-flight", "20000", "--ranks", "4")
    assert told["acked"] == 400000 and not told["dropped"], told
    text = daemon.metrics()
    assert not [line for line in text.splitlines()
                if "limit=\"user_" in line and not line.endswith(" 0")]
