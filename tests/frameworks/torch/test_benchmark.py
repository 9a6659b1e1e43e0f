"""A training beside its benchmark while it goes on: another learning rate from
a step on, a daemon that is killed, and the way back to a checkpoint."""

import itertools
import pathlib
import sys

import nanwatch

sys.path.append(
    str(pathlib.Path(__file__).resolve().parents[2] / "compare"))

from daemons import summary, wait_for  # noqa: E402
from losses import losses  # noqa: E402

NET = "gru"
CHANGED = 200  # step


def tell(run, told):
    for step, loss in told:
        run.step(step, loss=loss)
    assert run.flush(10)


def incidents(daemon, run, attempt):
    shown = daemon.show(run, "--attempt", str(attempt))["incidents"]
    return [one for one in shown if one["rule"] == "bench_loss_divergence"]


def test_another_rate_is_found_and_a_resume_is_clean(daemon, name):
    base = nanwatch.init(run=name + "-base", address=daemon.address)
    tell(base, losses(NET, steps=320))
    assert base.close(10)

    run = nanwatch.init(run=name, address=daemon.address,
                        benchmark=name + "-base")
    wait_for("it has its benchmark", lambda: daemon.nanwatch(
        "bench", "show", name, "--json").stdout.startswith("{"))
    saved = {}
    # The learning rate follows a course over all steps, so all are asked for.
    rows = itertools.islice(
        losses(NET, steps=320, change=(CHANGED, 1.5), save_at=CHANGED - 40,
               begin=saved), CHANGED + 30)
    tell(run, (next(rows) for _ in range(CHANGED + 5)))
    assert not incidents(daemon, name, 0)
    daemon.kill()
    daemon.start()
    tell(run, rows)  # 30 records of the other rate are told by now
    one = wait_for("it leaves its benchmark",
                   lambda: incidents(daemon, name, 0))[0]
    assert one["state"] == "ALERT_STATE_FIRING", one
    assert CHANGED <= int(one["opened_step"]) < CHANGED + 5, one
    assert one["cause"] == "left_benchmark", one

    tell(run, losses(NET, steps=320, begin=saved))
    wait_for("the next attempt", lambda: summary(
        daemon, name).get("attempt") == 1)
    assert not incidents(daemon, name, 1)
    assert incidents(daemon, name, 0)[0]["state"] == "ALERT_STATE_RESOLVED"
    assert run.close(10)
    daemon.stop()
    done = daemon.nanwatch("replay", str(daemon.history), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    daemon.start()  # for the tests behind this one
