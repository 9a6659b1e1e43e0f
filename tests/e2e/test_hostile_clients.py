"""Clients of one daemon that would take its memory, its threads or its time:
the daemon stays within its bounds, and serves the others."""

import concurrent.futures
import contextlib
import hashlib
import os
import random
import socket
import sqlite3
import threading
import time

import grpc
import pytest
import zstandard

from conftest import (ALL, Daemon, counted, feed, get, limit_hits, refusals,
                      summary, wait_for)
from raw_client import Raw, opening, steps
from raw_h2 import INGEST, RawH2

MB = 1 << 20
WATCH = "/nanwatch.v1.QueryService/WatchRun"


def peak(daemon):
    """The most that was ever resident, in bytes."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


def serves(daemon, run="another"):
    feed(daemon.address, "--run", run, "--steps", "100", "--rate", "0")
    assert int(summary(daemon, run)["steps"]) == 100


def ends(daemon):
    assert daemon.stop(seconds=5) == 0


def ingest(channel, messages, **more):
    call = channel.stream_stream(INGEST)(iter(messages), **more)
    with contextlib.suppress(grpc.RpcError):
        for _ in call:
            pass
    return call


# ------------------------------------------------------------------- memory

@pytest.mark.parametrize("algorithm", [grpc.Compression.Gzip,
                                       grpc.Compression.Deflate], ids=str)
def test_packed_messages_are_not_taken(daemon, algorithm):
    bomb = bytes(256 * MB)
    with grpc.insecure_channel(daemon.address, compression=algorithm) as channel:
        call = ingest(channel, [bomb])
        assert call.code() == grpc.StatusCode.UNIMPLEMENTED
    assert peak(daemon) < 200 * MB
    serves(daemon)
    ends(daemon)


def test_messages_far_beyond_the_limit_end_their_stream_alone(daemon):
    big = bytes(64 * MB)
    with contextlib.ExitStack() as stack, Raw(daemon.address) as other:
        other.opened(1, "other")
        options = [("grpc.use_local_subchannel_pool", 1)]
        channels = [stack.enter_context(
            grpc.insecure_channel(daemon.address, options=options))
            for _ in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for call in pool.map(lambda c: ingest(c, [big]), channels):
                assert call.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED,
                                       grpc.StatusCode.UNAVAILABLE)
        other.say(steps(1, 1))
        other.acked(1)
    # What gRPC may hold for all, and what the daemon is without it.
    assert peak(daemon) < (512 + 200) * MB
    serves(daemon)
    ends(daemon)


def test_who_reads_no_answers_is_cut(daemon):
    """Each empty message is 5 bytes, and its answer some hundred."""
    with RawH2(daemon.socket, window=0) as silent, Raw(daemon.address) as other:
        other.opened(1, "other")
        for _ in range(600):
            silent.data(silent.open(), bytes(5) * 16000)
            if limit_hits(daemon, "replies") > 3 and not ALL:
                break
        assert limit_hits(daemon, "replies") >= 1
        other.say(steps(1, 1))
        other.acked(1)
        assert peak(daemon) < 250 * MB
        ends(daemon)


def test_what_runs_say_of_themselves_is_bounded(daemon):
    settings = " ".join(f'settings {{ key: "{k:02}{"k" * 500}" '
                        f'value: "{"v" * 1000}" }}' for k in range(64))
    refused = 0
    with Raw(daemon.address) as client:
        for i in range(1, 16384 if ALL else 800):
            client.say(opening(i, f"run-{i}", more=settings))
        while not refused:
            answer = client.answers.get(timeout=30)
            refused += "refusal" in answer
        assert limit_hits(daemon, "user_run_bytes") >= 1
        daemon.nanwatch("runs", "--json")
        get(daemon.http + "/api/v1/runs")
        # Those who say little are taken, and who is there goes on.
        assert peak(daemon) < (2048 if ALL else 700) * MB
        client.say(steps(1, 1))
        client.acked(1)
    ends(daemon)


def test_openings_are_refused_where_memory_ends(folder):
    daemon = Daemon(folder, config="ingest: {memory: 64MiB}\n").start()
    try:
        settings = " ".join(f'settings {{ key: "{k}" value: "{"v" * 1000}" }}'
                            for k in range(10))
        with Raw(daemon.address) as client:
            for i in range(1, 5000):
                client.say(opening(i, f"run-{i}", more=settings))
                if i % 200 == 0 and limit_hits(daemon, "memory"):
                    break
            wait_for("openings are refused",
                     lambda: limit_hits(daemon, "memory") > 0)
            assert refusals(daemon, "busy") > 0
        assert peak(daemon) < 2 * 64 * MB
        assert "run-1" in daemon.nanwatch("runs").stdout
        ends(daemon)
    finally:
        daemon.kill()


def test_steps_that_go_down_make_no_end_of_attempts(daemon):
    with Raw(daemon.address) as client:
        client.opened(1, "down")
        for i in range(1, 2000):
            client.say(steps(1, i, first=5000 - i, n=1))
        client.acked(1999)
        # An attempt of its own, the ones that are kept, and not one more.
        assert counted(daemon, "nanwatch_engine_runs") <= 17
        assert int(summary(daemon, "down")["attempt"]) == 1998
        serves(daemon)
    ends(daemon)


# ------------------------------------------------------------------ sessions

def held_bytes(path):
    """All that a history or an export holds, unpacked."""
    held = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as file:
        for table, in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in file.execute(f"SELECT * FROM {table}"):
                for cell in row:
                    if isinstance(cell, bytes):
                        held += cell
                        with contextlib.suppress(zstandard.ZstdError):
                            held += zstandard.ZstdDecompressor().decompress(
                                cell, max_output_size=64 * MB)
    return held


def test_a_session_s_id_is_in_nothing_that_is_given_out(daemon):
    secret = random.getrandbits(63) | 1 << 62
    name = int.from_bytes(hashlib.sha256(
        secret.to_bytes(8, "little")).digest()[:8], "little")
    export = daemon.folder / "export.db"
    with Raw(daemon.address) as client:
        client.opened(secret, "mine")
        client.say(steps(secret, 1))
        client.acked(1)
        daemon.nanwatch("export", "mine", "--output", str(export))
        for path in ("/api/v1/runs/mine", "/api/v1/runs"):
            said = get(daemon.http + path)
            assert str(secret) not in said and f"{secret:x}" not in said
        with Raw(daemon.address) as thief:
            # What is given out opens a session of its own, never that one.
            opened = thief.opened(name, "mine")
            assert opened.get("attempt") == 1
            assert not int(opened.get("heldSequence", 0))
    # A stream that broke: who has the id goes on.
    with Raw(daemon.address) as client:
        opened = client.opened(secret, "mine")
        assert int(opened.get("heldSequence", 0)) == 1
        assert not opened.get("attempt")
    assert daemon.stop() == 0
    for path in (export, daemon.history):
        held = held_bytes(path)
        assert name.to_bytes(8, "little") in held, "not looked into"
        assert secret.to_bytes(8, "little") not in held, path


def test_what_was_never_held_is_never_acknowledged(daemon):
    with Raw(daemon.address) as client:
        client.say(opening(9, "false").replace(
            "open {", "open { acked_sequence: 1000", 1))
        client.hear("opened")
        client.say(steps(9, 1))
        refusal = client.hear("refusal")
        assert int(refusal["expectedSequence"]) == 1001
        client.say(steps(9, 1001))
        client.acked(1001)
        assert int(summary(daemon, "false")["steps"]) == 10


# ------------------------------------------------------- threads and sockets

@contextlib.contextmanager
def watchers(daemon, run, count, interval_ms=60000):
    request = (b"\n" + bytes([len(run)]) + run.encode() + b"\x18"
               + varint(interval_ms))
    with grpc.insecure_channel(daemon.address) as channel:
        calls = [channel.unary_stream(WATCH)(request) for _ in range(count)]
        yield calls
        for call in calls:
            call.cancel()


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def test_watchers_take_nothing_from_others(daemon):
    with Raw(daemon.address) as client:
        client.opened(1, "watched")
        with watchers(daemon, "watched", 200) as calls:
            outcomes = []
            for call in calls:
                try:
                    next(call)
                    outcomes.append(None)
                except grpc.RpcError as error:
                    outcomes.append(error.code())
            assert outcomes.count(None) == 96
            assert outcomes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) == 104
            for _ in range(3):
                assert "watched" in daemon.nanwatch("runs").stdout
            assert daemon.nanwatch("stop", "watched", "--reason",
                                   "enough").returncode == 0
        # They left: their places are others' at once, not after a minute.
        def all_watch():
            with watchers(daemon, "watched", 96) as calls:
                try:
                    for call in calls:
                        next(call)
                except grpc.RpcError:
                    return False
                return True
        wait_for("places are free again", all_watch, seconds=10, every=0.3)
    ends(daemon)


def test_posts_that_dribble_keep_nobody_waiting(daemon):
    host, port = daemon.http.removeprefix("http://").split(":")
    head = (f"POST /api/v1/runs/x/annotations HTTP/1.1\r\nHost: {host}\r\n"
            "Content-Type: application/json\r\nX-Nanwatch: page\r\n"
            "Content-Length: 8000\r\n\r\n").encode()
    done = threading.Event()

    def dribble():
        while not done.is_set():
            with contextlib.suppress(OSError), socket.create_connection(
                    (host, int(port)), timeout=5) as slow:
                slow.sendall(head)
                for _ in range(8000):
                    slow.send(b"x")
                    if done.wait(0.2):
                        return

    threads = [threading.Thread(target=dribble) for _ in range(120)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)  # until all of them are connected
        for _ in range(10):
            assert get(daemon.http + "/-/healthy", seconds=5)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    ends(daemon)


def cpu_seconds(daemon):
    with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def few_files(folder):
    """A daemon that may open 64 files."""
    daemon = Daemon(folder, config="""
ingest: {tcp: '127.0.0.1:0', tcp_anonymous: true}
""")
    daemon.wrapper = ["bash", "-c", 'ulimit -n 64; exec "$@"', "-"]
    daemon.start()
    daemon.tcp = daemon.log.read_text().split("ingest=")[1].split()[0]
    daemon.tcp = daemon.tcp.split(",")[1]
    yield daemon
    daemon.kill()


@pytest.mark.parametrize("door", ["unix", "tcp", "http"])
def test_where_no_file_may_be_opened_nobody_spins(few_files, door):
    daemon = few_files
    address = {"tcp": daemon.tcp, "http": daemon.http.removeprefix("http://")}
    with contextlib.ExitStack() as stack:
        for _ in range(150):
            if door == "unix":
                one = stack.enter_context(socket.socket(socket.AF_UNIX))
                one.settimeout(1)
                one.connect(str(daemon.socket))
            else:
                host, port = address[door].split(":")
                one = stack.enter_context(socket.create_connection(
                    (host, int(port)), timeout=1))
        time.sleep(1)
        begun = cpu_seconds(daemon)
        time.sleep(3)
        assert cpu_seconds(daemon) - begun < 0.6
        if door == "unix":
            assert "too few files may be open" in daemon.log.read_text()
    wait_for("it serves again",
             lambda: daemon.nanwatch("runs").returncode == 0)
    serves(daemon)
    ends(daemon)
