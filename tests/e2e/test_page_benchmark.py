"""A run's benchmark on the page, in a real Chromium: its line in the chart of
the loss, and the condition that it brings."""

import math
import sys

import browser

from conftest import ROOT, get_json, wait_for
from page_site import context_of, picture

sys.path.append(str(ROOT / "client_lib" / "python" / "src"))

import nanwatch  # noqa: E402

# Colours of all points of a chart's picture that are not of its background.
COLOURS = """chart => {
  const [first] = chart.querySelectorAll('canvas');
  const {data} = first.getContext('2d').getImageData(
      0, 0, first.width, first.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 200) seen.add(data.slice(i, i + 3).join());
  }
  return [...seen];
}"""


def loss_at(step):
    return 2 + 2 * math.exp(-step / 200) + 0.1 * math.sin(step * step)


def train(house, name, moved):
    with nanwatch.init(run=name, address=house.address) as run:
        for step in range(50):
            run.step(step, loss=loss_at(step))
        assert run.flush(10)
        if moved:
            house.nanwatch("bench", "set", name, "--to", "page-base")
        for step in range(50, 300):
            part = 1 + (step >= 150) * moved * (-1, 1, 0.6)[step % 3]
            run.step(step, loss=loss_at(step) * part)
        assert run.flush(10)
        if moved:
            wait_for("it is found", lambda: get_json(
                f"{house.http}/api/v1/runs/{name}")["incidents"])


def test_the_benchmarks_line_is_in_the_chart_of_the_loss(house):
    train(house, "page-base", 0)
    train(house, "beside", 0.02)
    with browser.chromium() as chromium:
        context = context_of(chromium)
        page = context.new_page()
        wrong = []
        page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        page.on("pageerror", lambda e: wrong.append(e.message))
        colours = {}
        for name in ("page-base", "beside"):
            page.goto(f"{house.http}/?run={name}")
            chart = page.locator("[data-field=loss]")
            chart.wait_for()
            said = chart.locator("[data-key=benchmark]")
            assert said.count() == (name == "beside")
            if said.count():
                assert "page-base" in said.inner_text()
            page.wait_for_timeout(300)
            colours[name] = set(chart.evaluate(COLOURS))
        assert colours["beside"] - colours["page-base"], "no other line"
        headline = page.inner_text("h1")  # the first part of a long sentence
        assert headline.count("(") == headline.count(")"), headline
        picture(page, "benchmark", full_page=True)
        assert wrong == []
        context.close()
