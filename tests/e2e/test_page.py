"""The page, in a real Chromium, of a real daemon with real runs."""

import contextlib
import csv
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

import browser
import pytest
from conftest import BIN, Daemon, feed, get, get_json, wait_for, word2vec
from page_site import DESKTOP, PHONE, PICTURES, Visit, context_of, picture, site

LONG = 3000
HOSTILE = "<img src=x onerror=alert(1)> & \"co\""


def feed_all(daemon, folder):
    """Runs that are over."""
    word2vec(daemon.address, "--run", "poisoned", "--scenario", "nan",
             "--steps", "900", "--poison-step", "600", "--quiet")
    for steps in ("300", "500"):
        feed(daemon.address, "--run", "healthy", "--job", "llm", "--ranks", "4",
             "--steps", steps, "--rate", "0", "--overflow-every", "100",
             "--noisy")
    feed(daemon.address, "--run", "long", "--steps", str(LONG), "--rate", "0")
    feed(daemon.address, "--run", "wide", "--ranks", "150", "--steps", "3",
         "--rate", "0")
    feed(daemon.address, "--run", HOSTILE, "--steps", "5", "--job", "<b>")
    log = folder / "printed.log"
    log.write_text("".join(
        f" iteration {step:8}/    5000 | learning rate: 6.000E-05 | "
        f"lm loss: {9 - step / 900:.6E} | loss scale: 2048.0 | grad "
        "norm: 1.500 | number of skipped iterations:   0 | number of "
        "nan iterations:   0 |\n" for step in range(100, 5000, 100)))
    return log


@pytest.fixture(scope="module")
def watched():
    """A daemon with a run that is sick now, one that was, healthy ones."""
    with site() as it:
        daemon = it.daemon
        it.start(BIN / "nanwatch-word2vec", "--address", daemon.address,
                 "--run", "sick", "--scenario", "padding", "--steps", "1000000",
                 "--step-delay-ms", "12", "--quiet")
        log = feed_all(daemon, daemon.folder)
        tail = it.start(BIN / "nanwatch", "--address", daemon.address, "tail",
                        log, "--run", "logged", "--idle-flush", "0.1")
        wait_for("the log is read", lambda: "logged" in get(
            daemon.http + "/api/v1/runs"))
        tail.send_signal(signal.SIGINT)
        tail.wait(10)
        wait_for("the sick run is known to be", lambda: get_json(
            daemon.http + "/api/v1/runs/sick")["severity"] == "critical")
        yield daemon


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as it:
        yield it


@pytest.fixture
def visit(chromium, watched):
    """Opens pages; at the end none of them has broken a rule of its own."""
    visits = []
    with contextlib.ExitStack() as stack:
        def open_one(**options):
            context = context_of(chromium, **options)
            stack.callback(context.close)
            visits.append(Visit(context, watched))
            return visits[-1]

        yield open_one
        for it in visits:
            assert it.wrong == [] and it.foreign == []


# Where a colour of the style sheet is on the first canvas of a chart, within a
# part of its height: from and to, 0 .. 1, and the share of all columns.
COLOURED = """([field, name, top, bottom]) => {
  const probe = document.createElement('i');
  document.body.append(probe);
  probe.style.color = `var(--${name})`;
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const canvas = [...document.querySelectorAll(
      `[data-field=${field}] canvas`)].find((c) => c.width > 0);
  const {width, height} = canvas;
  const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  const found = [];
  for (let y = Math.floor(top * height); y < bottom * height; ++y) {
    for (let x = 0; x < width; ++x) {
      const at = 4 * (y * width + x);
      if (data[at + 3] > 250 && wanted.every((w, i) =>
          Math.abs(w - data[at + i]) < 12)) found.push(x / width);
    }
  }
  return found.length ? [Math.min(...found), Math.max(...found),
                         new Set(found).size / width] : null;
}"""


def bottom(page, part):
    return page.evaluate("(part) => document.querySelector(part)"
                         ".getBoundingClientRect().bottom", part)


def coloured(page, field, name, top=0.0, bottom=1.0):
    return page.evaluate(COLOURED, [field, name, top, bottom])


def test_runs_worst_first_and_in_one_sentence(visit, watched):
    page = visit().open("/")
    assert page.inner_text("h1") == "The run needs attention"
    rows = page.locator("tbody tr")
    assert rows.first.locator("a").inner_text() == "sick"
    verdict = rows.first.locator(".verdict").inner_text()
    run = get_json(watched.http + "/api/v1/runs/sick")
    assert verdict.startswith("Critical") and run["headline"][:20] in verdict
    assert rows.count() == 1, "of what goes on"
    page.click("text=ended runs too")
    page.wait_for_selector("h1:text-is('The open run needs attention')")
    assert rows.first.locator("a").inner_text() == "sick"
    assert HOSTILE in page.inner_text("tbody")
    picture(page, "runs-light")
    page.fill("input[type=search]", "LLM")
    assert page.locator("tbody a").all_inner_texts() == ["healthy", "healthy"]
    page.fill("input[type=search]", "")
    assert page.title() == "(1) nanwatch"
    page.click("tbody a >> text=sick")
    page.wait_for_selector(".verdict-block.critical")
    assert "run=sick&attempt=0" in page.url
    page.go_back()
    page.wait_for_selector("tbody tr")


def test_the_first_screen_says_what_why_when_and_what_to_do(visit, watched):
    page = visit().run("sick")
    run = get_json(watched.http + "/api/v1/runs/sick")
    assert run["headline"].startswith(page.inner_text("h1").rstrip(".") + ":")
    assert page.title() == "Critical: sick - nanwatch"
    assert "Since step 0" in page.inner_text(".since")
    assert "loss/Log (Log, output, fp16)" in page.inner_text(".since")
    action = run["causes"][0]["actions"][0]["sentence"]
    assert action in page.inner_text(".do ol")
    for part in ("h1", ".since", ".do ol", ".evidence", ".facts"):
        assert bottom(page, part) < DESKTOP["height"], part
    picture(page, "sick-light")
    picture(page, "sick-light-whole", full_page=True)


def test_one_step_that_is_not_finite_is_seen_and_found(visit):
    page = visit().run("poisoned")
    assert page.inner_text(".state").startswith("Healthy")
    at = coloured(page, "loss", "critical", bottom=0.1)
    plot = page.locator("[data-field=loss] .plot").bounding_box()
    left, width = 52 / plot["width"], 1 - 60 / plot["width"]
    expected = left + width * 600 / 899
    assert at and at[0] - 0.02 < expected < at[1] + 0.02, (at, expected)
    assert coloured(page, "loss_scale", "warning", top=0.8), "a skipped step"
    assert coloured(page, "loss_scale", "warning", bottom=0.5) is None
    page.keyboard.press("n")
    assert "step 600 " in page.inner_text(".charts .head .readout")
    assert "NaN" in page.inner_text("[data-field=loss] .readout")
    picture(page, "poisoned-light")


def test_numbers_that_come_now_and_then_are_a_line_all_the_same(visit):
    page = visit().run("logged")
    _, _, columns = coloured(page, "loss", "accent")
    # Of a line about 0.4: what is smoothed is not its colour. Specks: 0.1.
    assert columns > 0.25


def test_an_alerts_link_shows_its_step(visit):
    page = visit().run("poisoned", "&attempt=0&step=600")
    page.wait_for_selector(".lane button")
    assert coloured(page, "loss_scale", "faint"), "a line at the step"
    page.click(".lane button")
    assert page.evaluate("document.activeElement.closest('.incident') !== null")
    assert "Rsqrt" in page.inner_text(".incident >> nth=0")


@pytest.mark.parametrize("step", (0, 899, 123456))
def test_a_link_to_the_runs_ends_stays_within_it(visit, step):
    page = visit().run("long", f"&step={step}")
    page.wait_for_selector("text=Whole run")
    shown = re.sub(r"[\s,]", "",
                   page.inner_text("#charts .tools .note"))
    first, last = map(int, re.fullmatch(r"steps(\d+)to(\d+)", shown).groups())
    assert first >= 0 and last <= LONG and last - first >= 400
    assert first <= min(step, LONG - 1) <= last


def test_a_link_to_a_step_that_no_line_tells_of_opens_at_the_next_that_does(
        visit):
    page = visit().run("logged", "&step=2444")
    page.wait_for_selector(
        "#charts .head .readout:has-text('2,400')")
    assert page.inner_text("[data-field=loss] .readout") not in (
        "", "not collected")


def test_zoom_is_kept_in_the_address_and_asks_for_every_step(visit):
    page = visit().run("poisoned")
    box = page.locator(".stack").bounding_box()
    y = box["y"] + 60
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    with page.expect_response(lambda r: "/steps?" in r.url and "&from=" in
                              r.url) as reply:
        page.mouse.up()
    assert all(b["records"] == 1 for b in reply.value.json()["buckets"])
    found = re.search(r"from=(\d+)&to=(\d+)", page.url)
    assert 350 < int(found[1]) < int(found[2]) < 600
    page.reload()
    page.wait_for_selector("text=Whole run")
    page.click("text=2 more")
    page.wait_for_selector("[data-field=learning_rate] canvas")
    assert coloured(page, "loss", "accent"), "the others are still drawn"
    page.keyboard.press("0")
    page.wait_for_selector("text=Whole run", state="detached")
    assert "from=" not in page.url


def test_the_keyboard_alone_will_do(visit):
    page = visit().open("/")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "sick"
    page.keyboard.press("Enter")
    page.wait_for_selector(".chart canvas")
    page.keyboard.press("?")
    assert "next, previous bad step" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator(".findings").first.is_visible()
    page.keyboard.press("c")
    page.keyboard.press("ArrowRight")
    assert "step" in page.inner_text(".charts .head .readout")
    page.keyboard.press("+")
    page.wait_for_selector("text=Whole run")
    page.keyboard.press("u")
    page.wait_for_selector("tbody tr")


def test_acknowledge_and_mute_with_a_reason(visit, watched):
    page = visit().run("sick")
    page.click("text=Acknowledge")
    page.fill("dialog [name=by]", "ann")
    page.fill("dialog [name=reason]", "I look")
    picture(page, "acknowledge-light")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=acknowledged by ann (unverified)")
    page.keyboard.press("m")
    assert page.input_value("dialog [name=by]") == "ann"
    page.fill("dialog [name=reason]", "known padding")
    page.select_option("dialog [name=for]", "1800")
    page.click("dialog button.main")
    page.wait_for_selector(".incident button >> text=Unmute")
    (incident,) = get_json(
        watched.http + "/api/v1/runs/sick/incidents")["incidents"]
    assert incident["muted"] and incident["acknowledged_by"].startswith("ann")
    page.click("text=Unmute")
    page.click("dialog button.main")
    page.wait_for_selector(".incident button >> text=/^Mute$/")


def test_where_nothing_may_be_said_the_command_is_shown(chromium, folder):
    daemon = Daemon(folder, config="web: {annotations: false}").start()
    training = feed(daemon.address, "--run", "r", "--nan-loss-at", "20",
                    "--steps", "100000", "--rate", "200", wait=False)
    try:
        wait_for("an incident", lambda: "critical" in get(
            daemon.http + "/api/v1/runs"))
        context = chromium.new_context(viewport=DESKTOP)
        page = Visit(context, daemon).run("r")
        (incident,) = get_json(
            daemon.http + "/api/v1/runs/r/incidents")["incidents"]
        told = page.inner_text(".incident .buttons code")
        assert told == f"nanwatch ack r --incident {incident['id']}"
        assert page.locator("text=Acknowledge").count() == 0
        context.close()
        daemon.nanwatch(*told.split()[1:])
        after = get_json(daemon.http + "/api/v1/runs/r/incidents")
        assert after["incidents"][0]["acknowledged_by"]
    finally:
        training.kill()
        training.wait()
        daemon.kill()


def test_a_page_of_another_site_may_not_say_anything(watched):
    (incident,) = get_json(
        watched.http + "/api/v1/runs/sick/incidents")["incidents"]
    body = json.dumps({"kind": "mute", "incident": incident["id"]}).encode()
    url = watched.http + "/api/v1/runs/sick/annotations"
    good = {"Content-Type": "application/json", "X-Nanwatch": "annotate"}
    for bad in ({"Origin": "http://evil.example"}, {"X-Nanwatch": ""},
                {"Sec-Fetch-Site": "cross-site"},
                {"Content-Type": "text/plain"}):
        request = urllib.request.Request(url, body, {**good, **bad})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        assert refused.value.code in (403, 415)
        refused.value.close()
    after = get_json(watched.http + "/api/v1/runs/sick/incidents")
    assert not after["incidents"][0]["muted"]


FOREIGN = """<iframe name=hidden></iframe>
<form method=post target=hidden action="URL"><input name=kind value=mute></form>
<form method=post target=hidden action="URL" enctype="text/plain">
<input name='{"kind":"acknowledge","incident":"ID","x":"' value='"}'></form>
<script>
const body = '{"kind": "acknowledge", "incident": "ID", "reason": "evil"}';
window.over = (async () => {
  for (const form of document.forms) form.submit();
  navigator.sendBeacon('URL', new Blob([body], {type: 'text/plain'}));
  const said = [];
  for (const how of [{mode: 'no-cors'}, {}, {headers: {
      'Content-Type': 'application/json', 'X-Nanwatch': 'annotate'}}]) {
    said.push(await fetch('URL', {method: 'POST', body, ...how}).then(
        (r) => r.type, (e) => 'refused'));
  }
  return said;
})();
</script>"""


@pytest.mark.parametrize("host", ("127.0.0.1", "localhost"))
def test_a_page_of_another_site_cannot_acknowledge(chromium, watched, host):
    """In a real browser, of another port and of another name."""
    path = "/api/v1/runs/poisoned/incidents"
    incident = get_json(watched.http + path)["incidents"][0]

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = FOREIGN.replace("ID", incident["id"]).replace(
                "URL", watched.http + "/api/v1/runs/poisoned/annotations")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil) as evil:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        page = chromium.new_page()
        asked = []
        page.on("request", lambda r: asked.append(r.method)
                if "annotations" in r.url else None)
        page.goto(f"http://{host}:{evil.server_port}/")
        assert page.evaluate("window.over") == 3 * ["refused"]
        assert asked.count("POST") >= 5, "it was tried"
        page.close()
        evil.shutdown()
    after = get_json(watched.http + path)["incidents"]
    assert [i["acknowledged_by"] for i in after] == [""] * len(after)
    assert not any(i["muted"] for i in after)


def test_it_goes_on_by_itself(visit):
    it = visit()
    page = it.run("sick")
    page.wait_for_selector("#contact.live")
    step = "document.querySelector('.facts dd').textContent"
    before = page.evaluate(step)
    wait_for("more steps", lambda: page.evaluate(step) != before)
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.click("#crumbs a")
    page.wait_for_selector("tbody tr")
    assert not any(".js" in url for url in asked), "it loads once"


def test_without_a_place_it_asks_and_without_a_daemon_it_says_so(visit,
                                                                watched):
    where = urllib.parse.urlsplit(watched.http)
    ask = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with contextlib.ExitStack() as stack:
        def take_all_places():
            for _ in range(40):
                listener = stack.enter_context(socket.create_connection(
                    (where.hostname, where.port), timeout=10))
                listener.sendall(ask)
                assert b"HTTP/1.1" in listener.recv(8)

        take_all_places()
        it = visit()
        page = it.run("sick")
        # On a busy machine a place may have become free before the page came.
        for _ in range(3):
            page.wait_for_selector("#contact.asking, #contact.live")
            if page.locator("#contact.asking").count() == 1:
                break
            take_all_places()
            page.reload()
        page.wait_for_selector("#contact.asking")
    # It goes on asking, so that it finds out.
    page.context.set_offline(True)
    page.wait_for_selector("#contact.lost")
    assert "cannot be reached" in page.inner_text("#contact")
    assert all("503" in text or "ERR_" in text for text in it.wrong)
    it.wrong.clear()


def test_ops_ranks_and_attempts(visit):
    page = visit().run("sick")
    page.wait_for_selector(".op-names li")
    assert "loss/Log" in page.inner_text(".op-names li >> nth=0")
    assert "loss/Log" in page.inner_text("#ops tbody tr >> nth=0")
    page = visit().run("healthy")
    page.wait_for_selector("#attempts .spark >> nth=3")
    page.wait_for_selector("#ranks tbody tr >> nth=3")
    assert page.locator("#attempts .spark").count() == 4
    assert page.locator("#ranks tbody tr").count() == 4
    page.click("#ranks tbody tr >> nth=2 >> button")
    wait_for("it is kept in the address", lambda: "rank=2" in page.url)
    picture(page, "healthy-light-whole", full_page=True)
    page = visit().run("wide")
    page.locator("#ranks").scroll_into_view_if_needed()
    page.wait_for_selector("#ranks h2 >> text=150")
    assert page.locator("#ranks canvas").is_visible()


def test_steps_are_taken_away_as_csv_and_json(visit):
    page = visit().run("poisoned")
    with page.expect_download() as download:
        page.click(".tools >> text=CSV")
    assert download.value.suggested_filename == "poisoned-attempt0-rank0.csv"
    with open(download.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 900
    bad = [r for r in rows if r["loss_nan"] != "0"]
    assert [r["first_step"] for r in bad] == ["600"]
    assert bad[0]["loss_last"] == "NaN" and bad[0]["loss_min"] == ""
    with page.expect_download() as download:
        page.click(".tools >> text=JSON")
    saved = json.loads(pathlib.Path(download.value.path()).read_text())
    assert saved["run"]["run_id"] == "poisoned"
    assert len(saved["steps"]["buckets"]) == 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_the_night(visit, scheme):
    it = visit(viewport=PHONE, color_scheme=scheme, has_touch=True,
               is_mobile=True, device_scale_factor=2)
    page = it.open("/")
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    picture(page, f"runs-phone-{scheme}")
    page = it.run("sick")
    assert page.evaluate(fits)
    light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)" \
        ".every((v) => v > 128)"
    assert page.evaluate(light) == (scheme == "light")
    assert bottom(page, ".do li") < PHONE["height"], "without scrolling"
    picture(page, f"sick-phone-{scheme}")
    picture(page, f"sick-phone-{scheme}-whole", full_page=True)
    if scheme == "dark" and PICTURES:
        desk = visit(color_scheme="dark")
        picture(desk.open("/"), "runs-dark")
        picture(desk.run("poisoned"), "poisoned-dark", full_page=True)


def test_a_run_that_is_not_there(visit):
    it = visit()
    page = it.open("/?run=nothing")
    page.wait_for_selector("text=There is no run nothing here")
    assert any("404" in text for text in it.wrong)
    it.wrong.clear()


def test_what_training_says_stays_text(visit, watched):
    page = visit().open("/")
    page.click("text=ended runs too")
    page.click("tbody a:has-text('onerror')")
    page.wait_for_selector(".verdict-block h1")
    assert page.inner_text("#crumbs").endswith(HOSTILE)
    assert page.locator("main img").count() == 0
    policy = urllib.request.urlopen(watched.http).headers[
        "Content-Security-Policy"]
    assert "script-src 'self'" in policy and "unsafe" not in policy
    assert "style=" not in get(watched.http + "/")
