"""More than a daemon takes, from one client: bounded, told, and alone."""

import json
import re

import pytest
from conftest import ALL, Daemon, counted, feed, limit_hits, summary, wait_for
from raw_client import Raw, names, opening, ops, steps


def resident_mb(daemon):
    return daemon.metric("process_resident_memory_bytes") / 2**20


def test_ten_thousand_runs_from_one_client(folder):
    daemon = Daemon(folder).start()
    try:
        with Raw(daemon.address) as one, Raw(daemon.address) as two, \
                Raw(daemon.address) as other:
            other.opened(1, "other")
            # 8,192 are what a stream may carry; the rest is refused.
            sessions = range(10_000, 10_000 + 8_196)
            one.say(*(opening(s, f"run-{s}") for s in sessions))
            for _ in range(4):
                told = one.hear("refusal", 20)
                assert "8192 sessions" in told["message"]
            one.say(*(steps(s, 1, 0, 2) for s in sessions[:8_192]))
            sessions = range(20_000, 20_000 + 4_000)
            two.say(*(opening(s, f"run-{s}") for s in sessions))
            two.say(*(steps(s, 1, 0, 2) for s in sessions))
            other.say(steps(1, 1))
            other.acked(1)
            wait_for("all steps are there", lambda: daemon.metric(
                "nanwatch_ingest_steps_total") == 2 * 12_192 + 10, 30)
            assert limit_hits(daemon, "sessions_per_stream") == 4
            assert daemon.metric("nanwatch_engine_runs") == 12_192 + 1
            assert resident_mb(daemon) < 400
            assert int(summary(daemon, "other")["steps"]) == 10
            # The exposition stays bounded, too, and says so.
            assert len(daemon.metrics()) < 32 << 20
    finally:
        daemon.kill()


def test_a_million_ops_from_one_client(folder):
    daemon = Daemon(folder).start()
    try:
        with Raw(daemon.address) as raw, Raw(daemon.address) as other:
            other.opened(1, "other")
            batches = [names(0, 9999, 8192, first)
                       for first in range(0, 65536, 8192)]
            full = 0
            for session in range(100, 116):
                raw.opened(session, f"ops-{session}")
                for n, message in enumerate(batches):
                    raw.say(message.replace("session: 0", f"session: {session}")
                            .replace("9999", str(n + 1)))
                raw.say(names(session, 9, 1, 65536))  # one more than may be
                told = ""
                while "65536" not in told:
                    told = raw.hear("refusal", 20)["message"]
                    full += "192 MB over all runs" in told
                    # What follows names that were refused has no beginning.
                    assert ("65536" in told or "192 MB over all runs" in told
                            or "name the ones between first" in told), told
                # The ops that are known go on.
                if session == 100:
                    raw.say(ops(session, 10, "nan { row_gaps: 0 counts: 1 }",
                                65535))
                    raw.acked(10)
            assert limit_hits(daemon, "ops_per_session") == 16
            assert limit_hits(daemon, "user_op_bytes") == full > 4
            assert daemon.metric("nanwatch_ingest_op_statuses_total") == 1
            assert resident_mb(daemon) < 400
            other.say(steps(1, 1))
            other.acked(1)
    finally:
        daemon.kill()


@pytest.mark.skipif(not ALL, reason="half a minute: only under --all")
def test_endless_messages_end_their_streams_and_not_the_daemon(folder):
    """gRPC shows a message's size only when it has the whole; what it may hold
    of all together is bounded, and who comes back loses nothing."""
    daemon = Daemon(folder).start()
    try:
        feeder = feed(daemon.address, "--run", "beside", "--steps", "4000",
                      "--rate", "200", "--flush-ms", "60000", wait=False)
        with Raw(daemon.address) as one, Raw(daemon.address) as two:
            for session, raw in ((1, one), (2, two)):
                raw.opened(session, f"endless-{session}")
                raw.say(f"pad 2000 {steps(session, 1)}")
            for raw in (one, two):
                assert raw.hear("status", 120)["status"] in (8, 13, 14)
        with open(f"/proc/{daemon.process.pid}/status") as status:
            peak_kb = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
        assert peak_kb < 700 << 10
        told = json.loads(feeder.communicate(timeout=120)[0])
        assert told["flushed"] and told["pushed"] == told["acked"] == 4000, told
        assert int(summary(daemon, "beside")["steps"]) == 4000
    finally:
        daemon.kill()


def test_names_beyond_the_daemons_room_cost_the_real_client_only_themselves(
        folder):
    """192 MB of names over all runs of a user: some trainings of 65,536 ops with names of
    512 bytes fit, the next one not quite."""
    daemon = Daemon(folder).start()

    def train(run):
        return feed(daemon.address, "--run", run, "--ops", "65536",
                    "--op-name-bytes", "512", "--steps", "200", "--rate", "200")

    try:
        for n in range(9):
            assert limit_hits(daemon, "user_op_bytes") == 0
            before = daemon.metric("nanwatch_ingest_op_statuses_total")
            told = train(f"run-{n}")
            if told["dropped"]:
                break
        assert n >= 2 and told["dropped"], told
        # Two statuses a step: of the first op, which is known as a rule (its
        # names may come when nothing is left), and of the last, which is not.
        assert told["flushed"] and told["pushed"] == 600, told
        assert told["acked"] + told["dropped"] == 600, told
        assert 200 <= told["dropped"] <= 400, told
        assert limit_hits(daemon, "user_op_bytes") >= 1
        assert int(summary(daemon, f"run-{n}")["steps"]) == 200
        taken = daemon.metric("nanwatch_ingest_op_statuses_total") - before
        assert taken == told["acked"] - 200, told
        lost = counted(daemon, "nanwatch_dropped_records_total", run_id=f"run-{n}")
        assert lost == told["dropped"], told
    finally:
        daemon.kill()
