#!/usr/bin/env python3
"""record.py OUT [STEPS]: trains on 8 ranks with PyTorch, whose daemon is a relay,
and writes what the relay said to its upstream into OUT, packed with zstd."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import relays  # noqa: E402
from conftest import Daemon  # noqa: E402

from recorder import Recorder  # noqa: E402

RANKS = 8
SECONDS_A_STEP = 0.5


def train(address, steps):
    python = subprocess.run([str(ROOT / "tests/frameworks/environment"), "torch"],
                            check=True, stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    children = [subprocess.Popen(
        [python, "-W", "ignore", str(HERE / "training.py"), address, "recorded",
         str(steps), str(SECONDS_A_STEP)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "client_lib/python/src"),
             "RANK": str(rank), "LOCAL_RANK": str(rank),
             "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": port, "OMP_NUM_THREADS": "1"})
        for rank in range(RANKS)]
    if any([child.wait() for child in children]):
        sys.exit("record: the training failed")


def main(out, steps=200):
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        folder = pathlib.Path(name)
        up = Daemon(folder)
        up.start()
        recorder = Recorder(folder / "said", up.address)
        relay = relays.relay(folder, "relay",
                             f"127.0.0.1:{recorder.port}").start()
        try:
            train(relay.address, steps)
            relays.forwarded(relay)
            print(relays.totals(up, "recorded"))
        finally:
            relay.stop()
            recorder.close()
            up.kill()
        said = (folder / "said").read_bytes()
    packed = zstandard.ZstdCompressor(level=19).compress(said)
    pathlib.Path(out).write_bytes(packed)
    print(f"{len(said)} bytes, {len(packed)} packed")


if __name__ == "__main__":
    main(*sys.argv[1:])
