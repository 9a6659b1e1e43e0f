"""Hands on the history while nanwatchd writes it, disks that fill, retention:
the daemon goes on, says what is gone, and comes back."""

import contextlib
import json
import os
import random
import re
import resource
import sqlite3
import subprocess
import time

import pytest
from conftest import Daemon, counted, feed, wait_for


def part(daemon, suffix):
    return daemon.history.with_name(daemon.history.name + suffix)


def remove(*suffixes):
    def do(daemon):
        for suffix in suffixes:
            part(daemon, suffix).unlink()

    return do


def cut(suffix, size):
    return lambda daemon: os.truncate(part(daemon, suffix), size)


def restore_an_empty_file(daemon):
    other = part(daemon, ".new")
    other.write_bytes(b"")
    other.rename(daemon.history)


@pytest.fixture
def live(folder):
    """A daemon, and a training of 5 s that it judges."""
    daemon = Daemon(folder).start()
    feeder = feed(daemon.address, "--run", "live", "--steps", "2500", "--rate",
                  "500", wait=False)
    try:
        wait_for("steps are judged", lambda: steps_of(daemon) > 200)
        yield daemon, feeder
    finally:
        feeder.kill()
        daemon.kill()


def steps_of(daemon):
    shown = daemon.nanwatch("show", "live", "--json", check=False)
    if shown.returncode != 0:
        return 0
    return int(json.loads(shown.stdout)["summary"].get("steps", 0))


def told_at_the_end(feeder):
    out, _ = feeder.communicate(timeout=60)
    told = json.loads(out)
    assert told["flushed"] and told["dropped"] == 0, told
    assert told["acked"] == told["pushed"] == 2500
    return told


def degraded(daemon):
    return daemon.metric("nanwatch_history_degraded") == 1


@pytest.mark.parametrize("hands, said", [
    (remove("", "-wal", "-shm"), "was removed while"),
    (remove(""), "was removed while"),
    (remove("-wal"), "-wal was removed while"),
    (remove("-shm"), "-shm was removed while"),
    (restore_an_empty_file, "was replaced while"),
    (cut("", 0), "was cut while"),
    (cut("-wal", 1000), "-wal was cut while"),
], ids=["removed", "database_removed", "log_removed", "memory_removed",
        "replaced", "emptied", "log_cut"])
def test_hands_on_a_live_history(live, hands, said):
    daemon, feeder = live
    hands(daemon)
    wait_for("it is said", lambda: said in daemon.log.read_text())
    told_at_the_end(feeder)
    wait_for("history is on", lambda: not degraded(daemon))
    assert daemon.process.poll() is None
    # Judged all, and still so after a crash: the file that was begun got the
    # run's state first.
    assert steps_of(daemon) == 2500
    daemon.kill()
    daemon.start()
    assert steps_of(daemon) == 2500


def test_shared_memory_cut_costs_nothing_that_was_acknowledged(live):
    """SQLite maps the -shm file: cut by another program, the next access is a
    SIGBUS, which nobody can take back. The service manager starts the daemon
    again (deploy/nanwatchd.service), and the log has everything."""
    daemon, feeder = live
    os.truncate(part(daemon, "-shm"), 0)
    end = time.monotonic() + 3
    while time.monotonic() < end and daemon.process.poll() is None:
        time.sleep(0.05)
    if daemon.process.poll() is not None:
        daemon.start()
    told_at_the_end(feeder)
    assert steps_of(daemon) == 2500
    daemon.kill()
    daemon.start()
    assert steps_of(daemon) == 2500


def test_pages_overwritten_are_found_and_said(live):
    daemon, feeder = live
    told_at_the_end(feeder)
    daemon.stop()
    daemon.start()
    noise = random.Random(1).randbytes
    with open(daemon.history, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        for at in range(4096, size, 8192):
            file.seek(at)
            file.write(noise(4096))
    feed(daemon.address, "--run", "after", "--steps", "500", "--rate", "0")
    assert daemon.process.poll() is None
    daemon.kill()
    daemon.start()
    assert "could be read back" in daemon.log.read_text() \
        or "set aside" in daemon.log.read_text()
    feed(daemon.address, "--run", "again", "--steps", "500", "--rate", "0")
    assert int(daemon.show("again")["summary"]["steps"]) == 500


def expect_back_with_the_state(daemon, feeder):
    """History is on again; the training was told what was not kept; a crash
    costs nothing of what was judged."""
    wait_for("history is on again", lambda: not degraded(daemon), seconds=40)
    assert "history is on again" in daemon.log.read_text()
    assert daemon.metric("nanwatch_history_lost_events_total") > 0
    told = told_at_the_end(feeder)
    assert 0 < told["not_durable"] < 2500, told
    assert steps_of(daemon) == 2500
    daemon.kill()
    daemon.start()
    assert steps_of(daemon) == 2500


def test_a_file_that_may_not_grow(live):
    daemon, feeder = live
    log = part(daemon, "-wal").stat().st_size
    hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (log, hard))
    wait_for("it is off, and said", lambda: degraded(daemon))
    assert "history is off" in daemon.log.read_text()
    assert daemon.process.poll() is None
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    expect_back_with_the_state(daemon, feeder)


@pytest.fixture
def disk(folder):
    """A file system of its own, of 1 MB."""
    path = folder / "disk"
    path.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs",
                           str(path)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("needs the right to mount")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def remount(disk, option):
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def test_a_full_disk(folder, disk):
    daemon = Daemon(folder)
    daemon.history = disk / "history.db"
    daemon.start()
    try:
        feeder = feed(daemon.address, "--run", "live", "--steps", "2500",
                      "--rate", "500", wait=False)
        wait_for("steps are judged", lambda: steps_of(daemon) > 50)
        fill(disk)
        wait_for("it is off, and said", lambda: degraded(daemon))
        remount(disk, "size=64m")
        expect_back_with_the_state(daemon, feeder)
    finally:
        daemon.kill()


def test_a_run_that_ends_on_a_full_disk(folder, disk):
    """Its end was judged and never stored: a restart must neither wait for it
    nor say that it broke off, and what the file lacks is said."""
    daemon = Daemon(folder)
    daemon.history = disk / "history.db"
    daemon.start()
    try:
        feeder = feed(daemon.address, "--run", "live", "--steps", "2500",
                      "--rate", "1000", wait=False)
        wait_for("steps are judged", lambda: steps_of(daemon) > 50)
        fill(disk)
        wait_for("it is off, and said", lambda: degraded(daemon))
        told_at_the_end(feeder)
        wait_for("it has ended", lambda: state_of(daemon) == "closed")
        remount(disk, "size=64m")
        wait_for("history is on again", lambda: not degraded(daemon),
                 seconds=40)
        lacks = "step records of live attempt 0 (steps "
        wait_for("it is said", lambda: lacks in daemon.log.read_text())
        wait_for("its checkpoint is kept",
                 lambda: checkpoints_after_gaps(daemon) > 0)
        daemon.kill()
        daemon.start()
        assert steps_of(daemon) == 2500
        assert state_of(daemon) == "closed"
        daemon.kill()
        done = daemon.nanwatch("replay", str(daemon.history), check=False)
        assert "never stored" in done.stdout and lacks in done.stdout
    finally:
        daemon.kill()


def state_of(daemon):
    return daemon.show("live")["summary"]["state"].split("_")[-1].lower()


def checkpoints_after_gaps(daemon):
    """A disk that is full for one commit may have room for a smaller one, so
    that there may be several gaps."""
    with contextlib.closing(sqlite3.connect(daemon.history)) as file:
        return file.execute(
            "SELECT count(*) FROM events WHERE kind = 12 AND first_id > "
            "(SELECT max(last_id) FROM gaps)").fetchone()[0]


def test_a_file_that_is_set_aside_is_counted(folder):
    daemon = Daemon(folder).start()
    aside = "nanwatch_history_set_aside_total"
    try:
        assert daemon.metric(aside) == 0
        feed(daemon.address, "--run", "live", "--steps", "20000", "--rate", "0")
        assert daemon.stop() == 0
        with open(daemon.history, "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(size * 3 // 4 // 4096 * 4096)
            file.write(b"\xa5" * 8192)
        daemon.start()
        assert counted(daemon, aside, reason="damaged") == 1
        said = re.search(
            r"could be read back, (\d+) events? before the last of them",
            daemon.log.read_text())
        assert daemon.metric("nanwatch_history_lost_events_total") == int(said[1])
        assert daemon.stop() == 0
        with contextlib.closing(sqlite3.connect(daemon.history)) as file:
            file.execute("PRAGMA user_version = 99")
        daemon.start()
        assert counted(daemon, aside, reason="newer") == 1
        assert counted(daemon, aside, reason="damaged") == 0
        assert daemon.metric("nanwatch_history_lost_events_total") == 0
    finally:
        daemon.kill()


def test_a_damaged_blob_is_said_at_the_start(folder):
    """SQLite finds nothing wrong with such a file."""
    daemon = Daemon(folder).start()
    try:
        feed(daemon.address, "--run", "live", "--steps", "20000", "--rate", "0")
        assert daemon.stop() == 0
        with contextlib.closing(sqlite3.connect(daemon.history)) as file:
            row, events = file.execute(
                "SELECT first_id, count FROM events WHERE kind = 5 "
                "ORDER BY first_id").fetchone()
            file.execute("UPDATE events SET body = randomblob(length(body)) "
                         "WHERE first_id = ?", (row,))
            file.commit()
        daemon.start()
        assert re.search(rf"damaged events were passed over.* events={events}\b",
                         daemon.log.read_text())
        assert daemon.metric("nanwatch_history_lost_events_total") == events
        assert 0 < steps_of(daemon) < 20000
    finally:
        daemon.kill()


def fill(disk):
    """Every block that is left."""
    with open(disk / "other", "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                pass


def test_a_read_only_disk(folder, disk):
    daemon = Daemon(folder)
    daemon.history = disk / "history.db"
    daemon.start()
    feed(daemon.address, "--run", "before", "--steps", "100", "--rate", "0")
    daemon.stop()
    remount(disk, "ro")
    daemon.start()
    try:
        assert degraded(daemon)
        assert "history is off" in daemon.log.read_text()
        told = feed(daemon.address, "--run", "live", "--steps", "100", "--rate",
                    "0")
        assert told["not_durable"] == told["acked"] == 100
        assert steps_of(daemon) == 100
        remount(disk, "rw,size=64m")
        wait_for("history is on again", lambda: not degraded(daemon),
                 seconds=40)
        told = feed(daemon.address, "--run", "after", "--steps", "100",
                    "--rate", "0")
        assert told["not_durable"] == 0
        assert int(daemon.show("before")["summary"]["steps"]) == 100
    finally:
        daemon.kill()


def test_retention_while_a_run_lives(folder):
    daemon = Daemon(folder, config="history: {keep_bytes: 16MiB}\n").start()
    try:
        feeder = feed(daemon.address, "--run", "live", "--steps", "1300000",
                      "--rate", "0", "--in-flight", "10000", "--noisy",
                      wait=False)
        removed = "nanwatch_history_removed_events_total"
        wait_for("old batches go while it lives",
                 lambda: daemon.metric(removed) > 0 or feeder.poll() is not None,
                 seconds=300)
        assert daemon.metric(removed) > 0
        told = json.loads(feeder.communicate(timeout=300)[0])
        assert told["flushed"] and told["dropped"] == 0, told
        assert steps_of(daemon) == told["acked"]
        daemon.kill()
        daemon.start()
        assert steps_of(daemon) == told["acked"]
        # The log comes on top, small as the bound is.
        assert part(daemon, "").stat().st_size < 32 << 20
        assert part(daemon, "-wal").stat().st_size < 8 << 20
        # Before and after an export, which numbers what is left from 0 again.
        export = folder / "live.exp"
        daemon.nanwatch("export", "live", "-o", str(export))
        daemon.kill()
        for file in (daemon.history, export):
            done = daemon.nanwatch("replay", str(file), check=False)
            assert "Not all records of live attempt 0" in done.stdout, file
            assert done.returncode == 0, (file, done.stdout)
    finally:
        daemon.kill()
