"""The trainings of the README, watched by a real daemon."""

import re

from conftest import word2vec


def diagnose(daemon, run):
    return daemon.nanwatch("diagnose", run).stdout


def brief(daemon, run):
    return daemon.nanwatch("diagnose", run, "--brief").stdout.split()


def test_padding_names_the_log_and_the_cure(daemon):
    word2vec(daemon.address, "--scenario", "padding", "--run", "padding")
    severity, cause, grade = brief(daemon, "padding")
    assert (severity, cause, grade) == (
        "critical", "harmless_padding", "established")
    report = " ".join(diagnose(daemon, "padding").split())
    assert "since step 0, op loss/Log (Log, output, fp16), host" in report
    run = daemon.show("padding")
    assert run["causes"][0]["actions"]
    for action in run["causes"][0]["actions"]:
        assert " ".join(action["sentence"].split()) in report
    summary = run["summary"]
    # The floor of Ascend TF's manager is 1, and nothing was ever applied.
    values = {v["field"]: v for v in summary["values"]}
    assert float(values["loss_scale"]["last"]) == 1
    assert int(summary.get("applied", 0)) == 0


def test_padding_with_a_scaler_without_a_floor_goes_below_one(daemon):
    word2vec(daemon.address, "--scenario", "padding", "--scaler", "pytorch",
             "--run", "falling")
    severity, cause, _ = brief(daemon, "falling")
    assert (severity, cause) == ("critical", "harmless_padding")
    values = {v["field"]: v for v in daemon.show("falling")["summary"]["values"]}
    assert float(values["loss_scale"]["last"]) < 1


def test_cure_learns_and_is_no_more_than_a_note(daemon):
    output = word2vec(
        daemon.address, "--scenario", "cure", "--run", "cure").stdout
    severity, cause, grade = brief(daemon, "cure")
    assert (severity, cause, grade) == ("info", "harmless_padding",
                                        "established")
    assert output


def test_range_calibrates_itself_quietly(daemon):
    word2vec(daemon.address, "--scenario", "range", "--run", "range")
    assert brief(daemon, "range")[0] in ("none", "info")


def test_nan_is_found_at_its_step_with_its_op(daemon):
    output = word2vec(
        daemon.address, "--scenario", "nan", "--run", "nan", check=False).stdout
    severity, cause, grade = brief(daemon, "nan")
    assert (severity, cause, grade) == (
        "warning", "nan_from_forward", "established")
    poisoned = int(re.search(r"poison\w* .*?step (\d+)", output).group(1))
    first = daemon.show("nan")["causes"][0]
    assert int(first["step"]) == poisoned
    origin = first["origin"]
    assert origin["op"] == "nce/distance/Rsqrt"
    assert (origin["type"], origin["dtype"]) == ("Rsqrt", "fp16")
