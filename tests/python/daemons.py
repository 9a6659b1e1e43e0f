"""The real daemons of tests/e2e, for the tests of the Python client."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "client_lib" / "python" / "src"
sys.path.insert(0, str(SOURCE))

_spec = importlib.util.spec_from_file_location(
    "nanwatch_e2e", ROOT / "tests" / "e2e" / "conftest.py")
_e2e = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_e2e)

# What a run says of itself is test_first_line's; others want nothing on stderr.
os.environ["NANWATCH_QUIET"] = "1"

ALL = _e2e.ALL
BIN = _e2e.BIN
Daemon = _e2e.Daemon
daemon = _e2e.daemon
folder = _e2e.folder
usual_places = _e2e.usual_places
summary = _e2e.summary
wait_for = _e2e.wait_for


def program(text, *arguments, more=(), **options):
    """A Python program with the package, as a user would start it; `more` is
    put into its environment."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("NANWATCH")},
        "NANWATCH_QUIET": "1",
        "PYTHONPATH": str(SOURCE),
        **dict(more),
    }
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", text,
         *map(str, arguments)], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, **options)


def said_by(text, *arguments, seconds=60, status=0):
    """What a program printed; nothing of it on stderr."""
    return said(program(text, *arguments), seconds, status)


def said(process, seconds=60, status=0):
    """The rest of what a program prints until it ends."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # says where each thread is
        raise AssertionError(f"hangs: {process.communicate()}") from None
    assert process.returncode == status, err
    assert status or err == "", err
    return out
