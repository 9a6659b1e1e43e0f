"""What pages cost, and what they leave to a scrape: figures of `run`."""

import json
import pathlib
import socket
import statistics
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LISTENERS, ASKERS = 32, 68  # pages that are open at once
ASKS_EVERY_S = 4
SCRAPES = 100


def fetch(url, headers=None):
    request = urllib.request.Request(url, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.headers.get("ETag"), reply.read()
    except urllib.error.HTTPError as error:
        if error.code != 304:
            raise
        return None, b""


def only_run(http):
    """The path of the one run that there is, and its name in a query."""
    runs = json.loads(fetch(f"{http}/api/v1/runs")[1])["runs"]
    name = urllib.parse.quote(runs[0]["run_id"], safe="")
    return f"/api/v1/runs/{name}", name


def answer_ms(http, path, times=20):
    """The median of asking for the whole run as a picture."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        fetch(f"{http}{path}/steps?points=1000", {"Accept-Encoding": "gzip"})
        taken.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(taken)


class Pages:
    """As many open pages as an office has, without their browsers."""

    def __init__(self, http, path, name):
        self.http = http
        self.asks = [f"{path}?ranks=64", f"{path}/steps?points=1000&rank=0"]
        self.events = f"/api/v1/events?run={name}"
        self.over = False
        for number in range(LISTENERS):
            threading.Thread(target=self.listen, daemon=True).start()
        for number in range(ASKERS):
            wait = number * ASKS_EVERY_S / ASKERS
            threading.Thread(target=self.ask_on, args=(wait,),
                             daemon=True).start()

    def show(self, tags):
        for path in self.asks:
            headers = {"Cache-Control": "max-age=1", "Accept-Encoding": "gzip"}
            if path in tags:
                headers["If-None-Match"] = tags[path]
            tag, _ = fetch(self.http + path, headers)
            tags[path] = tag or tags[path]

    def listen(self):
        address = urllib.parse.urlsplit(self.http)
        tags = {}
        with socket.create_connection((address.hostname, address.port)) as s:
            s.sendall(f"GET {self.events} HTTP/1.1\r\nHost: localhost\r\n"
                      "\r\n".encode())
            for line in s.makefile("rb"):
                if self.over:
                    return
                if line.startswith(b"event: change"):
                    self.show(tags)

    def ask_on(self, wait):
        tags = {}
        time.sleep(wait)
        while not self.over:
            self.show(tags)
            time.sleep(ASKS_EVERY_S)


def scrape_p99_ms(http, scrapers=1):
    taken = []

    def scrape_on():
        for _ in range(max(SCRAPES // scrapers, 15)):
            begun = time.perf_counter()
            fetch(f"{http}/metrics", {"Accept-Encoding": "gzip"})
            taken.append((time.perf_counter() - begun) * 1e3)
            time.sleep(0.05 if scrapers == 1 else 0.2)

    threads = [threading.Thread(target=scrape_on) for _ in range(scrapers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(taken)[int(0.99 * len(taken))]


def series(http):
    return sum(1 for line in fetch(f"{http}/metrics")[1].splitlines()
               if line and not line.startswith(b"#"))


def first_picture_s(http, name, times=5):
    """From the address to the charts in Chromium, nothing cached."""
    sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))
    import browser

    taken = []
    with browser.chromium() as chromium:
        for _ in range(times):
            page = chromium.new_page()
            page.goto(f"{http}/?run={name}")
            page.wait_for_selector(".chart canvas")
            taken.append(page.evaluate("performance.now()") / 1e3)
            page.close()
    return statistics.median(taken)


def ranks_s(http, name, ranks, times=3):
    """From the address to the charts, and from asking for them to all ranks:
    of a run whose every rank is connected."""
    sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))
    import browser

    written = f"{ranks:,}"  # as the page does
    charts, all_ranks = [], []
    with browser.chromium() as chromium:
        for _ in range(times):
            page = chromium.new_page()
            page.goto(f"{http}/?run={name}")
            page.wait_for_selector(".chart canvas")
            charts.append(page.evaluate("performance.now()") / 1e3)
            begun = time.perf_counter()
            page.keyboard.press("r")
            page.wait_for_selector(
                f'#ranks h2 .note:text-matches("^{written}(,|$)")')
            all_ranks.append(time.perf_counter() - begun)
            page.close()
    return statistics.median(charts), statistics.median(all_ranks)
