"""The pages of `nanwatch demo`, which people see first, in a real Chromium: one
fault is one, charts can be read, and a phone shows all of it."""

import re

import pytest
from conftest import get_json
from page_site import DESKTOP, PHONE, picture, site

RUNS = ("healthy", "collapse", "padding", "nan", "divergence")
FITS = """(e) => getComputedStyle(e).display === 'inline' ||
    (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"""


@pytest.fixture(scope="module")
def demo():
    with site() as it:
        done = it.daemon.nanwatch("demo")
        assert done.returncode == 0, done.stderr
        yield it


@pytest.fixture(scope="module")
def visit(demo):
    return demo.visit(viewport=DESKTOP)


@pytest.mark.parametrize("run", RUNS)
def test_an_axis_has_more_than_one_number_all_written_alike(visit, run):
    page = visit.run(f"demo-{run}")
    for chart in page.locator(".chart").all():
        labels = chart.locator(".dygraph-axis-label-y").all_inner_texts()
        if "no finite value" in chart.inner_text():
            assert labels == []
            continue
        assert len(labels) > 1, chart.inner_text()
        raised = [bool(re.search("[⁰¹²³⁴-⁹]", label)) for label in labels]
        assert len(set(raised)) == 1, labels
    assert visit.wrong == []
    picture(page, f"demo-{run}", full_page=True)


def test_the_last_word_is_as_of_the_last_record(demo, visit):
    run = get_json(f"{demo.daemon.http}/api/v1/runs/demo-collapse")
    said = f"{run['totals']['skipped']} updates in a row overflowed"
    page = visit.run("demo-collapse")
    assert said in page.inner_text(".verdict-block .rest")
    assert said in page.inner_text("#incidents")
    assert "seen up to" not in page.inner_text("main")


def test_marks_of_a_chart_are_explained_beside_its_name(visit):
    page = visit.run("demo-nan")
    keys = page.locator(".chart .keys-of-marks").all_inner_texts()
    assert keys == ["skipped updates", "NaN or infinite", "NaN or infinite"]
    page = visit.run("demo-healthy")
    assert set(page.locator(".keys-of-marks").all_inner_texts()) == {""}


def test_one_fault_is_one_on_the_page_and_says_why(visit):
    page = visit.run("demo-nan")
    assert page.inner_text("#incidents h2") == (
        "Incidents 2, open at the end; 1 fault")
    assert page.locator("#incidents .follows").count() == 1
    assert page.locator(".why .evidence li").count() > 0
    assert "layers.3.attention.softmax" in page.inner_text(".causes summary")
    assert "Largest finite" in page.inner_text("#ops")
    # Megatron-LM is PyTorch.
    assert "PyTorch" in page.inner_text(".do") and (
        "other frameworks" not in page.inner_text("main"))


@pytest.mark.parametrize("run", RUNS)
def test_a_phone_shows_all_of_it(demo, run):
    page = demo.visit(viewport=PHONE, is_mobile=True, has_touch=True).run(
        f"demo-{run}")
    assert page.locator("[data-key='export CSV']").is_visible()
    assert page.locator("[data-key='export JSON']").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for box in (*page.locator(".incident .what").all(),
                *page.locator("#ops .scroll").all()):
        assert box.evaluate(FITS), box.inner_text()
    picture(page, f"demo-phone-{run}", full_page=True)
