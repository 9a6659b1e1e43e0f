import os
import pathlib
import sys

import examples

# DeepSpeed builds its op with ninja, which stands beside Python.
LAUNCHER = {
    "DS_ACCELERATOR": "cpu", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29874",
    "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
}


def test_example(daemon, tmp_path):
    it = examples.run(daemon, "deepspeed_loop.py", "deepspeed-example",
                      tmp_path, **LAUNCHER)
    assert it.worst == "" and it.steps == 100, it
