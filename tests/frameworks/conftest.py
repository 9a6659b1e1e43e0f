"""One daemon for the tests of a file: each has a run of its own."""

import os
import pathlib
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

from daemons import Daemon  # noqa: E402

# What launchers would leave, and a training of the tests is none of it.
for name in list(os.environ):
    if name.startswith(("NANWATCH_RUN", "NANWATCH_ADDRESS", "SLURM_", "OMPI_")):
        del os.environ[name]


@pytest.fixture(scope="module")
def daemon():
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        it = Daemon(folder).start()
        try:
            yield it
        finally:
            it.kill()


@pytest.fixture
def name(request):
    """A run id, of the test's own name."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)


def pytest_terminal_summary(terminalreporter):
    lines = [
        line
        for kind in ("passed", "failed")
        for report in terminalreporter.getreports(kind)
        if report.when == "call"
        for name, line in report.user_properties if name == "fault"
    ]
    if lines:
        terminalreporter.section("faults")
        terminalreporter.write_line(
            f"{'fault':24} {'seed':>4} {'budget':>6} {'size':>12}  "
            f"{'first cause':22} "
            f"{'op':22} {'late':>6}  cause")
        for line in lines:
            terminalreporter.write_line(line)
