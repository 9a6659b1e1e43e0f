"""A run whose losses are held against those of another one, in every way that
this can be said."""

import contextlib
import json
import math
import signal
import sqlite3

import pytest

import daemons
from daemons import Daemon, daemon, folder, summary, wait_for  # noqa: F401

import nanwatch


def loss_at(step):
    return 2 + 2 * math.exp(-step / 200) + 0.1 * math.sin(step * step)


def parted(step):
    """A run that does something else from step 120 on."""
    return loss_at(step) * (1 + (step >= 120) * 0.015 * (-1, 1, 0.6)[step % 3])


def train(it, name, loss, steps, job="", run=None, first=0, **options):
    run = run or nanwatch.init(job, name, address=it.address, **options)
    for step in range(first, steps):
        run.step(step, loss=loss(step))
    assert run.flush(10)
    return run


def recorded(it, name="base", loss=loss_at, steps=300):
    assert train(it, name, loss, steps).close()


def benchmark(it, run, *more):
    return json.loads(it.nanwatch("bench", "show", run, "--json", *more).stdout)


def incidents(it, run, *more):
    return [one for one in it.show(run, *more)["incidents"]
            if one["rule"] == "bench_loss_divergence"]


def found(it, run):
    return wait_for("the loss leaves its benchmark",
                    lambda: incidents(it, run),
                    instead=lambda: it.nanwatch("show", run).stdout)[0]


def test_set_to_a_run_shown_and_cleared(daemon):  # noqa: F811
    recorded(daemon)
    run = train(daemon, "run", parted, 20)
    assert benchmark(daemon, "run") is None
    done = daemon.nanwatch("bench", "set", "run", "--to", "base@0")
    assert "300 losses of steps 0 to 299" in done.stdout
    train(daemon, "run", parted, 160, run=run, first=20)
    one = found(daemon, "run")
    assert int(one["opened_step"]) == 120
    assert one["severity"] == "SEVERITY_WARNING"
    assert one["cause"] == "left_benchmark"
    assert one["family"] == "benchmark"
    said = benchmark(daemon, "run")
    assert said["reference"] == "base@0" and said["same_batches"] is True
    assert int(said["pairs"]) == 140 and int(said["points"]) == 300
    assert abs(said["loss"] / said["benchmark_loss"] - 1) < 0.02
    assert "base@0" in daemon.nanwatch("bench", "show", "run").stdout
    assert daemon.metric("nanwatch_benchmark_steps_total") == 140
    assert daemon.metric("nanwatch_benchmark_loss") > 1
    got = daemons._e2e.get_json(
        f"{daemon.http}/api/v1/runs/run/benchmark")
    assert got["reference"] == "base@0" and len(got["points"]) == 300
    assert got["points"][7][0] == 7
    assert daemon.nanwatch("bench", "clear", "run").returncode == 0
    wait_for("it is over", lambda: benchmark(daemon, "run") is None)
    assert run.close()


@pytest.mark.parametrize("file", ["log", "export", "history"])
def test_set_to_a_file(daemon, folder, file):  # noqa: F811
    path = folder / f"base.{file}"
    if file == "log":
        path.write_text("".join(
            f"step {i}: loss {loss_at(i):.6f}\n" for i in range(300)))
    else:
        recorded(daemon)
        daemon.nanwatch("export", "base", "-o", str(path))
        if file == "history":
            path = f"{daemon.history}:base"
    run = train(daemon, "run", loss_at, 20)
    daemon.nanwatch("bench", "set", "run", "--to", str(path))
    train(daemon, "run", loss_at, 100, run=run, first=20)
    said = wait_for("all are compared", lambda: (
        lambda b: b if int(b["pairs"]) == 80 else None)(
            benchmark(daemon, "run")))
    assert said["same_batches"] is True
    assert not incidents(daemon, "run")
    assert run.close()


def test_a_training_names_its_own(daemon, monkeypatch):  # noqa: F811
    recorded(daemon)
    run = nanwatch.init(run="run", address=daemon.address, benchmark="base@0")
    wait_for("it has one", lambda: _open(daemon, "run")
             and benchmark(daemon, "run"))
    train(daemon, "run", parted, 160, run=run)
    assert int(found(daemon, "run")["opened_step"]) == 120
    assert run.close()
    monkeypatch.setenv("NANWATCH_BENCHMARK", "base")
    other = nanwatch.init(run="other", address=daemon.address)
    wait_for("it has one, too", lambda: _open(daemon, "other")
             and benchmark(daemon, "other"))
    assert other.close()


def _open(it, run):
    return it.nanwatch("show", run, check=False).returncode != 3


def test_one_that_is_not_there_is_said_once(daemon):  # noqa: F811
    run = nanwatch.init(run="run", address=daemon.address, benchmark="gone")
    wait_for("it is said", lambda: "there is no run gone" in
             daemon.log.read_text())
    train(daemon, "run", loss_at, 50, run=run)
    assert benchmark(daemon, "run") is None
    assert daemon.log.read_text().count("there is no run gone") == 1
    assert run.close()


def test_the_configuration_names_that_of_a_job(folder):  # noqa: F811
    it = Daemon(folder, config="benchmarks: {gpt: base@0}\n").start()
    try:
        recorded(it)
        run = nanwatch.init("gpt", "run", address=it.address)
        wait_for("it has one", lambda: _open(it, "run")
                 and benchmark(it, "run"))
        train(it, "run", parted, 160, run=run)
        assert int(found(it, "run")["opened_step"]) == 120
        assert run.close()
    finally:
        it.kill()


def test_what_cannot_be_one_is_refused(daemon, folder):  # noqa: F811
    run = train(daemon, "run", loss_at, 20)
    empty = folder / "empty.log"
    empty.write_text("nothing\n")
    for wrong, word in [("gone", "gone"), (str(empty), "empty.log"),
                        ("run@7", "run")]:
        done = daemon.nanwatch("bench", "set", "run", "--to", wrong,
                               check=False)
        assert done.returncode == 3 and word in done.stderr, done
    assert run.close()
    wait_for("it ended", lambda: summary(daemon, "run").get("ended_us"))
    recorded(daemon)
    done = daemon.nanwatch("bench", "set", "run", "--to", "base", check=False)
    assert done.returncode == 3 and "nanwatch compare" in done.stderr


def test_the_next_attempt_is_clean_and_a_replay_needs_no_second_run(
        daemon, folder):  # noqa: F811
    recorded(daemon)
    run = nanwatch.init(run="run", address=daemon.address)
    train(daemon, "run", parted, 60, run=run)
    daemon.nanwatch("bench", "set", "run", "--to", "base")
    train(daemon, "run", parted, 140, run=run, first=60)
    found(daemon, "run")
    daemon.stop(signal.SIGKILL)
    daemon.start()
    # From a checkpoint of before, with what was right.
    train(daemon, "run", loss_at, 280, run=run, first=100)
    wait_for("the next attempt is there", lambda: summary(
        daemon, "run").get("attempt") == 1)
    assert int(benchmark(daemon, "run")["pairs"]) == 180
    assert not incidents(daemon, "run")
    assert [one["state"] for one in incidents(
        daemon, "run", "--attempt", "0")] == ["ALERT_STATE_RESOLVED"]
    assert run.close()
    alone = folder / "run.nanwatch"
    daemon.nanwatch("export", "run", "--attempt", "0", "-o", str(alone))
    daemon.stop()
    for path in (alone, daemon.history):
        done = daemon.nanwatch("replay", str(path), check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def timeless(shown):
    """What is shown of a run, without when it was and how clocks stood."""
    if isinstance(shown, dict):
        return {key: timeless(value) for key, value in shown.items()
                if not key.endswith("_us")}
    return [*map(timeless, shown)] if isinstance(shown, list) else shown


def judged_beside(it, kills=()):
    """All that is shown of a run beside its benchmark. The daemon is killed at
    each step of `kills`, while records come: those up to five before it are
    judged by then."""
    recorded(it)
    run = train(it, "run", parted, 60)
    it.nanwatch("bench", "set", "run", "--to", "base")
    for step in range(60, 260):
        run.step(step, loss=parted(step))
        if step + 5 in kills:
            assert run.flush(10)
        if step in kills:
            it.kill()
        if step - 5 in kills:
            it.start()
    assert run.close(timeout=30) and run.stats.dropped == 0
    wait_for("it ended", lambda: summary(it, "run").get("ended_us"))
    return it.nanwatch("show", "run", "--json").stdout


def test_a_daemon_that_is_killed_judges_as_one_that_is_not(
        daemon, folder):  # noqa: F811
    """Before the runs part, while the rule gathers its evidence, and while what
    it found stands."""
    shown = judged_beside(daemon, kills=(80, 123, 180))
    (folder / "other").mkdir()
    whole = Daemon(folder / "other").start()
    try:
        assert timeless(json.loads(shown)) == timeless(
            json.loads(judged_beside(whole)))
    finally:
        whole.kill()
    one, = incidents(daemon, "run")
    assert int(one["opened_step"]) == 120 and len(one["findings"]) == 1
    assert int(json.loads(shown)["benchmark"]["pairs"]) == 200
    # To the byte from its checkpoints, from its events alone, and from the
    # one run without its benchmark.
    alone = folder / "run.nanwatch"
    daemon.nanwatch("export", "run", "-o", str(alone))
    daemon.kill()
    for history in (daemon.history, alone):
        done = daemon.nanwatch("replay", str(history), check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    for history, checkpoints in ((daemon.history, True),
                                 (daemon.history, False), (alone, False)):
        if not checkpoints:
            with contextlib.closing(sqlite3.connect(history)) as file:
                assert file.execute(
                    "DELETE FROM events WHERE kind = 12").rowcount > 0
                file.commit()
        daemon.history = history
        daemon.start()
        assert daemon.nanwatch("show", "run", "--json").stdout == shown
        daemon.kill()


def restart(it, run, first, steps, loss):
    """Goes on at `first`, and waits until the daemon compares it."""
    attempt = summary(it, "run").get("attempt", 0) + 1
    train(it, "run", loss, first + 2, run=run, first=first)
    wait_for("the next attempt is compared", lambda: summary(
        it, "run").get("attempt") == attempt and benchmark(it, "run"))
    train(it, "run", loss, steps, run=run, first=first + 2)


def test_a_restart_is_held_against_its_attempts_before(
        daemon, folder):  # noqa: F811
    """Without any set-up: one that loads the checkpoint wrong is told, and one
    that does it right is not, whatever failed before."""
    run = nanwatch.init(run="run", address=daemon.address)
    train(daemon, "run", loss_at, 300, run=run)
    restart(daemon, run, 100, 200, lambda step: 1.2 * loss_at(step))
    one = found(daemon, "run")
    assert int(one["opened_step"]) >= 100
    assert "earlier attempt" in one["summary"]
    said = benchmark(daemon, "run")
    assert said["reference"] == "run@0"
    restart(daemon, run, 100, 290, loss_at)
    assert not incidents(daemon, "run")
    said = benchmark(daemon, "run")
    # Where the attempt before did not come to, the one before it goes on.
    assert said["reference"] == "run@1" and int(said["last_step"]) == 299
    assert int(said["pairs"]) >= 185
    assert run.close()
    daemon.stop()
    done = daemon.nanwatch("replay", str(daemon.history), check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_beginning_is_held_against_nothing(daemon):  # noqa: F811
    run = nanwatch.init(run="run", address=daemon.address)
    train(daemon, "run", loss_at, 100, run=run)
    train(daemon, "run", lambda step: 1.5 * loss_at(step), 100, run=run)
    wait_for("the next attempt is there", lambda: summary(
        daemon, "run").get("attempt") == 1)
    # A run that named none is looked at before this one, which did.
    other = nanwatch.init(run="other", address=daemon.address,
                          benchmark="run@0")
    wait_for("it has one", lambda: _open(daemon, "other")
             and benchmark(daemon, "other"))
    assert benchmark(daemon, "run") is None
    assert run.close() and other.close()
