"""Against real daemons: present, missing, hung, killed, restarted."""

import math
import os
import signal
import threading
import time

import numpy
from daemons import Daemon, daemon, folder, summary, wait_for  # noqa: F401

import nanwatch
from nanwatch import _sender


def steps_of(daemon, run):  # noqa: F811
    shown = daemon.nanwatch("show", run, "--json")
    return summary(daemon, run) if shown.returncode < 3 and shown.stdout else {}


def all_there(daemon, run, steps):  # noqa: F811
    def look():
        return int(steps_of(daemon, run).get("steps", 0)) >= steps

    wait_for(f"{steps} steps of {run}", look)
    found = summary(daemon, run)
    assert int(found["steps"]) == steps and int(found.get("attempt", 0)) == 0
    return found


def test_what_is_said_arrives_and_is_judged(daemon):  # noqa: F811
    with nanwatch.init(job="j", run="said", address=daemon.address) as run:
        fc = run.register_op("fc1", type="Linear", dtype="fp16", shape=(4, 5))
        for i in range(3000):
            run.op(fc, step=i, nan=int(i == 2900), abs_max=2.5)
            run.step(i, loss=2.0, scale=1024.0, overflow=i % 500 == 499,
                     skipped=i % 500 == 499, grad_norm=1.5, lr=1e-3)
        assert run.flush(10)
        stats = run.stats
        assert stats.pushed == stats.sent == stats.acked == 6000
        assert stats.connected and stats.run_id == "said"
        assert stats.dropped == stats.refused == stats.bad_input == 0
    all_there(daemon, "said", 3000)
    text = daemon.nanwatch("show", "said").stdout
    assert "fc1" in text and "step 2900" in text
    assert "closed" in text and "2,994 applied" in text


def test_an_end_in_order_is_no_error(daemon):  # noqa: F811
    for i in range(60):
        run = nanwatch.init(run=f"ends{i}", address=daemon.address)
        run.step(0, loss=1.0)
        assert run.flush(10) and run.close(10)
        assert run.stats.error == "" and run.stats.reconnects == 0, i


def test_steps_that_go_back_are_told_as_another_attempt(daemon):  # noqa: F811
    with nanwatch.init(run="back", address=daemon.address) as run:
        for i in (0, 1, 2, 1, 2):
            run.step(i, loss=2.0)
        assert run.flush(10)
        assert run.stats.attempt == 1


def test_an_overflow_does_not_wait_for_a_batch(daemon):  # noqa: F811
    run = nanwatch.init(run="urgent", address=daemon.address)
    run.step(0, loss=1.0)
    assert run.flush(10)
    taken = run._shared.steps_taken
    run.step(1, overflow=True, skipped=True)
    assert run._shared.urgent or run._shared.steps_taken > taken
    run.step(2, loss=math.nan)
    run.op("fc", step=3, pos_inf=1)
    run.close(10)
    all_there(daemon, "urgent", 3)


def test_numpy_columns(daemon):  # noqa: F811
    run = nanwatch.init(run="columns", address=daemon.address)
    fc = [run.register_op(f"fc{i}", shape=(8,)) for i in range(4)]
    for step in range(10):
        run.ops({
            "op": numpy.array(fc), "step": step, "slot": "grad_output",
            "nan": numpy.array([0, 0, int(step == 5), 0]),
            "abs_max": numpy.array([1, 2, 3, math.inf], dtype=numpy.float32),
            "rms": [0.5, None, 0.25, None],
        })
        run.step(step, loss=1.0)
    assert run.close(10) and run.stats.bad_input == 0
    assert run.stats.acked == 50
    assert "fc2" in daemon.nanwatch("show", "columns").stdout


def test_one_wrong_status_is_left_out_alone(daemon):  # noqa: F811
    run = nanwatch.init(run="wrong", address=daemon.address)
    fc = run.register_op("fc", shape=(4,))
    for i in range(100):
        run.op(fc, step=i, nan=3, zero=2 if i == 50 else 1)
        run.op(fc, step=i, exponents=(2000 if i == 60 else 0, (1,)))
        run.op(99, step=i)  # no such op
        run.step(i, loss=1.0)
    assert run.flush(10)
    stats = run.stats
    assert stats.refused == 2 and stats.dropped == 102
    assert stats.acked == 298 and stats.pushed == 400
    assert "step 60" in stats.error, stats
    run.close(10)
    all_there(daemon, "wrong", 100)


def test_a_hung_daemon_is_named(daemon):  # noqa: F811
    run = nanwatch.init(run="named", address=daemon.address)
    run.step(0)
    assert run.flush(10) and run.stats.error == ""
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        run.step(1)
        wait_for("said", lambda: "is it hung?" in run.stats.error)
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    assert run.flush(30) and run.stats.error == ""
    run.close(10)


def test_no_daemon_yet(folder):  # noqa: F811
    it = Daemon(folder)
    run = nanwatch.init(run="early", address=it.address)
    for i in range(5000):
        run.step(i, loss=1.0)
    assert run.flush(0.3) is False
    assert not run.stats.connected
    try:
        it.start()
        assert run.flush(30) and run.close(10)
        all_there(it, "early", 5000)
    finally:
        it.kill()


def test_a_daemon_that_is_killed_and_comes_back(folder):  # noqa: F811
    it = Daemon(folder).start()
    run = nanwatch.init(run="killed", address=it.address)
    op = run.register_op("fc", shape=(3,))
    try:
        for i in range(6000):
            if i in (1500, 3000, 4500):
                it.kill()
                it.start()
                run.register_op(f"later{i}")
            run.op(op, step=i, zero=1)
            run.step(i, loss=1.0)
            time.sleep(0.0003)
        assert run.flush(30), run.stats
        assert run.stats.reconnects >= 1 and run.stats.dropped == 0
        assert run.close(10)
        all_there(it, "killed", 6000)
    finally:
        it.kill()


def threads():
    return len(os.listdir("/proc/self/task"))


def test_reconnects_leave_nothing_behind(folder):  # noqa: F811
    it = Daemon(folder).start()
    run = nanwatch.init(run="again", address=it.address)
    counts = []
    try:
        for i in range(8):
            run.step(i, loss=1.0)
            assert run.flush(30), run.stats
            counts.append(threads())
            it.kill()
            it.start()
        # gRPC's own pool may still grow a little; a thread a stream would be
        # two more each time.
        assert counts[-1] - counts[1] < 6, counts
        assert run.close(30)
        all_there(it, "again", 8)
    finally:
        it.kill()


def test_a_hung_daemon_is_not_noticed(daemon):  # noqa: F811
    run = nanwatch.init(run="hung", address=daemon.address, buffer_rows=4000,
                        unacked_bytes=100_000)
    run.step(0, loss=1.0)
    assert run.flush(10)
    os.kill(daemon.process.pid, signal.SIGSTOP)
    slowest, told = 0.0, 1
    try:
        begun = time.monotonic()
        while time.monotonic() - begun < 2.0:
            for _ in range(200):
                before = time.perf_counter()
                run.step(told, loss=1.0, grad_norm=1.0)
                slowest = max(slowest, time.perf_counter() - before)
                told += 1
            time.sleep(0.001)
        assert run.flush(0.1) is False
        assert len(run._rows) <= 4000 * 9
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    # One that waits for a hung daemon waits for all of its two seconds.
    assert slowest < 1.0
    assert run.flush(30), run.stats
    stats = run.stats
    assert stats.pushed == told and stats.acked + stats.dropped == told
    assert stats.dropped > 0
    run.close(10)
    found = all_there(daemon, "hung", stats.acked)
    assert int(found["dropped_steps"]) == stats.dropped


def test_close_does_not_wait_for_a_hung_daemon(daemon):  # noqa: F811
    run = nanwatch.init(run="leaves", address=daemon.address)
    run.step(0)
    assert run.flush(10)
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        run.step(1)
        begun = time.monotonic()
        assert run.close(0.5) is False
        assert time.monotonic() - begun < 5
        assert run.close(0.5) is False, "again"
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)


def test_a_close_that_a_killed_daemon_never_read_is_told_again(
    folder,  # noqa: F811
):
    it = Daemon(folder).start()
    run = nanwatch.init(run="again", address=it.address)
    run.step(0)
    assert run.flush(10)
    os.kill(it.process.pid, signal.SIGSTOP)
    closing = threading.Thread(target=run.close, args=(30,))
    closing.start()
    # By the sender: the close is on its way, and nothing else.
    wait_for("the close is owed", lambda: run._shared.silent_since)
    it.kill()
    it.start()
    try:
        closing.join()
        shown = it.nanwatch("show", "again").stdout
        assert "closed" in shown.splitlines()[0], shown
        assert int(summary(it, "again").get("attempt", 0)) == 0
    finally:
        it.kill()


def test_a_close_right_after_a_turn_is_told(daemon, monkeypatch):  # noqa: F811
    """The sender has nothing to send, and looked a moment ago."""
    monkeypatch.setattr(_sender, "_URGENT_TURN", 0.3)
    monkeypatch.setattr(_sender, "_TURN", 0.3)
    run = nanwatch.init(run="close", address=daemon.address)
    run.step(1)
    assert run.flush(10)
    turns = run._shared.steps_taken
    run.step(2)
    wait_for("a turn", lambda: run._shared.steps_taken > turns, every=0.001)
    wait_for("acknowledged", lambda: run.stats.acked == 2, every=0.001)
    assert run.close(10)
    assert run.close(10), "again it says the same"
    shown = daemon.nanwatch("show", "close").stdout
    assert "closed" in shown.splitlines()[0], shown


def test_requests_and_a_stop(daemon):  # noqa: F811
    run = nanwatch.init(run="stops", address=daemon.address)
    run.register_op("fc", shape=(2,))
    run.step(0, loss=1.0)
    assert run.flush(10)
    assert run.should_stop == "" and run.requests() == []
    daemon.nanwatch("stop", "stops", "--reason", "seen enough")
    wait_for("the request", lambda: run.should_stop)
    assert run.should_stop.startswith("seen enough")
    (request,) = run.requests()
    assert request.kind == "stop" and request.reason == run.should_stop
    assert request.id != 0 and run.requests() == []
    run.step(1, request=request.id)
    assert run.close(10) and run.should_stop == request.reason


def test_a_run_without_a_name_keeps_the_one_it_was_given(folder):  # noqa: F811
    it = Daemon(folder).start()
    try:
        run = nanwatch.init(address=it.address)
        run.step(0)
        assert run.flush(10)
        name = run.stats.run_id
        assert name
        it.kill()
        it.start()
        run.step(1)
        assert run.flush(30) and run.stats.run_id == name
        run.close(10)
        all_there(it, name, 2)
    finally:
        it.kill()


def test_several_threads_and_runs(daemon):  # noqa: F811
    runs = [nanwatch.init(run=f"many{i}", address=daemon.address)
            for i in range(2)]

    def train(run):
        for _ in range(2000):
            run.step(7, loss=1.0)

    threads = [threading.Thread(target=train, args=(run,))
               for run in runs for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, run in enumerate(runs):
        assert run.close(20)
        assert run.stats.acked == 8000
        all_there(daemon, f"many{i}", 8000)
