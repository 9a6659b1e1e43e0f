"""Loss scales of layers on the page, in a real Chromium."""

import os
import pathlib
import subprocess
import sys

import browser

LAYERED = pathlib.Path(__file__).with_name("layered_run.py")
PICTURES = os.environ.get("NANWATCH_PICTURES")


def test_what_each_layer_needs_bears_and_has(house):
    subprocess.run([sys.executable, LAYERED, house.address, "layered"],
                   check=True)
    with browser.chromium() as chromium:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(40000)
        page = context.new_page()
        wrong = []
        page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        page.on("pageerror", lambda e: wrong.append(e.message))
        page.goto(house.http + "/?run=layered")
        page.wait_for_selector("#layers tbody tr")
        rows = page.locator("#layers tbody tr")
        assert rows.count() == 7
        first, last = rows.nth(0), rows.nth(6)
        assert "embed" in first.inner_text() and "all" in first.inner_text()
        assert "head" in last.inner_text()
        # The mark of a scale that is too low is left of what suits.
        bar, mark = (first.locator(f".scale-lane .{kind}").bounding_box()
                     for kind in ("span", "at"))
        assert mark["x"] < bar["x"]
        bar, mark = (last.locator(f".scale-lane .{kind}").bounding_box()
                     for kind in ("span", "at"))
        assert bar["x"] <= mark["x"] <= bar["x"] + bar["width"]
        # Powers of two name the places on the lanes.
        assert page.locator("#layers .scale-axis span").count() >= 3
        if PICTURES:
            page.locator("#layers").screenshot(path=f"{PICTURES}/layered.png")
        assert wrong == []
        context.close()


def test_on_a_phone_in_the_dark(house):
    subprocess.run([sys.executable, LAYERED, house.address, "small"],
                   check=True)
    with browser.chromium() as chromium:
        context = chromium.new_context(
            viewport={"width": 390, "height": 844}, color_scheme="dark")
        context.set_default_timeout(40000)
        page = context.new_page()
        page.goto(house.http + "/?run=small")
        page.wait_for_selector("#layers tbody tr")
        assert page.evaluate(
            "document.documentElement.scrollWidth <= innerWidth")
        if PICTURES:
            page.locator("#layers").screenshot(path=f"{PICTURES}/phone.png")
        context.close()
