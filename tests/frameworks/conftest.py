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


_TABLE = []


@pytest.fixture
def table():
    """Lines for the end of the output."""
    return _TABLE


def pytest_terminal_summary(terminalreporter):
    if _TABLE:
        terminalreporter.section("faults")
        terminalreporter.write_line(
            f"{'fault':24} {'seed':>4} {'budget':>6} {'size':>12}  "
            f"{'first cause':22} "
            f"{'op':22} {'late':>6}  cause")
        for line in _TABLE:
            terminalreporter.write_line(line)
