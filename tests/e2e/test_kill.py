"""kill -9 at random moments: nothing acknowledged is lost, nothing doubled."""

import json
import os
import random
import time

from conftest import ALL, Daemon, feed, wait_for

KILLS = 100 if ALL else 20


def test_nothing_is_lost_or_doubled(folder):
    seed = int(os.environ.get("NANWATCH_SEED", time.time_ns() % 100000))
    print(f"seed {seed} (NANWATCH_SEED)")
    chance = random.Random(seed)
    daemon = Daemon(folder).start()
    try:
        steps = 600 * KILLS
        feeder = feed(daemon.address, "--run", "killed", "--steps", str(steps),
                      "--rate", "1000", "--ranks", "2", "--flush-ms", "60000",
                      wait=False)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.4))
            daemon.kill()
            daemon.start()
        out, _ = feeder.communicate(timeout=steps / 1000 + 90)
        told = json.loads(out)
        assert told["flushed"] and told["dropped"] == 0, told
        assert told["acked"] == 2 * steps

        def complete():
            summary = daemon.show("killed")["summary"]
            return summary if int(summary["steps"]) >= 2 * steps else None

        summary = wait_for("all steps are there", complete)
        assert int(summary["steps"]) == 2 * steps
        assert int(summary.get("attempt", 0)) == 0
    finally:
        daemon.kill()
