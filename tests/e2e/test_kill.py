"""kill -9 at random moments while two users report: nothing acknowledged is lost,
nothing doubled."""

import json
import os
import random
import subprocess
import time

from conftest import ALL, BIN, Daemon, wait_for
from test_owners import ANN, BOB, as_user, why_not

KILLS = int(os.environ.get("NANWATCH_KILLS", 20 if ALL else 8))
RANKS = 2


def begin(daemon, user, steps):
    """A training of the user's, where this is root; else of whoever this is."""
    return subprocess.Popen(
        [str(BIN / "nanwatch-feed"), "--address", daemon.address, "--run",
         f"of-{user}", "--steps", str(steps), "--rate", "500", "--ranks",
         str(RANKS), "--flush-ms", "60000"], stdout=subprocess.PIPE, text=True,
        **({} if why_not() else as_user(user)))


def test_nothing_is_lost_or_doubled(folder):
    seed = int(os.environ.get("NANWATCH_SEED", time.time_ns() % 100000))
    print(f"seed {seed} (NANWATCH_SEED)")
    chance = random.Random(seed)
    folder.chmod(0o711)
    daemon = Daemon(folder, config='ingest: {socket_mode: "0666"}\n').start()
    try:
        steps = 300 * KILLS
        feeders = {user: begin(daemon, user, steps) for user in (ANN, BOB)}
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.4))
            daemon.kill()
            daemon.start()
        for user, feeder in feeders.items():
            out, _ = feeder.communicate(timeout=steps / 500 + 90)
            told = json.loads(out)
            assert told["flushed"] and told["dropped"] == 0, told
            assert told["acked"] == RANKS * steps

            def complete():
                summary = daemon.show(f"of-{user}")["summary"]
                return (summary if int(summary["steps"]) >= RANKS * steps
                        else None)

            summary = wait_for("all steps are there", complete)
            assert int(summary["steps"]) == RANKS * steps
            assert int(summary.get("attempt", 0)) == 0
            if not why_not():
                assert summary["owner"] == user
    finally:
        daemon.kill()
