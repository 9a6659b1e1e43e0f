"""The wall clock of the daemon's machine is set while it runs."""

import contextlib
import socket
import time

import pytest

from clock import Clock
from conftest import Daemon, counted, feed, wait_for
from raw_client import Raw, steps

DAY = 86400


class ClockedDaemon(Daemon):
    def __init__(self, folder, **environment):
        clock = Clock(folder)
        self.set = clock.set
        super().__init__(folder, environment={**clock.environment,
                                              **environment})


@pytest.fixture
def clocked(folder):
    daemon = ClockedDaemon(folder).start()
    yield daemon
    daemon.kill()


@contextlib.contextmanager
def many_runs(daemon, n):
    """`n` open runs on one stream, each with a record."""
    with Raw(daemon.address) as client:
        for i in range(1, n + 1):
            client.opened(i, f"run-{i}")
        client.say(*(steps(i, 1) for i in range(1, n + 1)))
        for _ in range(n):
            client.acked(1)
        yield client


def test_forward_by_26_years_costs_nothing_and_is_said(clocked):
    with many_runs(clocked, 100) as client:
        clocked.set(26 * 365 * DAY)
        wait_for("the jump shows",
                 lambda: counted(clocked, "nanwatch_clock_jumps_total") == 1)
        client.say(steps(7, 2, first=100))
        client.acked(2)
        summary = clocked.show("run-7")["summary"]
        assert int(summary["steps"]) == 20
        assert int(summary["ranks_open"]) == 1
        assert not clocked.show("run-7")["incidents"], "silence of a clock"
    assert "clock was set forward" in clocked.log.read_text()
    assert clocked.stop(seconds=5) == 0
    clocked.start()
    assert int(clocked.show("run-7")["summary"]["steps"]) == 20


def test_forward_for_a_moment_is_dropped_by_a_restart(clocked):
    feed(clocked.address, "--steps", "20", "--run", "before")
    clocked.set(2 * DAY)
    wait_for("the jump shows",
             lambda: counted(clocked, "nanwatch_clock_jumps_total") == 1)
    feed(clocked.address, "--steps", "20", "--run", "meanwhile")
    clocked.set(0)
    wait_for("so does the way back",
             lambda: counted(clocked, "nanwatch_clock_jumps_total") == 2)
    ahead = counted(clocked, "nanwatch_clock_ahead_seconds")
    assert 1.9 * DAY < ahead <= 2 * DAY
    assert "clock was set back" in clocked.log.read_text()
    assert clocked.stop() == 0
    clocked.start()
    assert counted(clocked, "nanwatch_clock_ahead_seconds") < 1
    assert "of the future" in clocked.log.read_text()
    feed(clocked.address, "--steps", "20", "--run", "after")
    last = int(clocked.show("after")["summary"]["last_record_us"])
    assert abs(last / 1e6 - time.time()) < 0.5 * DAY
    # And the history with its falling times is read as any other.
    assert clocked.stop() == 0
    clocked.start()
    assert int(clocked.show("meanwhile")["summary"]["steps"]) == 20


def test_systemctl_status_says_that_times_are_ahead(folder):
    path = folder / "notify.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(path))
        receiver.settimeout(10)
        daemon = ClockedDaemon(folder, NOTIFY_SOCKET=str(path)).start()
        try:
            said = ""
            while "STATUS=Judging." not in said:
                said += receiver.recv(4096).decode() + "\n"
            daemon.set(-DAY)
            while "STATUS=The wall clock was set back" not in said:
                said += receiver.recv(4096).decode() + "\n"
        finally:
            daemon.kill()
