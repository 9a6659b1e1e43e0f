"""A history file that is damaged, of a newer version, read-only or on a full
disk: the daemon starts, sets it aside, says what is gone.
"""

import contextlib
import os
import resource
import sqlite3
import subprocess

import pytest
from conftest import Daemon, counted, feed, summary, wait_for


def degraded(daemon):
    return counted(daemon, "nanwatch_history_degraded")


def goes_on(daemon, run, steps=100):
    """Trainings are judged, whatever became of the file."""
    feed(daemon.address, "--run", run, "--steps", str(steps), "--rate", "0")
    assert int(summary(daemon, run)["steps"]) == steps


def set_aside(folder, kind):
    return [p for p in folder.iterdir() if f"history.db.{kind}-" in p.name
            and not p.name.endswith(("-wal", "-shm"))]


def test_a_damaged_history_is_set_aside(folder):
    daemon = Daemon(folder)
    daemon.history.write_bytes(os.urandom(100_000))
    daemon.start()
    try:
        feed(daemon.address, "--steps", "100", "--rate", "0")
        assert int(daemon.show("feed")["summary"]["steps"]) == 100
        kept = list(folder.glob("history.db*"))
        assert any(p.name != "history.db" and "-wal" not in p.name
                   and "-shm" not in p.name for p in kept), kept
        assert "set aside" in daemon.log.read_text()
    finally:
        daemon.kill()


def test_a_cut_history_says_how_much_was_there(folder):
    daemon = Daemon(folder).start()
    feed(daemon.address, "--run", "old", "--steps", "20000", "--rate", "0",
         "--noisy")
    assert daemon.stop() == 0
    whole = daemon.history.stat().st_size
    os.truncate(daemon.history, whole // 2)
    daemon.start()
    try:
        said = daemon.log.read_text()
        assert f"{whole // 2} of its {whole} bytes are there" in said
        # What is cut off may be behind the last event, or in between.
        assert any(words in said for words in (
            "Whatever came after event", "Not one event",
            "before the last of them are gone"))
        goes_on(daemon, "new")
    finally:
        daemon.kill()


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


def test_a_full_disk_hides_no_history_that_is_whole(folder):
    with small_disk(folder / "disk", "4m") as disk:
        daemon = Daemon(folder)
        daemon.history = disk / "history.db"
        daemon.start()
        feed(daemon.address, "--run", "old", "--steps", "500", "--rate", "0")
        assert daemon.stop() == 0
        with open(disk / "filler", "wb", buffering=0) as filler:
            with contextlib.suppress(OSError):
                while filler.write(bytes(4096)):
                    pass
        daemon.start()
        try:
            assert degraded(daemon) == 1
            assert "could not be replayed" not in daemon.log.read_text()
            assert int(summary(daemon, "old")["steps"]) == 500
            # The same job once more is another attempt, not the old one.
            feed(daemon.address, "--run", "old", "--steps", "70", "--rate", "0")
            assert daemon.show("old")["summary"]["attempt"] == 1
            (disk / "filler").unlink()
            wait_for("history is on again", lambda: degraded(daemon) == 0,
                     seconds=60)
            daemon.stop()
            daemon.start()
            before = daemon.show("old", "--attempt", "0")["summary"]
            assert int(before["steps"]) == 500 and before["last_step"] == "499"
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


@pytest.fixture
def not_root(folder):
    """A daemon that modes of files hold for: root may read everything."""
    user = 12345 if os.geteuid() == 0 else None
    daemon = Daemon(folder, user=user)
    if user is not None:
        os.chown(folder, user, user)
    yield daemon
    daemon.kill()


def test_a_history_that_may_not_be_read_at_start_comes_back(not_root):
    daemon = not_root.start()
    goes_on(daemon, "old")
    assert daemon.stop() == 0
    os.chmod(daemon.history, 0)
    daemon.start()
    assert degraded(daemon) == 1
    assert "history is off" in daemon.log.read_text()
    goes_on(daemon, "meanwhile")
    os.chmod(daemon.history, 0o600)
    wait_for("history is on again", lambda: degraded(daemon) == 0, seconds=65,
             instead=daemon.log.read_text)
    assert "history is on again" in daemon.log.read_text()
    assert counted(daemon, "nanwatch_history_lost_events_total") > 0
    goes_on(daemon, "after")
    assert daemon.stop() == 0
    daemon.start()
    assert degraded(daemon) == 0
    for run in ("old", "after"):
        assert int(summary(daemon, run)["steps"]) == 100
    # What was lost is no run that is whole.
    assert "meanwhile" in daemon.nanwatch("runs").stdout


def test_a_deleted_history_says_how_much_is_gone(daemon):
    for run in ("one", "two"):
        goes_on(daemon, run)
    wait_for("all is committed", lambda: counted(
        daemon, "nanwatch_history_queue_bytes") == 0)
    events = counted(daemon, "nanwatch_history_events_total")
    for path in daemon.folder.glob("history.db*"):
        if not path.name.endswith(".lock"):
            path.unlink()
    wait_for("it is noticed",
             lambda: "history is on again" in daemon.log.read_text())
    assert "events of 2 runs" in daemon.log.read_text()
    lost = counted(daemon, "nanwatch_history_lost_events_total")
    # Checkpoints take the place of older ones, so not every event is there.
    assert 0.5 * events <= lost <= events
