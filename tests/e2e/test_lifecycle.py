"""Start, stop, reload."""

import os
import signal
import socket
import subprocess
import time

from conftest import BIN, Daemon, feed, get, wait_for


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


def test_a_hup_while_the_flags_are_read_waits(folder):
    """The configuration is a pipe: what has begun waits for its writer."""
    pipe = folder / "nanwatch.yaml"
    os.mkfifo(pipe)
    process = subprocess.Popen([str(BIN / "nanwatchd"), "--check-config",
                                "--config", str(pipe)])
    try:
        # Opens when its reader has come, which is past the loading of libraries.
        with open(pipe, "w") as writer:
            process.send_signal(signal.SIGHUP)
            writer.write("log: {}\n")
        assert process.wait(10) == 0
    finally:
        process.kill()


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


def test_health_over_http(daemon):
    assert get(daemon.http + "/-/healthy")
    assert get(daemon.http + "/-/ready")
