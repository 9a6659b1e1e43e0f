"""Each step by remote write: a real Prometheus, a real VictoriaMetrics."""

import contextlib
import http.server
import math
import random
import struct
import subprocess
import threading
import time

import pytest

from clock import Clock
from conftest import (ALL, BIN, Daemon, counted, feed, refused_start,
                      wait_for)
from raw_client import Raw, now_us, opening
from stores import Prometheus, VictoriaMetrics
from tls_site import HERE, Authority

STORES = (Prometheus, VictoriaMetrics)
LOSS = "nanwatch_step_loss"


def pushing(folder, url, more="", name="nanwatchd"):
    place = folder / name
    place.mkdir()
    return Daemon(place, config=f"push: {{remote_write: {{url: '{url}'}}"
                                f"{more}}}\n")


def pushed(daemon, seconds=60):
    wait_for("all is sent",
             lambda: daemon.metric("nanwatch_push_lag_events") == 0,
             seconds=seconds, instead=daemon.log.read_text)


def dropped(daemon, reason):
    return counted(daemon, "nanwatch_push_dropped_samples_total", reason=reason)


def records(session, sequence, losses, first=1, every_ms=100, last_us=None):
    """A batch whose last record is of `last_us`, and sent then."""
    last_us = last_us or now_us()
    begin = last_us - (len(losses) - 1) * every_ms * 1000
    deltas = [first] + [1] * (len(losses) - 1)
    times = [begin] + [every_ms * 1000] * (len(losses) - 1)
    return (f"steps {{ session: {session} sequence: {sequence} "
            f"sent_time_us: {last_us} step_deltas: {deltas} "
            f"time_us_deltas: {times} "
            f"loss {{ values: [{', '.join(map(repr, losses))}] }} }}")


def say(daemon, run, losses, session=1, close=True, **more):
    """One rank that says these losses."""
    with Raw(daemon.address) as client:
        client.opened(session, run)
        client.say(records(session, 1, losses, **more))
        client.acked(1)
        if close:
            client.say(f"close {{ session: {session} sequence: 2 }}")
            client.acked(2)


@contextlib.contextmanager
def running(*programs):
    try:
        yield [one.start() for one in programs]
    finally:
        for one in programs:
            one.kill()


@pytest.mark.parametrize("kind", STORES)
def test_each_step_is_there_as_it_was(folder, kind):
    """At full precision and its own time; NaN is no end of a series."""
    store = kind(folder)
    one = pushing(folder, store.url + store.WRITE, ", labels: {cluster: blue}")
    losses = [2.0 / 3 + i * math.ulp(2.0 / 3) for i in range(40)]
    losses[20] = math.nan
    losses[21] = math.inf
    with running(store, one):
        before = now_us() // 1000
        say(one, "exact", losses, close=False)
        pushed(one)
        found = store.samples(LOSS, "exact")
        labels = (("attempt", "0"), ("cluster", "blue"), ("rank", "0"))
        assert list(found) == [labels]
        # VictoriaMetrics keeps no NaN but the one that ends a series.
        kept = [x for x in losses
                if kind is Prometheus or not math.isnan(x)]
        values = [float(v.replace("Inf", "inf")) for _, v in found[labels]]
        if kind is Prometheus:
            assert struct.pack(f"{len(kept)}d", *kept) == struct.pack(
                f"{len(values)}d", *values)
        else:
            # It keeps about 12 decimal digits.
            assert values == pytest.approx(kept, rel=1e-11)
        times = [ms for ms, _ in found[labels]]
        assert times[0] >= before - 4000
        gaps = [b - a for a, b in zip(times, times[1:])]
        assert all(gap in (99, 100, 101, 199, 200, 201) for gap in gaps), gaps
        numbers = store.samples("nanwatch_step_number", "exact")[labels]
        assert [int(v) for _, v in numbers] == list(range(1, 41))
        assert store.now(LOSS, "exact") == 1


@pytest.mark.parametrize("kind", STORES)
def test_series_end_with_their_run(folder, kind):
    store = kind(folder)
    one = pushing(folder, store.url + store.WRITE)
    with running(store, one):
        say(one, "ends", [1.0, 2.0, math.nan], close=False)
        say(one, "over", [1.0, 2.0, 3.0], session=2)
        pushed(one)
        wait_for("the series has ended", lambda: store.now(LOSS, "over") == 0)
        assert store.count(LOSS, "over") >= 3
        assert store.now("nanwatch_step_number", "ends") == 1


@pytest.mark.parametrize("kind", STORES)
def test_ranks_and_attempts_have_series_of_their_own(folder, kind):
    """Steps that a resumed run replays are kept beside those before."""
    store = kind(folder)
    one = pushing(folder, store.url + store.WRITE, ", ranks: 2")
    with running(store, one):
        feed(one.address, "--run", "back", "--ranks", "3", "--steps", "200",
             "--rate", "400", "--back-at", "150")
        pushed(one)
        found = store.samples("nanwatch_step_number", "back")
        lanes = {(dict(k)["attempt"], dict(k)["rank"]): v
                 for k, v in found.items()}
        assert set(lanes) == {(a, r) for a in "01" for r in "01"}
        for rank in "01":
            ends = [[int(v) for _, v in lanes[a, rank]] for a in "01"]
            assert ends[0] == list(range(ends[0][0], ends[0][-1] + 1))
            assert ends[1] == list(range(ends[1][0], ends[1][-1] + 1))
            assert ends[1][0] < ends[0][-1] == 149
            assert lanes["0", rank][-1][0] < lanes["1", rank][0][0]
        for reason in ("too_old", "future", "refused", "unordered", "crowded"):
            assert dropped(one, reason) == 0, reason


def say_hours(daemon, clock, run, losses, batches=4):
    """One a second up to now: the daemon's clock stands where each batch ends."""
    rows = len(losses) // batches
    with Raw(daemon.address) as client:
        for i in range(batches):
            behind = (batches - 1 - i) * rows
            clock.set(-behind)
            us = now_us() - behind * 1_000_000
            if i == 0:
                client.say(opening(1, run, us=us))
                client.hear("opened")
            client.say(records(1, i + 1, losses[i * rows:(i + 1) * rows],
                               first=1 if i == 0 else i * rows + 1,
                               every_ms=1000, last_us=us))
            client.acked(i + 1)


@pytest.mark.parametrize("kind", STORES)
def test_two_hours_that_a_store_was_away_are_there_then(folder, kind):
    store = kind(folder)
    clock = Clock(folder)
    one = pushing(folder, store.url + store.WRITE)
    one.environment |= clock.environment
    losses = [1 + random.random() for _ in range(7200)]
    clock.set(-5400)
    one.start()
    try:
        say_hours(one, clock, "long", losses)
        wait_for("it failed", lambda:
                 one.metric("nanwatch_push_failures_total") > 0)
        assert one.metric("nanwatch_push_lag_events") > 0
        assert one.metric("nanwatch_push_lag_seconds") > 7000
        one.kill()
        one.start()
        store.start()
        pushed(one, seconds=120)
        (found,) = store.samples(LOSS, "long").values()
        assert len(found) == 7200
        assert [float(v) for _, v in found] == pytest.approx(
            losses, rel=0 if kind is Prometheus else 1e-11)
        assert 7195e3 < found[-1][0] - found[0][0] < 7210e3
        assert one.metric("nanwatch_push_dropped_samples_total") == 0
    finally:
        one.kill()
        store.kill()


def test_what_is_older_than_max_age_is_given_up(folder):
    store = VictoriaMetrics(folder)
    one = pushing(folder, store.url + store.WRITE, ", max_age: 30m")
    with running(store, one):
        say(one, "old", [1.0] * 3601, every_ms=1000, close=False)
        pushed(one)
        assert store.count(LOSS, "old") == pytest.approx(1800, abs=30)
        # A loss and the step's number, each.
        assert dropped(one, "too_old") == pytest.approx(3600, abs=60)


def test_what_a_store_refuses_costs_nothing_else(folder):
    """Somebody else has written one of the series, at a later time."""
    store = Prometheus(folder)
    first = pushing(folder, store.url + store.WRITE, name="first")
    second = pushing(folder, store.url + store.WRITE, name="second")
    clock = Clock(folder)
    second.environment |= clock.environment
    clock.set(-50)
    with running(store, first, second):
        say(first, "one", [1.0] * 20, close=False)
        pushed(first)
        # The same run from another daemon, of before; and its own.
        say(second, "one", [5.0] * 20, close=False)
        say(second, "two", [7.0] * 20, session=2, close=False)
        pushed(second)
        assert [v for s in store.samples(LOSS, "one").values()
                for _, v in s] == ["1"] * 20
        assert [v for s in store.samples(LOSS, "two").values()
                for _, v in s] == ["7"] * 20
        assert store.refused() > 0
        assert dropped(second, "refused") == 40


@pytest.mark.parametrize("kind", STORES)
def test_nothing_is_lost_or_doubled(folder, kind):
    """Daemon and store are killed at any moment."""
    chance = random.Random(35)
    store = kind(folder)
    one = pushing(folder, store.url + store.WRITE)
    kills = 20 if ALL else 5
    steps = 600 * kills
    with running(store, one):
        training = subprocess.Popen(
            [str(BIN / "nanwatch-feed"), "--address", one.address, "--run",
             "killed", "--steps", str(steps), "--rate", "400", "--flush-ms",
             "90000"], stdout=subprocess.PIPE, text=True)
        for _ in range(kills):
            time.sleep(chance.uniform(0.3, 1.2))
            whom = chance.choice([one, one, store])
            whom.kill()
            whom.start()
        training.communicate(timeout=120)
        pushed(one, seconds=120)
        (found,) = store.samples("nanwatch_step_number", "killed").values()
        numbers = [int(v) for _, v in found]
        assert numbers == sorted(set(numbers))
        # VictoriaMetrics has what it took in memory for a second.
        if kind is Prometheus:
            assert len(numbers) == steps


class Flaky:
    """A store that answers as it is told, and notes what came."""

    def __init__(self, answers):
        self.answers, self.heard = answers, []
        flaky = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                flaky.heard.append((time.monotonic(), self.headers))
                code, headers = (flaky.answers.pop(0) if flaky.answers
                                 else (204, {}))
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/write"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_is_honoured(folder, code):
    flaky = Flaky([(code, {"Retry-After": "2"})])
    one = pushing(folder, flaky.url)
    with running(one):
        say(one, "waits", [1.0] * 3, close=False)
        pushed(one)
        assert flaky.heard[1][0] - flaky.heard[0][0] >= 2
        headers = flaky.heard[0][1]
        assert headers["Content-Encoding"] == "snappy"
        assert headers["Content-Type"] == "application/x-protobuf"
        assert headers["X-Prometheus-Remote-Write-Version"] == "0.1.0"
        assert one.metric("nanwatch_push_failures_total") == 1
        assert one.metric("nanwatch_push_samples_total") == 6


def test_who_is_not_let_in_loses_nothing(folder):
    flaky = Flaky([(401, {}), (404, {}), (500, {}), (500, {})])
    one = pushing(folder, flaky.url)
    with running(one):
        say(one, "waits", [1.0] * 3, close=False)
        pushed(one)
        assert one.metric("nanwatch_push_samples_total") == 6
        assert one.metric("nanwatch_push_dropped_samples_total") == 0


def test_what_always_fails_does_not_hold_up_the_rest(folder):
    """A Prometheus answers 500, for ever, to what is behind its window."""
    store = Prometheus(folder, window="10m")
    one = pushing(folder, store.url + store.WRITE)
    with running(store, one):
        say(one, "new", [1.0] * 5, close=False)
        pushed(one)
        say(one, "behind", [2.0] * 5, session=2, close=False,
            every_ms=1_300_000)
        pushed(one, seconds=90)
        kept = [v for s in store.samples(LOSS, "behind").values()
                for _, v in s]
        # Those of the last hour.
        assert kept == ["2"] * 3
        assert dropped(one, "refused") == 4


def test_over_tls_with_a_token(folder):
    store = Prometheus(folder)
    authority = Authority(folder)
    certificate, key = authority.sign("server", HERE)
    mine, mine_key = authority.sign("client", HERE)
    web = folder / "web.yml"
    web.write_text(f"""
tls_server_config:
  cert_file: {certificate}
  key_file: {key}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: {folder}/ca.crt
""")
    command = store.command()
    command.append(f"--web.config.file={web}")
    token = folder / "token"
    token.write_text("secret\n")
    url = store.url.replace("http://", "https://").replace("127.0.0.1",
                                                           "localhost")
    place = folder / "d"
    place.mkdir()
    one = Daemon(place, config=f"""
push:
  remote_write:
    url: {url}/api/v1/write
    token_file: {token}
    ca: {folder}/ca.crt
    cert: {mine}
    key: {mine_key}
""")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            one.start()
            say(one, "tls", [1.0] * 3, close=False)
            pushed(one)
            assert one.metric("nanwatch_push_samples_total") == 6
            assert "secret" not in one.log.read_text()
        finally:
            one.kill()
            process.kill()


def test_settings_are_checked(folder):
    said = refused_start(folder, config="""
push:
  remote_write: {url: "gopher://x", cert: a}
  otlp: {address: "tcp://collector.example:4317"}
  labels: {rank: x, 1a: y, "__b": z}
  max_age: 1s
""")
    for each in ("push.remote_write.url", "go together", "push.labels.rank",
                 "push.labels.1a", "push.labels.__b", "push.max_age",
                 "push.otlp.address"):
        assert each in said, said
