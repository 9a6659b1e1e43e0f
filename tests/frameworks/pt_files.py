"""`python -m nanwatch.dumps`, as a user calls it."""

import os
import subprocess
import sys

from daemons import SOURCE


def convert(source, target):
    return subprocess.run(
        [sys.executable, "-m", "nanwatch.dumps", source, target],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(
            [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])})
