"""Under attack by one user another one is served, memory stays below 2 GB, and the
daemon ends when it is told to. Here each attack is short; under --all each
lasts a minute, and ATTACKS.md is what that said."""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import pytest

from attacks import ATTACKS
from conftest import ALL, BIN, counted, get, summary, wait_for
from raw_client import Raw, opening, steps
from test_owners import ANN, BOB, as_user, why_not
from tls_site import Site

SECONDS = float(os.environ.get("NANWATCH_ATTACK_S", 60 if ALL else 2))
MEMORY = 2e9
TERM_SECONDS = 5
# A file to which each attack's figures are added, as a row of a table.
TABLE = os.environ.get("NANWATCH_ATTACK_TABLE")


@pytest.fixture
def site(folder):
    why = why_not()
    if why:
        pytest.skip(why)
    folder.chmod(0o711)
    it = Site(folder)
    text = it.daemon.config.read_text()
    it.daemon.config.write_text(
        text.replace("ingest:", 'ingest:\n  socket_mode: "0666"', 1))
    it.start()
    yield it
    it.daemon.kill()


class Memory:
    """The most that was resident while it was looked at, in bytes."""

    def __init__(self, daemon):
        self.most = 0
        self.status = pathlib.Path(f"/proc/{daemon.process.pid}/status")
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self):
        while not self.over.wait(0.05):
            try:
                text = self.status.read_text()
            except (FileNotFoundError, ProcessLookupError):
                return  # it has ended
            for line in text.splitlines():
                if line.startswith("VmRSS"):
                    self.most = max(self.most, int(line.split()[1]) << 10)

    def stop(self):
        self.over.set()
        self.thread.join()
        return self.most


class Other:
    """The user who is served: records until they are durable, and questions."""

    SESSION = 1 << 60

    def __init__(self, daemon):
        self.daemon = daemon
        self.sequence = 0
        self.slowest = 0.0
        self.comebacks = -1
        self.come()

    def come(self):
        """As every client does where a stream ends."""
        self.client = Raw(self.daemon.address, **as_user(BOB))
        self.client.say(opening(self.SESSION, "other"))
        self.comebacks += 1

    def serve_once(self):
        """Sends a record, again and again if need be, until it is on disk."""
        self.sequence += 1
        begun = time.monotonic()
        record = steps(self.SESSION, self.sequence, self.sequence, 1)
        self.client.say(record)
        while True:
            assert time.monotonic() - begun < 60, "not served"
            try:
                answer = self.client.answers.get(timeout=1)
            except queue.Empty:
                # Where the stream is over that is noticed by who writes.
                with contextlib.suppress(OSError):
                    self.client.say(record)
                continue
            if "status" in answer:
                self.come()
                self.client.say(record)
            ack = answer.get("ack", {})
            if int(ack.get("sequence", 0)) >= self.sequence:
                break
        assert ack.get("durable"), ack
        self.slowest = max(self.slowest, time.monotonic() - begun)

    def ask(self):
        done = subprocess.run(
            [str(BIN / "nanwatch"), "--address", self.daemon.address, "runs"],
            capture_output=True, text=True, timeout=60, **as_user(BOB))
        assert done.returncode in (0, 1, 2), done.stderr
        assert get(self.daemon.http + "/-/healthy", seconds=30)


@pytest.mark.parametrize("name", list(ATTACKS))
def test_others_are_served(site, name):
    daemon = site.daemon
    memory = Memory(daemon)
    other = Other(daemon)
    other.serve_once()
    attack = subprocess.Popen(
        [sys.executable, str(pathlib.Path(__file__).with_name("attacks.py")),
         name, str(daemon.socket), daemon.http, site.port, str(SECONDS)],
        stdout=subprocess.PIPE, text=True,
        **{**as_user(ANN), "cwd": "/"})
    try:
        end = time.monotonic() + SECONDS * 0.9
        turns = 0
        while time.monotonic() < end:
            other.serve_once()
            if turns % 20 == 0:
                other.ask()
            turns += 1
            time.sleep(0.05)
        begun = time.monotonic()
        # In the midst of it.
        assert daemon.stop(seconds=TERM_SECONDS) == 0
        ended = time.monotonic() - begun
    finally:
        most = memory.stop()
        attack.terminate() if attack.poll() is None and turns == 0 else None
        said, _ = attack.communicate(timeout=SECONDS + 60)
        other.client.process.kill()
    attempts = json.loads(said)["attempts"]
    print(f"{name}: {attempts} attempts, {most / 1e6:.0f} MB, slowest "
          f"{other.slowest:.2f} s, came back {other.comebacks} times, "
          f"TERM {ended:.2f} s")
    if TABLE:
        with open(TABLE, "a") as table:
            table.write(f"| {name} | {attempts:,} | {most / 1e6:,.0f} MB | "
                        f"{turns} | {other.slowest * 1000:,.0f} ms | "
                        f"{other.comebacks} | "
                        f"{ended:.1f} s |\n")
    assert attempts > 0, "nothing came through"
    assert most < MEMORY
    # All of the other's is there.
    daemon.start()
    assert int(summary(daemon, "other")["steps"]) == other.sequence
