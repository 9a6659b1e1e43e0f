"""What a user of HTTP sees and changes, and that no secret comes out."""

import base64
import json
import os
import re
import signal
import subprocess
import sys

import browser
import pytest

from conftest import BIN, ROOT, wait_for
from web_site import ANN, PASSWORD, PROMETHEUS, WebSite


@pytest.fixture
def sick(folder):
    """A site with a sick run of ann's and one of bob's."""
    made = []

    def make(more=""):
        site = WebSite(folder, more=more).start()
        made.append(site)
        for name in ("ann", "bob"):
            made.append(site.feed(name, f"of-{name}", "--steps", "1000000",
                                  "--rate", "200", "--nan-loss-at", "10"))
        return site

    yield make
    for one in reversed(made):
        if isinstance(one, WebSite):
            one.daemon.kill()
        else:
            one.kill()
            one.wait()


def incident(site, run, user):
    def first():
        status, _, _ = site.ask("/api/v1/runs/" + run, user)
        found = status == 200 and site.json("/api/v1/runs/" + run, user)[
            "incidents"]
        return found and found[0]["id"]

    return wait_for("an incident of " + run, first)


def test_the_owner_and_admins_change_a_run(sick):
    site = sick("access: {admins: [prometheus]}")
    for run, user, taken in (("of-ann", ANN, True), ("of-bob", ANN, False),
                             ("of-bob", PROMETHEUS, True)):
        status, told = site.annotate(run, incident(site, run, user), user)
        assert status == (200 if taken else 403), told
        if taken:
            assert told["by"] == user[0]
    # He says so, and it is shown beside who he is.
    _, told = site.annotate("of-ann", incident(site, "of-ann", ANN),
                            by="chief", kind="mute")
    assert told["by"] == "chief (ann)"
    # A page of another site has his password from the browser, too.
    status, _, text = site.ask(
        "/api/v1/runs/of-ann/annotations", ANN, "POST", "{}",
        {"X-Nanwatch": "annotate", "Content-Type": "application/json",
         "Origin": "https://evil.example"})
    assert status == 403 and "Another site" in text


def test_who_reads_only_his_own(sick):
    site = sick("access: {admins: [prometheus], read: owner}")
    theirs = incident(site, "of-bob", PROMETHEUS)
    incident(site, "of-ann", ANN)
    for more in ("", "?ended=1"):
        listed = site.json("/api/v1/runs" + more)["runs"]
        assert [run["run_id"] for run in listed] == ["of-ann"]
    assert site.json("/api/v1/status")["runs"] == 1
    for what in ("", "/steps", "/ops", "/incidents", "/layers", "/benchmark"):
        assert site.ask("/api/v1/runs/of-ann" + what)[0] == 200
        assert site.ask("/api/v1/runs/of-bob" + what)[0] == 404
        assert site.ask("/api/v1/runs/of-bob" + what, PROMETHEUS)[0] == 200
    assert site.annotate("of-bob", theirs)[0] == 404
    assert site.ask("/metrics", ANN)[0] == 403
    assert 'run_id="of-bob"' in site.ask("/metrics", PROMETHEUS)[2]
    # What others asked for within the last second is not shown to him.
    shared = {"Cache-Control": "max-age=1"}
    for _ in range(3):
        assert "of-bob" in site.ask("/api/v1/runs", PROMETHEUS,
                                    headers=shared)[2]
        assert "of-bob" not in site.ask("/api/v1/runs", ANN,
                                        headers=shared)[2]


AGAINST = """if True:
    import sys, time, nanwatch
    run = nanwatch.init(run=sys.argv[1], address=sys.argv[2],
                        benchmark=sys.argv[3])
    for step in range(100_000):
        run.step(step, loss=2.0)
        time.sleep(0.05)
"""


def test_a_benchmark_shows_nobody_another_s_run(folder):
    """Whatever `access.read` was at the start."""
    site = WebSite(folder, more="access: {admins: [prometheus]}").start()
    started = []

    def against(name, run, other):
        started.append(subprocess.Popen(
            [sys.executable, "-c", AGAINST, run, site.ingest, other],
            env={**os.environ, "NANWATCH_TOKEN_FILE":
                 str(site.token_files[name]),
                 "PYTHONPATH": str(ROOT / "client_lib/python/src")}))

    def reference(run):
        status, _, text = site.ask(f"/api/v1/runs/{run}/benchmark", PROMETHEUS)
        return status == 200 and json.loads(text)["reference"]

    try:
        assert site.feed("ann", "base", "--steps", "300").wait(60) == 0
        against("bob", "before", "base")
        wait_for("a benchmark", lambda: reference("before"))
        config = site.daemon.config
        config.write_text(config.read_text().replace(
            "admins: [prometheus]", "admins: [prometheus], read: owner"))
        site.reload()
        against("bob", "after", "base")
        wait_for("it is refused",
                 lambda: "a run has no benchmark" in site.daemon.log.read_text())
        assert reference("after") is None
        against("ann", "own", "base")
        wait_for("a benchmark of her own", lambda: reference("own"))
    finally:
        for one in started:
            one.kill()
            one.wait()
        site.daemon.kill()


def test_the_page_behind_a_password(sick):
    site = sick()
    incident(site, "of-ann", ANN)
    with browser.chromium() as chromium:
        context = chromium.new_context(
            ignore_https_errors=True,
            http_credentials={"username": ANN[0], "password": ANN[1]})
        page = context.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"https://localhost:{site.port}/?run=of-ann")
        page.wait_for_selector("button >> text=/^Acknowledge$/",
                               timeout=40000)
        page.wait_for_selector("#contact.live")
        assert page.is_hidden("#warning")
        page.click("button >> text=/^Acknowledge$/")
        assert page.locator("dialog input[name=by]").count() == 0
        assert "As ann." in page.inner_text("dialog")
        page.click("dialog button.main")
        wait_for("it is said", lambda: any(
            one.get("acknowledged_by") == "ann" for one in
            site.json("/api/v1/runs/of-ann")["incidents"]))
        page.goto(f"https://localhost:{site.port}/?run=of-bob")
        page.wait_for_selector(".incident .buttons .note", timeout=40000)
        assert "As bob" in page.inner_text(".incident .buttons .note")
        assert not problems
        context.close()
        stranger = chromium.new_context(ignore_https_errors=True)
        page = stranger.new_page()
        # So Chromium says of a 401 that nobody answers.
        with pytest.raises(Exception, match="AUTH_CREDENTIALS"):
            page.goto(f"https://localhost:{site.port}/")


def test_no_secret_comes_out(sick, folder):
    """Of passwords, hashes, keys and tokens: in what the daemon writes or says,
    also when it is killed in the middle of them."""
    site = sick()
    incident(site, "of-ann", ANN)
    wrong = "hunter2-hunter2"
    assert site.ask("/", ("ann", wrong))[0] == 401
    assert site.ask("/", ("eve", wrong))[0] == 401
    answers = "".join(site.ask(path, PROMETHEUS)[2] for path in (
        "/metrics", "/api/v1/status", "/api/v1/runs", "/api/v1/runs/of-ann"))
    export = folder / "export.db"
    site.daemon.nanwatch("export", "of-ann", "--output", str(export))
    good = site.file.read_text()
    hashes = re.findall(r"\$2y\$\S+", good)
    site.file.write_text(good.replace(hashes[0], PASSWORD))
    site.reload(taken=False)
    checked = subprocess.run(
        [str(BIN / "nanwatchd"), "--config", str(site.daemon.config),
         "--check-config"], capture_output=True, timeout=60)
    assert checked.returncode == 2 and b"htpasswd" in checked.stderr
    site.daemon.stop(signal.SIGABRT)
    written = b"".join(
        path.read_bytes() for path in folder.iterdir()
        if path.name.startswith(("nanwatchd.log", "history.db", "export.db",
                                 "core")))
    said = written + answers.encode() + checked.stderr
    assert b"of-ann" in said and b"not reloaded" in said
    for secret in (PASSWORD, wrong, *hashes, site.key.read_text().split("\n")[1],
                   base64.b64encode(":".join(ANN).encode()).decode(),
                   *(f.read_text() for f in site.token_files.values())):
        assert secret.encode() not in said, secret
    assert os.path.getsize(export) > 0
