"""One user floods: how long the records of another one take until they are on
disk, in turns with and without the flood. Two accounts on one socket; as root."""

import contextlib
import os
import pathlib
import pwd
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import conftest  # noqa: E402
import raw_client  # noqa: E402

FLOODER, OTHER = "games", "nobody"  # accounts of every Debian
CONFIG = 'ingest: {socket_mode: "0666"}\n'


def as_user(name):
    account = pwd.getpwnam(name)
    return {"user": account.pw_uid, "group": account.pw_gid,
            "extra_groups": [], "cwd": "/"}


@contextlib.contextmanager
def flood(daemon, connections=4, rows=1000):
    """Batches as fast as they are taken, 4,000 of a connection on their way."""
    process = subprocess.Popen(
        [str(conftest.BIN / "nanwatch-bench-load"), "--address", daemon.address,
         "--connections", str(connections), "--rows", str(rows),
         "--batches", "10000000", "--window", "4000"],
        stdout=subprocess.DEVNULL, **as_user(FLOODER))
    time.sleep(1)  # until its backlog stands
    try:
        yield process
        if process.poll() is not None:
            raise RuntimeError("the flood ended")
    finally:
        process.kill()
        process.wait()


class Other:
    """The user who sends a record now and then."""

    def __init__(self, daemon):
        self.client = raw_client.Raw(daemon.address, **as_user(OTHER))
        self.client.opened(1, "other")
        self.sequence = 0

    def milliseconds(self, records):
        """Of each record until it is acknowledged as durable."""
        taken = []
        for _ in range(records):
            self.sequence += 1
            begun = time.monotonic()
            self.client.say(raw_client.steps(1, self.sequence, self.sequence, 1))
            while True:
                ack = self.client.hear("ack", 60)
                if int(ack["sequence"]) >= self.sequence:
                    break
            taken.append(1000 * (time.monotonic() - begun))
            if not ack.get("durable"):
                raise RuntimeError("not on disk")
            time.sleep(0.005)
        return taken


def p99(values):
    return sorted(values)[len(values) * 99 // 100]


def in_turns(folder, turns=5, records=60):
    """(alone, beside the flood): the milliseconds of all turns."""
    folder = pathlib.Path(folder)
    folder.chmod(0o711)
    daemon = conftest.Daemon(folder, config=CONFIG).start()
    try:
        other = Other(daemon)
        other.milliseconds(20)
        alone, beside = [], []
        for _ in range(turns):
            alone += other.milliseconds(records)
            with flood(daemon):
                beside += other.milliseconds(records)
            # The flood's rest is judged and written.
            conftest.wait_for("quiet", lambda: daemon.metric(
                "nanwatch_mailbox_length") == 0, seconds=60)
        other.client.process.kill()
        return alone, beside
    finally:
        daemon.kill()


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("only root can speak as several users")
    with tempfile.TemporaryDirectory(prefix="nwb-") as name:
        one, two = in_turns(name)
        for what, ms in (("alone", one), ("beside a flood", two)):
            print(f"{what}: p50 {sorted(ms)[len(ms) // 2]:.1f} ms, p99 "
                  f"{p99(ms):.1f} ms, most {max(ms):.1f} ms")
        print(f"p99 ratio {p99(two) / p99(one):.2f}")
