"""The examples, as a person would start them, beside a real daemon."""

import os
import subprocess
import sys

from daemons import ROOT, SOURCE
from verdicts import Verdict

EXAMPLES = ROOT / "client_lib" / "python" / "examples"


def run(daemon, script, name, tmp_path, **environment):
    """The verdict on a script's run."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / script], cwd=tmp_path, text=True,
        capture_output=True, timeout=180,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1",
             "NANWATCH_ADDRESS": daemon.address, **environment})
    assert done.returncode == 0, done.stderr
    return Verdict(daemon, name)
