"""nanwatch backtest: other thresholds on histories of a real daemon, on exports
and on logs."""

import json
import math
import pathlib
import subprocess
import tempfile

import pytest
from conftest import BIN, Daemon, feed, word2vec

LATER = "rules: {overflow_streak: {warning: 9}}\n"
EARLIER = "rules: {overflow_streak: {warning: 3}}\n"


def backtest(*arguments, stdin=None):
    return subprocess.run(
        [str(BIN / "nanwatch"), "backtest", *map(str, arguments)],
        capture_output=True, text=True, input=stdin, timeout=120)


def answer(*arguments, **options):
    done = backtest(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def place():
    """A daemon's history, an export of it, and a log."""
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        folder = pathlib.Path(name)
        daemon = Daemon(folder).start()
        word2vec(daemon.address, "--scenario", "padding", "--steps", "600",
                 "--run", "padding", check=False)
        feed(daemon.address, "--run", "calm", "--steps", "2000", "--rate", "0")
        daemon.nanwatch("export", "padding", "-o", str(folder / "padding.db"))
        assert daemon.stop() == 0
        (folder / "same.yaml").write_text("rules: {}\n")
        (folder / "earlier.yaml").write_text(EARLIER)
        (folder / "later.yaml").write_text(LATER)
        (folder / "job.log").write_text(megatron_log())
        yield folder


def megatron_log():
    """Six overflows in a row after 300 good steps, then good ones."""
    text, scale = "", 65536.0
    for step in range(1, 601):
        over = 301 <= step <= 306
        if over:
            scale /= 2
        loss = 2 + 8 * math.exp(-step / 200) + 0.02 * math.sin(step * 1.7)
        shown = "" if over else f" lm loss: {loss:.6E} |"
        text += (f" iteration {step:8d}/     600 | consumed samples: "
                 f"{step * 16:12d} | elapsed time per iteration (ms): 912.3 | "
                 f"learning rate: 1.500E-04 |{shown} loss scale: {scale:.1f} | "
                 f"grad norm: 0.713 | number of skipped iterations: "
                 f"{int(over):3d} | number of nan iterations:   0 |\n")
    return text


def runs(report, recording=0):
    return {r["run"]: r for r in report["recordings"][recording]["runs"]}


def test_the_same_thresholds_change_nothing(place):
    report = answer(place / "history.db", "--rules", place / "same.yaml")
    assert report["recordings"][0]["changes"] == []
    found = runs(report)
    assert set(found) == {"padding", "calm"}
    assert found["padding"]["update_attempts"] == 600
    assert found["calm"]["update_attempts"] == 2000
    assert found["padding"]["incidents"]
    assert {i["change"] for i in found["padding"]["incidents"]} == {"same"}
    # Whether a run is healthy, nobody said.
    assert report["false_alarms"] is None
    text = backtest(place / "history.db", "--rules", place / "same.yaml").stdout
    assert "False alarms: not known" in text


def test_an_export_says_what_its_history_does(place):
    of_history = answer(place / "history.db", "--rules", place / "earlier.yaml")
    of_export = answer(place / "padding.db", "--rules", place / "earlier.yaml")
    assert runs(of_export)["padding"] == runs(of_history)["padding"]


def test_rules_that_are_off_say_nothing(place):
    off = place / "off.yaml"
    listed = subprocess.run([str(BIN / "nanwatch"), "explain", "--markdown"],
                            capture_output=True, text=True).stdout
    names = [line.split("[")[1].split("]")[0] for line in listed.splitlines()
             if ".md)" in line]
    off.write_text("rules:\n" + "".join(f"  {n}: {{enabled: false}}\n"
                                        for n in names))
    report = answer(place / "history.db", "--rules", off, "--healthy", "calm",
                    "--healthy", "padding")
    padding = runs(report)["padding"]
    assert {i["change"] for i in padding["incidents"]} == {"vanishes"}
    # Every update was skipped from the first one on, and only one side said so.
    assert padding["lost_from"] == 0
    assert padding["lead_steps"]["before"] is not None
    assert padding["lead_steps"]["after"] is None
    alarms = report["false_alarms"]
    assert alarms["healthy_steps"] == 2600
    assert alarms["before"] > 0 and alarms["after"] == 0
    assert alarms["before_per_1000_steps"] == pytest.approx(
        alarms["before"] / 2.6)


def test_thresholds_on_a_log(place):
    report = answer(place / "job.log", "--rules", place / "earlier.yaml",
                    "--all-healthy")
    [change] = report["recordings"][0]["changes"]
    assert (change["rule"], change["threshold"], change["after"]) == (
        "overflow_streak", "warning", 3)
    [run] = report["recordings"][0]["runs"]
    assert run["update_attempts"] == 600 and run["lost_from"] is None
    serious = [i for i in run["incidents"]
               if "warning" in (i["before"] or {}).get("severity", "")
               or "warning" in (i["after"] or {}).get("severity", "")]
    assert any(i["change"] != "same" for i in serious), run
    piped = answer("-", "--rules", place / "earlier.yaml",
                   stdin=megatron_log())
    assert [i["change"] for i in piped["recordings"][0]["runs"][0]["incidents"]
            ] == [i["change"] for i in run["incidents"]]


def test_told_earlier_and_later(place):
    sooner = answer(place / "job.log", "--rules", place / "earlier.yaml")
    text = backtest(place / "job.log", "--rules", place / "earlier.yaml")
    moved = [i.get("later_by_steps", 0)
             for i in runs(sooner)[str(place / "job.log")]["incidents"]]
    appears = [i for i in runs(sooner)[str(place / "job.log")]["incidents"]
               if i["change"] == "appears"]
    assert appears or min(moved) < 0, sooner
    assert "overflow_streak.warning 3 instead of 5" in text.stdout
    assert "earlier" in text.stdout


def test_what_cannot_be_done_is_said(place):
    bad = place / "bad.yaml"
    bad.write_text("rules:\n  overflow_streak: {warning: -1}\n")
    wrong = backtest(place / "job.log", "--rules", bad)
    assert wrong.returncode == 4 and "bad.yaml:2" in wrong.stderr
    assert backtest(place / "job.log").returncode == 4
    nothing = backtest(bad, "--rules", place / "same.yaml")
    assert nothing.returncode == 3 and "nothing to judge" in nothing.stderr
    nobody = backtest(place / "job.log", "--rules", place / "same.yaml",
                      "--healthy", "nobody")
    assert nobody.returncode == 4 and "nobody" in nobody.stderr
