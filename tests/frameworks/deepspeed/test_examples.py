import os
import pathlib
import subprocess
import sys

from daemons import SOURCE
from examples import EXAMPLES
from verdicts import Verdict

LAUNCHERS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def test_example(daemon, tmp_path):
    """By plain python, without a launcher."""
    environment = {k: v for k, v in os.environ.items() if k not in LAUNCHERS}
    # DeepSpeed builds its op with ninja, which stands beside Python.
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "deepspeed_loop.py"], cwd=tmp_path,
        capture_output=True, text=True, timeout=180, env={
            **environment, "DS_ACCELERATOR": "cpu", "PATH": path,
            "PYTHONPATH": str(SOURCE), "NANWATCH_ADDRESS": daemon.address})
    assert done.returncode == 0, done.stderr
    it = Verdict(daemon, "deepspeed-example")
    assert it.worst == "" and it.steps == 100, it
