"""What the page calls a run, and what it says of it, in a real Chromium: the
word, the sentence, the mark and the title agree in each state."""

import sys

import pytest
from conftest import BIN, feed, get_json, wait_for, word2vec
from page_site import RUNS, picture, site, stopped
from test_page_runs import padding

# Run: the word; the mark; what begins the line of its first step, if it has one.
STATES = {
    "healthy": ("Healthy", "none", None),
    "noted": ("Healthy, with a note", "info", "Noted since step"),
    "spiked": ("Warning", "warning", "Since step"),
    "critical": ("Critical", "critical", "Since step"),
    "healed": ("Healthy, was critical", "none", "Began at step"),
    "spoilt": ("Critical", "critical", "Since step"),
    "interrupted": ("Healthy, with a note", "info", "Noted since step"),
    "lost": ("Warning", "warning", "Since step"),
    "short": ("Too little to judge", "info", None),
}
CALM = {"healthy", "noted", "healed", "interrupted"}


def state_of(daemon, run):
    return get_json(f"{daemon.http}/api/v1/runs/{run}")


@pytest.fixture(scope="module")
def seen():
    with site() as it:
        daemon = it.daemon
        it.start(sys.executable, RUNS, daemon.address, "spiked")
        padding(it, "critical")
        lost = it.start(BIN / "nanwatch-feed", "--address", daemon.address,
                        "--run", "lost", "--steps", "100000", "--rate", "300")
        feed(daemon.address, "--run", "healthy", "--steps", "300", "--rate",
             "0")
        feed(daemon.address, "--run", "healed", "--nan-loss-at", "50", "--steps",
             "100", "--rate", "0")
        it.say("short", "spoilt")
        it.say("interrupted", check=False)
        word2vec(daemon.address, "--run", "noted", "--scenario", "cure",
                 "--steps", "300", "--quiet", check=False)
        wait_for("lost has steps", lambda: (
            state_of(daemon, "lost")["last_step"] or 0) > 100)
        stopped(lost)
        wait_for("it is lost", lambda: state_of(
            daemon, "lost")["state"] == "lost")
        for run, severity in (("spiked", "warning"), ("critical", "critical"),
                              ("lost", "warning")):
            wait_for(f"{run} is known", lambda run=run, severity=severity: (
                state_of(daemon, run)["health_severity"] == severity))
        yield it


@pytest.fixture(scope="module")
def page(seen):
    return seen.visit().open("/")


@pytest.mark.parametrize("run", STATES)
def test_word_sentence_mark_and_title_agree(seen, page, run):
    word, mark, since = STATES[run]
    page.goto(f"{seen.daemon.http}/?run={run}")
    page.wait_for_selector(".verdict-block h1")
    assert page.inner_text(".state b") == word
    classes = page.locator(".state .mark").get_attribute("class").split()
    assert mark in classes
    lines = page.locator(".since").all_inner_texts()
    assert (lines[0].startswith(since) if since else lines == []), lines
    # What the word says the sentence does not say once more.
    verdict = page.inner_text("h1")
    assert not verdict.startswith("Healthy") and not verdict[0].islower()
    assert verdict.endswith(".")
    rest = page.locator(".verdict-block .rest").all_inner_texts()
    assert verdict not in rest
    calm = page.title() == f"{run} - nanwatch"
    assert calm == (run in CALM), page.title()
    picture(page, f"state-{run}")


def test_the_list_calls_them_the_same(seen, page):
    page.goto(seen.daemon.http + "/")
    page.wait_for_selector("tbody tr")
    page.click("text=ended runs too")
    page.wait_for_selector("a:text-is('short')")
    for run, (word, _, _) in STATES.items():
        row = page.locator(f"tbody tr:has(a:text-is('{run}'))")
        assert row.locator(".verdict b").inner_text() == word
        assert "Healthy" not in row.locator(
            ".verdict").inner_text()[len(word):]
    assert page.inner_text("h1") == "2 of 3 open runs need attention"


def test_what_stood_when_its_run_ended_is_called_neither_over_nor_resolved(
        seen, page):
    page.goto(f"{seen.daemon.http}/?run=spoilt")
    page.wait_for_selector("#incidents li")
    said = page.inner_text("#incidents")
    assert "1, open at the end" in said and "Critical, open at the end" in said
    assert "steps 201 to the end" in said
    assert "over" not in said and "resolved" not in said
    page.wait_for_selector(".lane .bar-of.firing.ended")
    assert page.locator(".lane .bar-of").count() == 1
    told = seen.daemon.nanwatch("diagnose", "spoilt").stdout
    assert "critical open at the end" in told
    assert "resolved" not in told and "connected" not in told
    page.goto(f"{seen.daemon.http}/?run=healed")
    page.wait_for_selector("#incidents li")
    assert "at the end" not in page.inner_text("#incidents")
    assert "resolved" in page.inner_text("#incidents")


def test_one_that_goes_on_and_one_that_ended_say_so(seen, page):
    for run, begins in (("critical", "running · last record"),
                        ("spoilt", "ended "), ("lost", "lost · last record"),
                        ("interrupted", "ended ")):
        page.goto(f"{seen.daemon.http}/?run={run}")
        page.wait_for_selector(".verdict-block h1")
        assert page.inner_text(".state .note").startswith(begins)
    assert "KeyboardInterrupt" in page.inner_text("h1")


def test_sentences_older_than_the_newest_record_say_so(seen, page):
    page.goto(f"{seen.daemon.http}/?run=critical")
    page.wait_for_selector(".since:has-text('verdict as of step ')")
    page.wait_for_selector("#incidents .note:has-text('seen up to ')")
    page.goto(f"{seen.daemon.http}/?run=spoilt")
    page.wait_for_selector("#incidents li")
    assert "seen up to" not in page.inner_text("main")
    assert "verdict as of" not in page.inner_text("main")


def test_a_number_that_came_few_times_has_no_chart_among_the_first(seen, page):
    page.goto(f"{seen.daemon.http}/?run=spoilt")
    page.wait_for_selector("[data-field=loss] canvas")
    assert page.locator("[data-field=update_norm]").count() == 0
    page.click("button:has-text('1 more chart')")
    page.wait_for_selector("[data-field=update_norm] canvas")
    labels = page.locator("[data-field=update_norm] .dygraph-axis-label-y")
    assert labels.count() > 1


def test_it_is_called_the_same_everywhere(seen, page):
    """`runs`, `diagnose`, the list and the page of a run that ended healed."""
    called = "healthy, was critical"
    row = next(line for line in seen.daemon.nanwatch("runs").stdout.splitlines()
               if " healed " in line)
    assert row.startswith(called + " ")
    diagnosed = seen.daemon.nanwatch("diagnose", "healed").stdout.splitlines()
    assert diagnosed[1] == called.upper() + ", ended"
    page.goto(f"{seen.daemon.http}/")
    page.click("text=ended runs too")
    page.wait_for_selector("a:text-is('healed')")
    listed = page.inner_text("tr:has(a:text-is('healed')) .verdict b")
    assert listed.lower() == called
    page.goto(f"{seen.daemon.http}/?run=healed")
    page.wait_for_selector(".verdict-block h1")
    assert page.inner_text(".state b").lower() == called
