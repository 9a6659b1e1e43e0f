"""Runs with several optimizers on the page, in a real Chromium: each is a line
of its own."""

import pytest
from page_site import PHONE, picture, site

# In how many columns of the loss chart each colour stands, and the mean height
# of its dots, 0 at the top.
LINES = """(names) => names.map((name) => {
  const probe = document.createElement('i');
  document.body.append(probe);
  probe.style.color = `var(--${name})`;
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const canvas = [...document.querySelectorAll(
      '[data-field=loss] canvas')].find((c) => c.width > 0);
  const {width, height} = canvas;
  const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  const columns = new Set();
  let sum = 0, dots = 0;
  for (let i = 0; i < width * height; ++i) {
    if (data[4 * i + 3] < 70 || wanted.some((w, c) =>
        Math.abs(w - data[4 * i + c]) > 40)) continue;
    columns.add(i % width);
    sum += Math.floor(i / width);
    ++dots;
  }
  return {share: columns.size / width, at: dots ? sum / dots / height : null};
})"""


@pytest.fixture(scope="module")
def seen():
    with site() as it:
        it.say("gan", "turns", "short")
        yield it


def keys(page):
    return page.locator(".legend .key").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_optimizer_is_a_line_with_its_name(seen, scheme):
    visit = seen.visit(color_scheme=scheme)
    page = visit.run("gan")
    assert keys(page) == ["discriminator", "generator"]
    low, high = page.evaluate(LINES, ["accent", "second"])
    # Two lines across the chart, that of the larger loss above; no zigzag
    # between them, which would be in one colour and at one height.
    assert low["share"] > 0.6 and high["share"] > 0.6, (low, high)
    assert high["at"] < 0.3 and low["at"] > 0.6, (low, high)
    picture(page, f"gan-{scheme}", full_page=True)
    assert visit.wrong == []


def test_the_cursor_says_both_at_one_step(seen):
    page = seen.visit().run("gan")
    page.keyboard.press("c")
    page.keyboard.press("ArrowRight")
    said = page.locator("[data-field=loss] .readout .key").all_inner_texts()
    assert len(said) == 2
    assert float(said[0]) < 1 < 6 <= float(said[1])


def test_those_that_take_turns_are_lines_without_gaps(seen):
    page = seen.visit().run("turns")
    assert keys(page) == ["critic", "actor"]
    critic, actor = page.evaluate(LINES, ["accent", "second"])
    assert critic["share"] > 0.6 and actor["share"] > 0.6, (critic, actor)
    assert actor["at"] < critic["at"]


def test_from_above_they_are_lines_too(seen):
    """Where a point holds records of both."""
    page = seen.visit(viewport=PHONE, device_scale_factor=1).run("turns")
    critic, actor = page.evaluate(LINES, ["accent", "second"])
    assert critic["share"] > 0.5 and actor["share"] > 0.5, (critic, actor)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "turns-phone", full_page=True)


def test_one_optimizer_needs_no_legend(seen):
    page = seen.visit().run("short")
    assert page.locator(".legend").is_hidden()


def test_a_row_draws_each_of_them(seen):
    page = seen.visit().open("/")
    page.click("text=ended runs too")
    row = page.locator("tbody tr:has(a:text-is('gan'))")
    row.locator("path.loss").first.wait_for(state="attached")
    assert row.locator("path.loss").count() == 2
    row = page.locator("tbody tr:has(a:text-is('short'))")
    row.locator("path.loss").first.wait_for(state="attached")
    assert row.locator("path.loss").count() == 1
