"""Daemons that forward what they keep to one that judges the whole job."""

import json
import os
import random
import subprocess
import time

from conftest import ALL, BIN, feed, free_port, wait_for
from relays import forwarded, incidents, relay, totals, upstream

KILLS = int(os.environ.get("NANWATCH_KILLS", 20 if ALL else 6))


def halves(relays, run, *more, steps=200, rate=200, each=((), ())):
    """A job with one rank at each relay; what became of its records."""
    begun = [feed(one.address, "--run", run, "--world", str(len(relays)),
                  "--first-rank", str(rank), "--steps", str(steps), "--rate",
                  str(rate), "--flush-ms", "60000", *more, *each[rank],
                  wait=False)
             for rank, one in enumerate(relays)]
    told = [json.loads(one.communicate(timeout=240)[0]) for one in begun]
    for one in told:
        assert one["flushed"] and one["dropped"] == 0, one
        assert one["acked"] == one["pushed"] == steps
    return told


def test_ranks_of_two_hosts_are_one_run(folder):
    port = free_port()
    up = upstream(folder, port).start()
    relays = [relay(folder, name, f"tcp://127.0.0.1:{port}").start()
              for name in ("a", "b")]
    try:
        halves(relays, "whole", each=((), ("--scale", "512")))
        forwarded(*relays)
        assert totals(up, "whole") == [(0, 400)]
        shown = up.show("whole")
        assert [int(r.get("rank", 0)) for r in shown["ranks"]] == [0, 1]
        assert shown["summary"]["end_reason"] == "all ranks closed"
        # What only who sees both can find.
        found = [rule for rule, _, _ in incidents(up, "whole")]
        assert any("rank" in rule for rule in found), found
        for one in relays:
            assert totals(one, "whole") == [(0, 200)]
            assert not [rule for rule, _, _ in incidents(one, "whole")
                        if rule in found]
            assert one.metric("nanwatch_relay_connected") == 1
    finally:
        for one in (up, *relays):
            one.kill()


def test_steps_that_go_back_and_ops_arrive_as_they_were(folder):
    port = free_port()
    up = upstream(folder, port).start()
    one = relay(folder, "a", f"127.0.0.1:{port}").start()
    try:
        feed(one.address, "--run", "back", "--steps", "300", "--rate", "0",
             "--back-at", "150", "--ops", "4", "--overflow-every", "20")
        forwarded(one)
        assert totals(one, "back") == totals(up, "back")
        for attempt in "0", "1":
            here = one.show("back", "--attempt", attempt)
            there = up.show("back", "--attempt", attempt)
            for key in ("steps", "overflows", "skipped", "op_statuses",
                        "last_step"):
                assert here["summary"].get(key) == there["summary"].get(key)
        assert one.metric("nanwatch_relay_refused_messages_total") == 0
        assert one.metric("nanwatch_relay_missing_messages_total") == 0
    finally:
        up.kill()
        one.kill()


def test_nothing_is_lost_or_doubled(folder):
    seed = int(os.environ.get("NANWATCH_SEED", time.time_ns() % 100000))
    print(f"seed {seed} (NANWATCH_SEED)")
    chance = random.Random(seed)
    port = free_port()
    up = upstream(folder, port).start()
    relays = [relay(folder, name, f"127.0.0.1:{port}").start()
              for name in ("a", "b")]
    steps = 400 * KILLS
    try:
        begun = [subprocess.Popen(
            [str(BIN / "nanwatch-feed"), "--address", one.address, "--run",
             "killed", "--world", "2", "--first-rank", str(rank), "--steps",
             str(steps), "--rate", "400", "--ops", "2", "--flush-ms", "90000"],
            stdout=subprocess.PIPE, text=True)
            for rank, one in enumerate(relays)]
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.5))
            whom = chance.choice([up, *relays])
            whom.kill()
            time.sleep(chance.uniform(0, 0.3))
            whom.start()
        for one in begun:
            told = json.loads(one.communicate(timeout=240)[0])
            assert told["flushed"] and told["dropped"] == 0, told
            assert told["acked"] == told["pushed"] == 3 * steps
        forwarded(*relays, seconds=90)
        assert totals(up, "killed") == [(0, 2 * steps)]
        ops = [int(d.show("killed")["summary"]["op_statuses"])
               for d in (up, *relays)]
        assert ops[0] == ops[1] + ops[2] == 4 * steps
        assert up.show("killed")["summary"]["end_reason"] == "all ranks closed"
    finally:
        for one in (up, *relays):
            one.kill()


def test_what_came_while_the_upstream_was_away(folder):
    port = free_port()
    up = upstream(folder, port)
    one = relay(folder, "a", f"127.0.0.1:{port}").start()
    try:
        for run in "first", "second":
            feed(one.address, "--run", run, "--steps", "500", "--rate", "0",
                 "--ranks", "2")
        assert one.metric("nanwatch_relay_connected") == 0
        assert one.metric("nanwatch_relay_lag_events") > 0
        one.kill()
        one.start()
        up.start()
        forwarded(one)
        assert totals(up, "first") == totals(up, "second") == [(0, 1000)]
        wait_for("it says so", lambda: "the upstream is there" in
                 one.log.read_text())
        up.kill()
        up.start()
        one.kill()
        one.start()
        forwarded(one)
        assert totals(up, "first") == totals(up, "second") == [(0, 1000)]
    finally:
        up.kill()
        one.kill()


def test_who_ends_in_order_has_forwarded_all(folder):
    """As a sidecar does, whose history goes with it."""
    port = free_port()
    up = upstream(folder, port).start()
    one = relay(folder, "a", f"127.0.0.1:{port}").start()
    try:
        wait_for("it is there", lambda: one.metric("nanwatch_relay_connected"))
        feed(one.address, "--run", "last", "--steps", "2000", "--rate", "0")
        assert one.stop() == 0
        assert totals(up, "last") == [(0, 2000)]
        assert up.show("last")["summary"]["end_reason"] == "all ranks closed"
    finally:
        up.kill()
        one.kill()
