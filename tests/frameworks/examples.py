"""The examples, as a person would start them, beside a real daemon."""

import os
import subprocess
import sys

from children import Child
from daemons import ROOT, SOURCE
from verdicts import Verdict

EXAMPLES = ROOT / "client_lib" / "python" / "examples"


def run(daemon, script, name, tmp_path, *arguments, **environment):
    """The verdict on a script's run."""
    Child(EXAMPLES / script, *arguments, folder=tmp_path,
          NANWATCH_ADDRESS=daemon.address, **environment).wait(180)
    return Verdict(daemon, name)


ON_A_CPU = """
import importlib, runpy, sys
import pytest
module, function = sys.argv[1:3]
getattr(importlib.import_module(module), function)(pytest.MonkeyPatch())
runpy.run_path(sys.argv[3], run_name="__main__")
"""


def run_on_a_cpu(daemon, script, name, tmp_path, tests, function):
    """Likewise of a script for a GPU. Its library is told, by a function of
    the file `tests`, that a CPU is one, as in the other tests there."""
    folders = [str(SOURCE), str(tests.parent), str(tests.parents[1]), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", ON_A_CPU, tests.stem, function,
         EXAMPLES / script], cwd=tmp_path, capture_output=True, text=True,
        timeout=180, env={
            **os.environ, "PYTHONPATH": os.pathsep.join(folders),
            "NANWATCH_ADDRESS": daemon.address})
    assert done.returncode == 0, done.stderr
    return Verdict(daemon, name)
