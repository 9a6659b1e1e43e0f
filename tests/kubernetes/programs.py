"""Programs of Kubernetes, built on demand (tests/kubernetes/tools), and files of
Go modules."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "deploy/kubernetes"


def tool(name):
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
