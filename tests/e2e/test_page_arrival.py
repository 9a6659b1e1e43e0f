"""A page of which a file does not arrive, in a real Chromium."""

import pytest
from conftest import feed
from page_site import context_of, site


@pytest.fixture(scope="module")
def watched():
    with site() as it:
        feed(it.daemon.address, "--run", "fine", "--steps", "50", "--rate", "0")
        yield it


@pytest.fixture
def opened(watched):
    """Opens the run's page while `name` fails `times` times; counts asks for it."""
    watched.visit()
    context = context_of(watched.chromium)
    asked = []

    def opened(name, times):
        """`name`: a pattern of the path."""
        def cut(route):
            asked.append(route.request.url)
            if len(asked) <= times:
                route.abort("connectionreset")
            else:
                route.continue_()

        context.route(f"**/{name}", cut)
        page = context.new_page()
        page.goto(f"{watched.daemon.http}/?run=fine")
        return page, asked

    yield opened
    context.close()


@pytest.mark.parametrize("name", ["charts.js", "main.js", "dygraph.js"])
def test_it_is_loaded_again(opened, name):
    page, _ = opened(name, 1)
    page.wait_for_selector(".chart canvas")
    assert page.evaluate("history.state") is None


def test_it_gives_up_with_a_sentence(opened):
    page, asked = opened("dygraph.js", 1000)
    page.wait_for_selector("text=A part of this page did not arrive")
    assert len(asked) == 3


def test_charts_that_were_refused_once_are_asked_for_again(opened):
    """The run is over: no change of it asks for them."""
    page, _ = opened("steps?*", 1)
    page.wait_for_selector("text=The daemon cannot be reached")
    page.wait_for_selector(".chart canvas")
    assert not page.is_visible("text=The daemon cannot be reached")
