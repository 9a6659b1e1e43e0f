"""Several ranks of a program, with what a launcher would put into their
environment."""

import json
import os
import socket
import subprocess
import sys

from daemons import SOURCE


def ranks_say(script, *arguments, ranks=2, **more):
    """What each of them prints in its last line."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script), *arguments],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "RANK": str(rank),
                 "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks),
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                 "OMP_NUM_THREADS": "1", **more})
        for rank in range(ranks)]
    try:
        said = [child.communicate(timeout=120) for child in children]
    finally:
        for child in children:
            child.kill()
    for child, (_, errors) in zip(children, said):
        assert child.returncode == 0, errors
    return [json.loads(out.splitlines()[-1]) for out, _ in said]
