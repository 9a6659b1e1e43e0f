"""Jobs of Ray Train on a real Ray of this machine: two workers."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

import examples
import pytest
from daemons import SOURCE, wait_for
from verdicts import Verdict


@pytest.fixture(scope="module")
def ray(daemon):
    """The environment of a job of this Ray. Ray's own processes, which run the
    workers, find the package and the daemon; nobody is told how Ray is used."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE),
                   "NANWATCH_ADDRESS": daemon.address,
                   "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    command = pathlib.Path(sys.executable).parent / "ray"
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        head = subprocess.Popen(
            [command, "start", "--head", "--block", f"--port={port}",
             "--node-ip-address=127.0.0.1", "--num-cpus=2", "--num-gpus=0",
             "--include-dashboard=false", "--disable-usage-stats",
             f"--temp-dir={folder}"],
            env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for("Ray is up", lambda: subprocess.run(
                [command, "health-check", f"--address=127.0.0.1:{port}"],
                env=environment, capture_output=True).returncode == 0, 120)
            yield {"PYTHONPATH": str(SOURCE), "RAY_AUTH_MODE": "disabled",
                   "RAY_ADDRESS": f"127.0.0.1:{port}"}
        finally:
            head.terminate()
            # What it has started ends with it, or at once.
            with contextlib.suppress(subprocess.TimeoutExpired):
                head.wait(60)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(head.pid, signal.SIGKILL)
            head.wait(60)


def verdict(daemon, ray, tmp_path, *arguments):
    done = subprocess.run(
        [sys.executable, examples.EXAMPLES / "ray_train.py", *arguments],
        cwd=tmp_path, env={**os.environ, **ray}, capture_output=True, text=True,
        timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return Verdict(daemon, "ray-example")


def test_workers_are_ranks_of_one_run(daemon, ray, tmp_path):
    it = verdict(daemon, ray, tmp_path)
    assert it.worst == "" and it.steps == 200, it
    assert it.summary["world_size"] == 2
    assert it.summary["end_reason"] == "all ranks closed"


def test_a_nan_is_found_at_its_rank(daemon, ray, tmp_path):
    it = verdict(daemon, ray, tmp_path, "1")
    assert it.worst == "critical" and it.step == 50, it
    assert it.origin["rank"] == 1, it
