"""Programs of Kubernetes, built on demand (tests/kubernetes/tools), and files of
Go modules."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "deploy/kubernetes"


def has_go(least=(1, 26)):
    try:
        said = subprocess.run(["go", "version"], capture_output=True, text=True)
    except OSError:
        return False
    found = re.search(r"go(\d+)\.(\d+)", said.stdout)
    return found is not None and tuple(map(int, found.groups())) >= least


def tool(name):
    if not has_go():
        pytest.skip("Go 1.26 or newer builds helm and the API server")
    done = subprocess.run([ROOT / "tests/kubernetes/tools", name],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return pathlib.Path(done.stdout.strip()) / name


def module_folder(module):
    """Of a Go module, `path@version`: its files."""
    done = subprocess.run(["go", "mod", "download", "-json", module],
                          capture_output=True, text=True, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr
    return pathlib.Path(json.loads(done.stdout)["Dir"])
