"""The list of runs, in a real Chromium: who needs a person stands first, and
each row draws its loss and its scale."""

import re

import pytest
from conftest import BIN, feed, get_json, wait_for, word2vec
from page_site import DESKTOP, PHONE, picture, site, stopped

LOSS = ".spark-line path.loss"
SCALE = ".spark-line path.scale"


def padding(at, run):
    """A training that skips every update, and goes on."""
    return at.start(BIN / "nanwatch-word2vec", "--address", at.daemon.address,
                    "--run", run, "--scenario", "padding", "--steps", "1000000",
                    "--step-delay-ms", "12", "--quiet")


def is_critical(daemon, run):
    runs = get_json(daemon.http + "/api/v1/runs")["runs"]
    return any(r["run_id"] == run and r["severity"] == "critical" for r in runs)


@pytest.fixture(scope="module")
def opened():
    """Opens the page of a run in trouble, one in trouble that was killed since, one
    whose loss was not finite once, one with notes, and a healthy one."""
    with site() as it:
        daemon = it.daemon
        living = padding(it, "living")
        wait_for("living is critical", lambda: is_critical(daemon, "living"),
                 seconds=120)
        killed = padding(it, "killed")
        wait_for("killed is critical", lambda: is_critical(daemon, "killed"),
                 seconds=120)
        stopped(killed)
        wait_for("killed is lost", lambda: get_json(
            daemon.http + "/api/v1/runs/killed")["state"] == "lost")
        feed(daemon.address, "--run", "ended", "--nan-loss-at", "50",
             "--steps", "100", "--rate", "0")
        word2vec(daemon.address, "--run", "cured", "--scenario", "cure",
                 "--steps", "300", "--quiet", check=False)
        feed(daemon.address, "--run", "fine", "--steps", "300", "--rate", "0")

        def opened(**options):
            page = it.visit(**options).open("/")
            page.wait_for_selector("a:text-is('killed')")
            page.click("text=ended runs too")
            page.wait_for_selector("a:text-is('ended')")
            return page

        opened.living = living
        yield opened


@pytest.fixture(scope="module")
def rows(opened):
    return opened(viewport=DESKTOP)


def row(page, run):
    return page.locator(f"tbody tr:has(a:text-is('{run}'))")


def heights(path):
    """Where a line is above the foot of its row, from its start to its end."""
    path.wait_for(state="attached")
    return [-float(y) for y in
            re.findall(r"[ML]\S+ (\S+?)(?=L|$)", path.get_attribute("d"))]


def test_who_needs_a_person_stands_first(rows):
    names = rows.locator("tbody a").all_inner_texts()
    assert names[:2] == ["living", "killed"]
    assert set(names[2:]) == {"cured", "ended", "fine"}
    assert rows.title() == "(1) nanwatch"
    assert rows.inner_text("h1").startswith("1 of ")


def test_what_ended_is_listed_when_somebody_asks(opened):
    page = opened(viewport=DESKTOP)
    assert page.inner_text("h1") == "1 of 2 open runs needs attention"
    page.click("text=ended runs too")
    page.wait_for_selector("a:text-is('ended')", state="detached")
    assert set(page.locator("tbody a").all_inner_texts()) == {"living", "killed"}
    assert page.inner_text("h1") == "1 of 2 runs needs attention"
    page.click("button:has-text('3 that ended')")
    page.wait_for_selector("a:text-is('ended')")
    assert page.is_checked("input[type=checkbox]")


def test_a_row_draws_its_loss_and_its_scale(rows):
    fell = heights(row(rows, "living").locator(SCALE))
    assert fell[0] == max(fell) and fell[-1] == min(fell), fell
    assert len(heights(row(rows, "fine").locator(LOSS))) > 20
    label = row(rows, "living").locator("svg.spark-line").get_attribute(
        "aria-label")
    assert label.startswith("loss and loss scale over steps")


def test_a_loss_that_is_not_finite_is_marked(rows):
    ended = row(rows, "ended")
    ended.locator(".spark-line .bad-at").wait_for(state="attached")
    assert "not finite" in ended.locator("svg.spark-line").get_attribute(
        "aria-label")
    row(rows, "fine").locator(LOSS).wait_for(state="attached")
    assert row(rows, "fine").locator(".bad-at").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_row_has_its_line_on_a_phone_and_at_night(opened, scheme):
    for name, options in {
            "desk": {"viewport": DESKTOP},
            "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True,
                      "device_scale_factor": 2}}.items():
        page = opened(color_scheme=scheme, **options)
        for run in ("living", "killed", "ended", "fine"):
            row(page, run).scroll_into_view_if_needed()
            row(page, run).locator(LOSS).wait_for()
        assert page.evaluate(
            "document.documentElement.scrollWidth <= innerWidth")
        picture(page, f"rows-{name}-{scheme}", full_page=True)
        page.close()


def test_notes_are_drawn_when_somebody_asks(opened):
    page = opened(viewport=DESKTOP)
    at = page.url.split("/?")[0].rstrip("/")
    incidents = get_json(at + "/api/v1/runs/cured/incidents")["incidents"]
    assert {i["worst_severity"] for i in incidents} == {"info"}
    page.goto(at + "/?run=cured")
    page.wait_for_selector(".chart canvas")
    page.wait_for_selector("button >> text=Show notes")
    assert page.locator(".lane button").count() == 0
    page.click("button >> text=Show notes")
    page.wait_for_selector(".lane .bar-of.info")
    page.click("button >> text=Hide notes")
    page.wait_for_selector(".lane .bar-of.info", state="detached")


def test_a_run_in_trouble_that_broke_off_makes_nobody_come(opened):
    stopped(opened.living)
    page = opened(viewport=DESKTOP)
    page.wait_for_selector("h1:text-is('No run needs attention')")
    assert page.title() == "nanwatch"
