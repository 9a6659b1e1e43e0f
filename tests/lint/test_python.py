"""The Python package: types in full (mypy --strict) and style (ruff), by the
versions of tests/frameworks/pins/lint.txt."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "client_lib" / "python"


@pytest.fixture(scope="module")
def tools():
    made = subprocess.run(
        [ROOT / "tests" / "frameworks" / "environment", "lint"],
        capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return pathlib.Path(made.stdout.strip()).parent


@pytest.mark.parametrize("tool, arguments", [
    ("ruff", ["check", "--no-cache", "--quiet"]),
    ("ruff", ["format", "--no-cache", "--quiet", "--check"]),
    ("mypy", ["--no-error-summary"]),
])
def test_package(tools, tool, arguments):
    # Beside the environment, not in the checkout.
    cache = {"MYPY_CACHE_DIR": str(tools.parent / "mypy_cache")}
    done = subprocess.run([tools / tool, *arguments], cwd=PACKAGE,
                          capture_output=True, text=True,
                          env={**os.environ, **cache})
    assert done.returncode == 0, done.stdout + done.stderr
