"""What the page offers of runs of others."""

import os

import browser
import pytest
from conftest import Daemon, feed, free_port, get, get_json, wait_for


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts a daemon as "
                    "another user")
def test_the_page_offers_what_is_taken(folder):
    """Of another's run the command, and as whom; of nobody's, buttons."""
    folder.chmod(0o711)
    os.chown(folder, 12345, 12345)
    tcp = f"127.0.0.1:{free_port()}"
    daemon = Daemon(folder, user=12345, config=f"""
ingest: {{socket_mode: "0666", tcp: "{tcp}", tcp_anonymous: true}}
""")
    daemon.config.chmod(0o644)
    daemon.start()
    trainings = []
    try:
        with browser.chromium() as chromium:
            for run, address, taken in (("theirs", daemon.address, False),
                                        ("anybodys", tcp, True)):
                trainings.append(feed(
                    address, "--run", run, "--steps", "100000", "--rate",
                    "200", "--nan-loss-at", "10", wait=False))
                url = daemon.http + "/api/v1/runs/" + run
                wait_for("an incident", lambda: run in get(
                    daemon.http + "/api/v1/runs") and
                    get_json(url)["incidents"])
                assert get_json(url)["annotations"] == taken
                page = chromium.new_page()
                page.goto(f"{daemon.http}/?run={run}")
                page.wait_for_selector(".incident .buttons", timeout=40000)
                mutes = page.locator("button >> text=/^Mute$/").count()
                assert (mutes > 0) == taken
                if not taken:
                    told = page.inner_text(".incident .buttons .note")
                    assert "As root" in told and "ack theirs" in told
                page.close()
    finally:
        for training in trainings:
            training.kill()
            training.wait()
        daemon.kill()
