"""Start, stop, reload, and what may be wrong with what the daemon is given."""

import os
import signal
import socket
import subprocess
import time

import pytest
from conftest import BIN, Daemon, feed, get, wait_for


def refused(folder, *arguments, config=None):
    """The sentence with which the daemon refuses to start."""
    it = Daemon(folder, config=config)
    it.start(wait=False, extra=arguments)
    assert it.process.wait(10) != 0
    return it.log.read_text()


def test_term_drains_and_ends_in_five_seconds(daemon):
    feed(daemon.address, "--steps", "2000", "--rate", "0", "--run", "drained")
    begun = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - begun < 5
    daemon.start()
    assert int(daemon.show("drained")["summary"]["steps"]) == 2000


def test_hup_reloads_rules_and_keeps_the_old_ones_on_an_error(folder):
    daemon = Daemon(folder, config="rules: {}\n").start()
    try:
        ok = "nanwatch_config_last_reload_successful"
        assert daemon.metric(ok) == 1
        daemon.config.write_text("rules:\n  no_such_rule: {enabled: false}\n")
        daemon.process.send_signal(signal.SIGHUP)
        wait_for("the failed reload shows", lambda: daemon.metric(ok) == 0)
        assert "no_such_rule" in daemon.log.read_text()
        daemon.config.write_text("rules:\n  scale_collapse: {enabled: false}\n")
        daemon.process.send_signal(signal.SIGHUP)
        wait_for("the good reload shows", lambda: daemon.metric(ok) == 1)
        feed(daemon.address, "--steps", "10")
        assert daemon.process.poll() is None
    finally:
        daemon.kill()


def test_readiness_and_watchdog(folder):
    path = folder / "notify.sock"
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(str(path))
    receiver.settimeout(10)
    daemon = Daemon(folder, environment={
        "NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "400000"})
    daemon.start()
    try:
        said = ""
        while "WATCHDOG=1" not in said:
            said += receiver.recv(4096).decode() + "\n"
        assert "READY=1" in said
        daemon.process.send_signal(signal.SIGTERM)
        while "STOPPING=1" not in said:
            said += receiver.recv(4096).decode() + "\n"
    finally:
        daemon.kill()
        receiver.close()


def test_all_errors_of_a_configuration_at_once_with_lines(folder):
    said = refused(folder, config="""\
rulez: {}
history:
  keep_for: -3s
rules:
  scale_collapse:
    warning_ratio: banana
""")
    assert "1" in said and "rulez" in said
    assert "keep_for" in said and "warning_ratio" in said
    checked = subprocess.run(
        [str(BIN / "nanwatchd"), "--check-config", "--config",
         str(folder / "nanwatch.yaml")], capture_output=True, text=True)
    assert checked.returncode != 0
    assert "rulez" in checked.stdout + checked.stderr


def test_a_second_daemon_on_the_same_socket_is_refused(daemon, folder):
    other = folder / "other"
    other.mkdir()
    said = refused(other, "--socket", str(daemon.socket))
    assert str(daemon.socket) in said
    feed(daemon.address, "--steps", "10")


def test_a_stale_socket_is_replaced(folder):
    daemon = Daemon(folder).start()
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()
    daemon.kill()


@pytest.mark.parametrize("path, word", [
    ("x" * 200, "107"),
    ("file", "socket"),
])
def test_socket_paths_that_cannot_be(folder, path, word):
    (folder / "file").write_text("not a socket")
    assert word in refused(folder, "--socket", str(folder / path))
    assert (folder / "file").read_text() == "not a socket"


def test_a_port_in_use(daemon, folder):
    other = folder / "other"
    other.mkdir()
    address = daemon.http.removeprefix("http://")
    assert address in refused(other, "--listen", address)


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


def test_a_clock_three_hours_off_changes_nothing(daemon):
    feed(daemon.address, "--steps", "200", "--rate", "0", "--skew-s", "10800",
         "--run", "ahead")
    feed(daemon.address, "--steps", "200", "--rate", "0", "--run", "right")
    for run in ("ahead", "right"):
        last = int(daemon.show(run)["summary"]["last_record_us"]) / 1e6
        assert abs(last - time.time()) < 60


def test_health_over_http(daemon):
    assert get(daemon.http + "/-/healthy")
    assert get(daemon.http + "/-/ready")
