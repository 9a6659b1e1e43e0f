"""The wire contract: buf's lint, and nothing broken since the last release."""

import pathlib
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-buf"
VERSION = "1.75.0"


@pytest.fixture(scope="session")
def buf():
    """buf from PyPI in an environment of its own."""
    binary = VENV / "bin" / "buf"
    if not binary.exists():
        venv.create(VENV, with_pip=True)
        subprocess.run(
            [str(VENV / "bin" / "pip"), "install", "-q", f"buf-bin=={VERSION}"],
            check=True, stdout=sys.stderr,
        )
    return str(binary)


def run(buf, *arguments):
    done = subprocess.run(
        [buf, *arguments], cwd=ROOT / "proto", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint(buf):
    run(buf, "lint")


def released():
    return sorted((ROOT / "proto" / "released").glob("*.binpb"))


def test_a_release_is_there_to_compare_with():
    assert released()


def test_nothing_breaks_since_the_last_release(buf):
    run(buf, "breaking", "--against", str(released()[-1]))
