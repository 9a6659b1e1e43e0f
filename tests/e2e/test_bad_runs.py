"""Runs, ranks, scales, clocks and people that are not as they should be: told,
counted, judged all the same.
"""

import json
import re
import time

import pytest
from conftest import counted, feed, get_json, summary, wait_for
from raw_client import Raw, now_us, opening, steps


@pytest.mark.parametrize("rank, more, word", [
    (4, "", "outside a world of 1"),
    (0, "attempt: -1", "run.attempt is -1"),
    (0, "attempt: 2147483647", "attempts count from 0 to 1000000000"),
    (0, "scaler { growth_factor: nan }", "growth_factor"),
    (0, f'job: "{"j" * 600}"', "600 bytes"),
    (0, f"settings {{ key: 'k' value: '{'v' * 1100}' }}", "1024"),
    (0, r'job: "\377"', "open.run.job is not UTF-8"),
], ids=["rank", "attempt", "last", "scaler", "long", "settings", "utf8"])
def test_an_opening_that_cannot_be(house, rank, more, word):
    with Raw(house.address) as raw:
        raw.say(opening(2005, "unopened", rank, more=more))
        refusal = raw.hear("refusal")
        assert word in refusal["message"], refusal
        assert int(refusal["session"]) == 2005
        raw.opened(2006, "opened-instead", more="attempt: 0")
        raw.say("close { session: 2006 sequence: 1 }")
    assert "unopened" not in house.nanwatch("runs").stdout


@pytest.mark.parametrize("scale", ["0", "-4", "nan"])
def test_a_scale_that_is_none_is_judged_not_refused(house, scale):
    run = f"scale-{scale}"
    session = 2100 + ["0", "-4", "nan"].index(scale)
    dynamic = "scaler { kind: SCALING_KIND_DYNAMIC name: 'pytorch' }"
    with Raw(house.address) as raw:
        raw.opened(session, run, more=dynamic)
        raw.say(steps(session, 1, 0, 3, "loss_scale { values: [8, 8, 8] }"),
                steps(session, 2, 3, 2,
                      f"loss_scale {{ values: [{scale}, {scale}] }}"))
        raw.acked(2)
        shown = house.show(run)
        found = {f["rule"]: f for i in shown["incidents"]
                 for f in i["findings"]}
        assert scale.lower() in found["scale_unrepresentable"][
            "sentence"].lower()
        assert int(found["scale_unrepresentable"]["opened_step"]) == 3
        assert int(shown["summary"]["steps"]) == 5
        assert any(c["actions"] for c in shown["causes"])
        wait_for("it is counted", lambda: counted(
            house, "nanwatch_condition_detections_total", run_id=run,
            condition="scale") >= 1)


def test_steps_that_go_back_are_a_new_attempt_beside_the_old(house):
    before = counted(house, "nanwatch_engine_runs")
    with Raw(house.address) as raw:
        raw.opened(2200, "again")
        raw.say(steps(2200, 1, 0, 30), steps(2200, 2, 10, 5))
        raw.acked(2)
    listed = json.loads(house.nanwatch("runs", "--json").stdout)
    found = {int(r.get("attempt", 0)): int(r["steps"])
             for r in listed["runs"] if r["run_id"] == "again"}
    assert found == {0: 30, 1: 5}
    # A run is one series: of its newest attempt, while both are kept.
    assert counted(house, "nanwatch_steps_total", run_id="again") == 5
    assert counted(house, "nanwatch_engine_runs") == before + 2
    old = get_json(house.http + "/api/v1/runs/again/attempts/0/steps")
    assert "29" in json.dumps(old)
    text = house.nanwatch("runs").stdout
    assert len(re.findall(r"\bagain\b", text)) == 2, text


def test_steps_that_repeat_count_each(house):
    before = counted(house, "nanwatch_ingest_steps_total")
    with Raw(house.address) as raw:
        raw.opened(2201, "repeats")
        raw.say(steps(2201, 1, deltas=[0, 1, 0, 0, 0, 1]))
        raw.acked(1)
    shown = summary(house, "repeats")
    assert int(shown["steps"]) == 6 and int(shown.get("attempt", 0)) == 0
    assert counted(house, "nanwatch_ingest_steps_total") == before + 6


@pytest.mark.parametrize("run, skew_s", [
    ("ahead", 10800), ("late", -10800), ("right", 0)])
def test_a_clock_three_hours_off_is_shown_and_not_believed(house, run, skew_s):
    session = 2300 + skew_s // 10800
    us = now_us() + skew_s * 1_000_000
    with Raw(house.address) as raw:
        raw.opened(session, run, us=us)
        raw.say(steps(session, 1, us=us))
        raw.acked(1)
        wait_for("the skew of an open rank is shown", lambda: abs(
            house.metric("nanwatch_clock_skew_max_seconds") - abs(skew_s))
            < 300)
        shown = summary(house, run)
        assert int(shown["steps"]) == 10
        assert abs(int(shown["last_record_us"]) / 1e6 - time.time()) < 300


def test_records_three_hours_off_their_own_clock(house):
    for run, skew in (("records-ahead", "10800"), ("records-right", "0"),
                      ("records-late", "-10800")):
        feed(house.address, "--run", run, "--steps", "200", "--rate", "0",
             "--skew-s", skew)
        shown = summary(house, run)
        assert int(shown["steps"]) == 200
        assert abs(int(shown["last_record_us"]) / 1e6 - time.time()) < 60


def test_the_client_repairs_strings_that_are_not_utf8(house):
    before = counted(house, "nanwatch_ingest_refusals_total")
    feed(house.address, "--run", b"caf\xe9", "--job", b"\xff\xfe", "--steps",
         "50", "--rate", "0")
    assert int(summary(house, "caf?")["steps"]) == 50
    assert counted(house, "nanwatch_ingest_refusals_total") == before


def test_an_annotation_of_nothing_is_a_sentence(house):
    feed(house.address, "--run", "noted", "--steps", "5", "--rate", "0")
    done = house.nanwatch("ack", "noted", "--incident", "dead", check=False)
    assert done.returncode not in (0, 1, 2)
    assert "run noted has no incident" in done.stderr
    done = house.nanwatch("mute", "nobody", "--reason", "x", check=False)
    assert "nobody" in done.stderr
    done = house.nanwatch("mute", "noted", "--rule", "none", check=False)
    assert "there is no rule none" in done.stderr
