"""A daemon that hangs (SIGSTOP): the training does not notice, and when it goes
on everything has arrived once or is counted as dropped."""

import json
import os
import signal
import time

import pytest
from conftest import ALL, Daemon, feed, summary, wait_for

# A hung daemon that is waited for would hold a push for this long.
HUNG_SECONDS = 2.0


@pytest.fixture
def stopped():
    """Hangs a daemon, and lets it go on in the end, whatever happens."""
    hung = []

    def stop(daemon):
        os.kill(daemon.process.pid, signal.SIGSTOP)
        hung.append(daemon)

    yield stop
    for daemon in hung:
        go_on(daemon)


def go_on(daemon):
    if daemon.process.poll() is None:
        os.kill(daemon.process.pid, signal.SIGCONT)


def told_by(feeder, seconds=60):
    out, _ = feeder.communicate(timeout=seconds)
    return json.loads(out)


def never_blocked(told):
    assert told["slowest_push_us"] < HUNG_SECONDS / 4 * 1e6, told


def arrived(daemon, run, told):
    """Each acknowledged step once, each dropped one counted."""
    def all_there():
        shown = summary(daemon, run)
        return shown if int(shown["steps"]) >= told["acked"] else None
    shown = wait_for("what was acknowledged is there", all_there)
    assert int(shown["steps"]) == told["acked"], (shown, told)
    assert int(shown.get("dropped_steps", 0)) == told["dropped"], (shown, told)
    assert int(shown.get("attempt", 0)) == 0


def test_a_pause_is_not_noticed_and_loses_nothing(daemon, stopped):
    feeder = feed(daemon.address, "--run", "paused", "--steps", "8000",
                  "--rate", "2000", wait=False)
    wait_for("the run is there",
             lambda: daemon.metric("nanwatch_ingest_steps_total") > 0)
    stopped(daemon)
    time.sleep(HUNG_SECONDS)
    assert feeder.poll() is None, "the training goes on all the while"
    go_on(daemon)
    told = told_by(feeder)
    never_blocked(told)
    assert told["flushed"] and told["pushed"] == told["acked"] == 8000, told
    arrived(daemon, "paused", told)


def test_what_does_not_fit_is_counted_on_both_sides(daemon, stopped):
    feeder = feed(daemon.address, "--run", "overrun", "--steps", "300000",
                  "--rate", "100000", "--ring-bytes", "65536", wait=False)
    wait_for("the run is there",
             lambda: daemon.metric("nanwatch_ingest_steps_total") > 0)
    stopped(daemon)
    time.sleep(HUNG_SECONDS)
    go_on(daemon)
    told = told_by(feeder)
    never_blocked(told)
    assert told["flushed"] and told["pushed"] == 300_000, told
    assert told["acked"] + told["dropped"] == told["pushed"], told
    arrived(daemon, "overrun", told)


def test_a_training_that_ends_meanwhile_leaves_in_time(daemon, stopped):
    feeder = feed(daemon.address, "--run", "left", "--steps", "4000",
                  "--rate", "4000", "--flush-ms", "300", "--close-ms", "700",
                  wait=False)
    wait_for("the run is there",
             lambda: daemon.metric("nanwatch_ingest_steps_total") > 0)
    stopped(daemon)
    told = told_by(feeder)
    never_blocked(told)
    assert not told["flushed"] and told["acked"] < told["pushed"] == 4000, told
    # The flush that close was given, and a little to leave.
    assert told["slowest_close_ms"] < 700 + 1000, told
    go_on(daemon)
    wait_for("the rank is missed", lambda: summary(
        daemon, "left")["state"] != "LIFE_STATE_OPEN")
    steps = int(summary(daemon, "left")["steps"])
    assert told["acked"] <= steps <= 4000, (steps, told)
    # What came, came once and in order.
    assert int(summary(daemon, "left")["last_step"]) == steps - 1


def test_a_training_that_begins_meanwhile_is_not_held_up(daemon, stopped):
    stopped(daemon)
    told = told_by(feed(daemon.address, "--run", "began", "--steps", "1000",
                        "--rate", "0", "--flush-ms", "200", "--close-ms",
                        "300", wait=False))
    never_blocked(told)
    assert told["pushed"] == 1000 and not told["flushed"], told
    assert told["slowest_close_ms"] < 300 + 1000, told


@pytest.mark.skipif(not ALL, reason="a minute: only under --all")
def test_a_long_hang_is_given_up_and_taken_up_again(folder, stopped):
    daemon = Daemon(folder).start()
    try:
        feeder = feed(daemon.address, "--run", "long", "--steps", "50000",
                      "--rate", "1000", "--flush-ms", "60000", wait=False)
        wait_for("the run is there",
                 lambda: daemon.metric("nanwatch_ingest_steps_total") > 0)
        stopped(daemon)
        time.sleep(40)  # the client waits 30 s for an acknowledgement
        go_on(daemon)
        told = told_by(feeder, 120)
        never_blocked(told)
        assert told["reconnects"] >= 1, told
        assert told["pushed"] == told["acked"] == 50_000, told
        arrived(daemon, "long", told)
    finally:
        daemon.kill()
