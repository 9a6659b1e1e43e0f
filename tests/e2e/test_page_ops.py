"""Ops on the page, in a real Chromium: where it began, what it was passed on
to, and a map of what was bad alone."""

import pytest
from page_runs import BAD_FROM, OP_STEPS, OPS, ORIGIN, SPOILT
from page_site import PHONE, picture, site

FIRST = f"layers.{ORIGIN // 8}.{ORIGIN % 8}"
# Whether the first row of the map is of a colour, at shares of its width.
REDDISH = """(shares) => {
  const canvas = document.querySelector('#ops canvas.cells');
  const pen = canvas.getContext('2d');
  return shares.map((share) => {
    const [red, green] = pen.getImageData(
        Math.floor(share * canvas.width), 9, 1, 1).data;
    return red > green + 40;
  });
}"""


@pytest.fixture(scope="module")
def seen():
    with site() as it:
        it.say("origin", "clean")
        yield it


def opened(seen, run, **options):
    visit = seen.visit(**options)
    page = visit.run(run)
    page.locator("#ops").scroll_into_view_if_needed()
    return visit, page


def names(page):
    return [text.split()[0] for text in
            page.locator("#ops tbody td.name").all_inner_texts()]


def test_the_origin_stands_alone_and_what_is_behind_it_is_folded(seen):
    visit, page = opened(seen, "origin")
    fold = page.locator("#ops .fold button")
    assert names(page) == [FIRST]
    assert fold.inner_text().endswith(f"and {SPOILT} behind it")
    assert fold.get_attribute("aria-expanded") == "false"
    fold.click()
    page.wait_for_selector("#ops .behind")
    assert len(names(page)) == SPOILT + 1 and names(page)[0] == FIRST
    assert fold.get_attribute("aria-expanded") == "true"
    fold.click()
    page.wait_for_selector("#ops .behind", state="detached")
    assert visit.wrong == []


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_opens_it_and_stays_on_it(seen, key):
    _, page = opened(seen, "origin")
    page.keyboard.press("o")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.ariaExpanded") == "false":
            break
    page.keyboard.press(key)
    page.wait_for_selector("#ops .behind")
    assert page.evaluate("document.activeElement.ariaExpanded") == "true"
    page.keyboard.press(key)
    page.wait_for_selector("#ops .behind", state="detached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_shows_what_was_bad_and_says_how_much_was_not(seen, scheme):
    _, page = opened(seen, "origin", color_scheme=scheme)
    page.wait_for_selector("#ops .op-names li")
    rows = page.locator("#ops .op-names li")
    shown = [row.split()[0] for row in rows.all_inner_texts()]
    assert shown[0] == FIRST and 1 < len(shown) < SPOILT
    spoilt = {f"layers.{i // 8}.{i % 8}"
              for i in range(ORIGIN, ORIGIN + SPOILT + 1)}
    assert set(shown) <= spoilt
    said = page.inner_text("#ops .op-map .readout")
    assert f"{SPOILT + 1 - len(shown)} more were bad." in said
    assert f"{OPS - SPOILT - 1} other tensors were never bad." in said
    began = BAD_FROM / OP_STEPS
    assert page.evaluate(REDDISH, [0.1, began - 0.03, began + 0.03, 0.97]) == [
        False, False, True, True]
    picture(page, f"ops-{scheme}", full_page=True)


def test_the_map_has_the_steps_of_the_charts(seen):
    _, page = opened(seen, "origin")
    page.wait_for_selector("#ops .op-axis span")
    assert page.locator("#ops .op-axis span").all_inner_texts() == [
        "0", str(OP_STEPS - 1)]
    page = seen.visit().run("origin", "&from=22&to=28")
    page.locator("#ops").scroll_into_view_if_needed()
    page.wait_for_selector("#ops .op-axis span")
    assert page.locator("#ops .op-axis span").all_inner_texts() == ["22", "28"]
    assert page.evaluate(REDDISH, [0.1, 0.9]) == [True, True]


def test_a_run_with_nothing_bad_has_no_map(seen):
    visit, page = opened(seen, "clean")
    page.wait_for_selector(
        f"#ops h2:has-text('12,000 statuses, the last of them at step "
        f"{OP_STEPS - 1}')")
    page.wait_for_load_state("networkidle")
    assert page.locator("#ops .op-map").is_hidden()
    assert page.locator("#ops table").count() == 0
    assert visit.wrong == []


def test_it_fits_a_phone(seen):
    _, page = opened(seen, "origin", viewport=PHONE, is_mobile=True,
                     has_touch=True, device_scale_factor=2)
    page.wait_for_selector("#ops .op-names li")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    table = page.locator("#ops .scroll")
    assert table.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    picture(page, "ops-phone", full_page=True)
