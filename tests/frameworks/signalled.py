"""A training that a signal ends, in a process of its own."""

import os
import pathlib
import signal
import subprocess
import sys

from verdicts import Verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(daemon, program, name, last):
    """`program` is given its run's name and the step after which it sends
    itself SIGTERM. Returns the verdict and what it wrote to stderr."""
    ended = subprocess.run(
        [sys.executable, "-c", program, name, str(last)], timeout=100,
        env={**os.environ, "NANWATCH_ADDRESS": daemon.address,
             "PYTHONPATH": str(ROOT / "client_lib" / "python" / "src")},
        capture_output=True, text=True)
    assert ended.returncode == -signal.SIGTERM, ended.stderr
    return Verdict(daemon, name), ended.stderr
