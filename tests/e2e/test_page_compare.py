"""Two runs side by side on the page, in a real Chromium."""

import contextlib
import json
import subprocess
import sys
import urllib.error

import browser
import compared_runs
import pytest

from conftest import get_json
from page_site import PHONE, context_of, picture

import nanwatch


@pytest.fixture(scope="module")
def recorded(house):
    """The address of the second run's page."""
    subprocess.run([sys.executable, compared_runs.__file__, house.address,
                    "good", "ported"], check=True)
    return f"{house.http}/?run=ported"


@contextlib.contextmanager
def page_of(**options):
    """A page on which nothing may go wrong."""
    with browser.chromium() as chromium:
        context = context_of(chromium, **options)
        page = context.new_page()
        wrong = []
        page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        page.on("pageerror", lambda e: wrong.append(e.message))
        yield page
        assert page.locator("#contact.lost").count() == 0
        assert wrong == []
        context.close()


def test_the_api_says_what_the_command_says(house, recorded):
    said = get_json(f"{house.http}/api/v1/runs/ported/compare?with=good")
    command = json.loads(house.nanwatch(
        "compare", "good", "ported", "--json").stdout)
    distances = said.pop("map")
    for side in "ab":  # as they were asked for
        del said[side]["name"], command[side]["name"]
    assert said == command
    assert said["divergence"]["op"] == compared_runs.WRONG
    assert said["divergence"]["step"] == compared_runs.FROM
    assert distances["steps"] == list(compared_runs.RECORDED)
    by_name = {(t["op"], t["slot"]): t["cells"] for t in distances["tensors"]}
    before, after = (by_name[compared_runs.WRONG, slot]
                     for slot in ("input", "output"))
    at = compared_runs.RECORDED.index(compared_runs.FROM)
    assert before[at][0] == "within" and before[at][1] < 0
    assert after[at][0] == "beyond" and after[at][1] > 0
    assert all(cell[0] == "within" for cell in after[:at])


def test_from_a_run_to_what_parts_it_from_another(house, recorded):
    with page_of() as page:
        page.goto(recorded)
        page.locator(".tools >> text=Compare").click()
        page.wait_for_selector(".picker")
        assert page.locator("#known-runs option[value='good@0']").count() == 1
        page.fill(".picker input", "good@0")
        page.keyboard.press("Enter")
        page.wait_for_selector("#distances .op-names li")
        assert compared_runs.WRONG in page.inner_text("h1")
        assert f"step {compared_runs.FROM}" in page.inner_text("h1")
        assert "Run this op alone" in page.inner_text(".do")
        # The first tensor that is beyond is marked, and those before are not.
        rows = page.locator("#distances .op-names li")
        bold = page.locator("#distances .op-names b")
        assert bold.count() == 1 and bold.inner_text() == compared_runs.WRONG
        assert "bad" not in (rows.first.get_attribute("class") or "")
        # Where it is beyond, the pointer says by how much.
        box = bold.bounding_box()
        canvas = page.locator("#distances canvas").bounding_box()
        width = canvas["width"] / len(compared_runs.RECORDED)
        at = compared_runs.RECORDED.index(compared_runs.FROM)
        cell = min(width, 44)
        page.locator("#distances canvas").hover(position={
            "x": (at + 0.5) * cell, "y": box["y"] - canvas["y"] + 9})
        told = page.inner_text("#distances .readout")
        assert f"step {compared_runs.FROM}" in told and "times" in told
        # Both losses.
        page.wait_for_selector("#losses canvas")
        captions = page.inner_text("#losses figcaption")
        assert "good@0" in captions and "ported@0" in captions
        page.locator("#losses .plot").hover()
        told = page.inner_text("#losses .readout >> nth=0")
        assert "A " in told and "B " in told
        # What differs in the settings.
        settings = page.inner_text("#settings")
        assert "attention" in settings and "fused" in settings
        assert "lr" not in settings.split()
        picture(page, "compare_light", full_page=True)
        page.go_back()
        page.wait_for_selector(".picker")


def test_on_a_phone_in_the_dark(house, recorded):
    with page_of(viewport=PHONE, color_scheme="dark") as page:
        page.goto(f"{recorded}&with=good")
        page.wait_for_selector("#distances .op-names li")
        assert page.evaluate(
            "document.documentElement.scrollWidth <= innerWidth")
        # An op's input and output are two rows.
        rows = page.locator("#distances .op-names li").all_inner_texts()
        assert len(set(rows)) == len(rows)
        picture(page, "compare_phone", full_page=True)


def test_a_run_that_is_not_there_is_said(house, recorded):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get_json(f"{house.http}/api/v1/runs/ported/compare?with=nobody")
    assert refused.value.code == 404


def test_the_benchmark_is_one_click_away(house, recorded):
    with nanwatch.init(run="held", address=house.address) as run:
        for step in range(compared_runs.STEPS):
            run.step(step, loss=compared_runs.loss_at(step, True))
            if step == 10:
                assert run.flush(10)
                house.nanwatch("bench", "set", "held", "--to", "good@0")
        assert run.flush(10)
    with page_of() as page:
        page.goto(f"{house.http}/?run=held&with=")
        page.locator("[data-key=benchmark]").click()
        page.wait_for_selector("#losses figcaption")
        assert "with=good" in page.url
        # Without tensors there is no map; how to get one is said.
        assert page.locator("#distances").is_hidden()
        assert 'level="compare"' in page.inner_text(".verdict-block")
        picture(page, "compare_losses", full_page=True)
