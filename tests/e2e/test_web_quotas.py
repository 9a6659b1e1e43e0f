"""What one user may ask for over HTTP at once, and that others are served beside
him."""

import collections
import concurrent.futures

import pytest

from test_audit import line
from web_site import ANN, PROMETHEUS, WebSite

STEPS = 200_000
AT_ONCE = 150
LONG = "/api/v1/runs/long/steps?points=10000"


@pytest.fixture
def site(folder):
    it = WebSite(folder, more=f"""
audit: {{file: {folder}/audit.jsonl}}
quotas: {{users: {{ann: {{queries: 1}}}}}}
""").start()
    assert it.feed("ann", "long", "--steps", str(STEPS), "--rate", "0",
                   "--in-flight", "20000", "--flush-ms", "60000").wait(120) == 0
    yield it
    it.daemon.kill()


def test_who_asks_much_waits_behind_himself(site):
    assert site.ask(LONG, ANN)[0] == 200
    assert site.ask(LONG, PROMETHEUS)[0] == 200
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        flood = [pool.submit(site.ask, LONG, ANN) for _ in range(AT_ONCE)]
        for _ in range(3):
            assert site.ask(LONG, PROMETHEUS)[0] == 200
        waits = sum(not one.done() for one in flood)
        answers = [one.result() for one in flood]
    assert waits > 0, "nothing pressed"
    codes = collections.Counter(status for status, _, _ in answers)
    assert set(codes) == {200, 429}, codes
    status, headers, text = next(one for one in answers if one[0] == 429)
    assert "user ann" in text and "quotas.queries" in text
    assert headers["Retry-After"]
    said = line(site.folder / "audit.jsonl", "refusal", who="ann")
    assert "too many requests" in said["what"]
    hits = site.metric('nanwatch_limit_hits_total')
    assert hits >= codes[429]
    assert site.ask(LONG, ANN)[0] == 200
