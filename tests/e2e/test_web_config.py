"""HTTP behind exporter-toolkit's web configuration: TLS, passwords, clients'
certificates, and those who try to pass by them."""

import base64
import concurrent.futures
import contextlib
import socket
import ssl
import subprocess
import urllib.parse

import browser
import pytest
import yaml

from conftest import (ROOT, Daemon, free_port, get, get_json, refused_start,
                      wait_for)
from tls_site import HERE, Authority
from web_site import ANN, EXAMPLE, PASSWORD, PROMETHEUS, WebSite


DAY = 86400


@pytest.fixture
def site(folder):
    it = WebSite(folder).start()
    yield it
    it.daemon.kill()


def offered(site, *flags):
    """What openssl says of a handshake."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{site.port}", *flags],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=30)
    return done.stdout + done.stderr


def test_promtool_takes_the_example(folder):
    site = WebSite(folder)
    done = subprocess.run(["promtool", "check", "web-config", site.file],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_may_come_in(site):
    assert site.ask("/metrics", PROMETHEUS)[0] == 200
    assert site.json("/api/v1/status")["user"] == "ann"
    for user in (None, ("ann", "wrong"), ("ann", ""), ("eve", PASSWORD),
                 ("ann", PASSWORD + "x"), ("prometheus:ann", PASSWORD)):
        for path in ("/", "/metrics", "/-/healthy", "/api/v1/runs", "/none"):
            status, headers, text = site.ask(path, user)
            assert status == 401 and "Basic" in headers["WWW-Authenticate"]
            assert "nanwatch_" not in text
    assert site.metric("nanwatch_web_insecure") == 0
    assert 'handler="gate",code="401"' in site.ask("/metrics", PROMETHEUS)[2]


def test_what_is_no_tls_of_ours_is_refused(site, folder):
    other = Authority(folder, "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        site.ask("/metrics", ca=other.certificate)
    for old in ("-tls1", "-tls1_1"):
        told = offered(site, old, "-cipher", "DEFAULT@SECLEVEL=0")
        assert "BEGIN CERTIFICATE" not in told and "alert" in told
    for good in ("-tls1_2", "-tls1_3"):
        assert "BEGIN CERTIFICATE" in offered(site, good)
    told = site.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", False)
    assert told.startswith(b"HTTP/1.1 400") and b"https://" in told
    site.show(*site.authority.sign("late", HERE, days=-1))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        site.ask("/metrics")


def test_bytes_of_any_kind_pass_nothing(site):
    said = base64.b64encode(":".join(ANN).encode())
    head = b"Host: localhost\r\nAuthorization: Basic " + said + b"\r\n"
    for path in (b"/../../etc/passwd", b"/page/../../../etc/passwd",
                 b"/%2e%2e/%2e%2e/etc/passwd", b"/page/x/..%2f..%2fetc/passwd"):
        told = site.raw(b"GET " + path + b" HTTP/1.1\r\n" + head + b"\r\n")
        assert told.startswith(b"HTTP/1.1 404") and b"root:" not in told
    for line in (b"X: a\x00b", b"X: \x1b[31m", b"X: a\rSet-Cookie: b", b" folded",
                 b"Content-Length: 1\r\nContent-Length: 2",
                 b"Host: evil.example", b"Authorization: Basic eDp5"):
        told = site.raw(b"GET / HTTP/1.1\r\n" + head + line + b"\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 400"), line
    # Nothing that is sent stands in a head of ours.
    for path in (b"/%0d%0aSet-Cookie:%20a", b"/api/v1/runs/a%0d%0aX-Evil:%20b"):
        told = site.raw(b"GET " + path + b" HTTP/1.1\r\n" + head + b"\r\n")
        answer, _, _ = told.partition(b"\r\n\r\n")
        assert b"Set-Cookie" not in answer and b"X-Evil" not in answer
    assert site.raw(b"GET / HTTP/1.1\r\nX: " + b"x" * 20000).startswith(
        b"HTTP/1.1 431")
    assert site.raw(b"\x16\x03\x01" + b"\xff" * 500, False)[:4] != b"HTTP"
    assert site.ask("/-/healthy")[0] == 200


def test_a_flood_of_wrong_passwords_stops_nobody(site):
    """Who was right is answered without a hash; who comes anew gets his turn."""
    assert site.ask("/metrics", PROMETHEUS)[0] == 200
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        tries = [pool.submit(site.ask, "/", ("ann", f"wrong{i}"))
                 for i in range(96)]
        for _ in range(5):
            assert site.ask("/metrics", PROMETHEUS)[0] == 200
        assert {t.result()[0] for t in tries} <= {401, 503}
    assert site.ask("/", ANN)[0] == 200


def test_who_connects_and_waits_keeps_nobody_out(site):
    """A thousand that send nothing, and as many threads as there are that begin
    a handshake and go no further."""
    with contextlib.ExitStack() as idle:
        for i in range(1000):
            one = idle.enter_context(socket.create_connection(
                ("127.0.0.1", site.port), timeout=20))
            if i % 10 == 0:
                one.send(b"\x16\x03\x01\x02")
        for _ in range(3):
            assert site.ask("/metrics", PROMETHEUS)[0] == 200


def prometheus(site, processes, user, ca):
    """A real one that scrapes four times a second; gives a query."""
    port = free_port()
    config = site.folder / f"prometheus{port}.yml"
    config.write_text(f"""
scrape_configs:
  - job_name: nanwatch
    scrape_interval: 250ms
    scrape_timeout: 250ms
    scheme: https
    tls_config: {{ca_file: {ca}, server_name: localhost}}
    basic_auth: {{username: {user[0]}, password: {user[1]}}}
    static_configs: [{{targets: ["127.0.0.1:{site.port}"]}}]
""")
    processes("prometheus", f"--config.file={config}",
              f"--storage.tsdb.path={site.folder}/tsdb{port}",
              f"--web.listen-address=127.0.0.1:{port}")

    def query(text):
        try:
            found = get_json(f"http://127.0.0.1:{port}/api/v1/query?query=" +
                             urllib.parse.quote(text))["data"]["result"]
        except OSError:
            return None
        return float(found[0]["value"][1]) if found else None

    return query


def test_prometheus_scrapes_and_the_certificate_changes(site, processes):
    good = prometheus(site, processes, PROMETHEUS, site.authority.certificate)
    bad = prometheus(site, processes, ("prometheus", "x"),
                     site.authority.certificate)
    # The first scrape waits for a hash; later ones do not.
    wait_for("a scrape", lambda: good("max_over_time(up[1h])") == 1)
    wait_for("it is steady", lambda: good("min_over_time(up[1s])") == 1)

    def failed():
        return good("count_over_time(up[1h]) - sum_over_time(up[1h])")

    before = failed()
    for name in ("second", "third", "fourth"):
        scrapes = good("count_over_time(up[1h])")
        site.show(*site.authority.sign(name, HERE))
        wait_for("more scrapes",
                 lambda: good("count_over_time(up[1h])") >= scrapes + 4)
        assert f"CN = {name}" in offered(site)
    assert failed() == before
    assert bad("max_over_time(up[1h])") == 0
    # A key that is not the certificate's: the old pair holds, and it is said.
    site.key.write_bytes(site.authority.key.read_bytes())
    assert "CN = fourth" in offered(site)
    assert "is not that of the certificate" in site.daemon.log.read_text()


def test_prometheus_alerts_of_a_certificate_that_expires(folder, processes):
    rules = yaml.safe_load(
        (ROOT / "deploy/prometheus/nanwatch.rules.yml").read_text())
    alert, = (rule["expr"] for group in rules["groups"]
              for rule in group["rules"]
              if rule.get("alert") == "NanwatchCertificateExpires")
    end = ('nanwatch_tls_certificate_not_after_timestamp_seconds{port="http"}'
           " - time()")
    site = WebSite(folder)
    site.show(*site.authority.sign("old", HERE, days=3, age=60))
    site.start()
    try:
        ask = prometheus(site, processes, PROMETHEUS,
                         site.authority.certificate)
        wait_for("the alert", lambda: ask(alert))
        assert 2 * DAY < ask(alert) < 3 * DAY
        site.show(*site.authority.sign("new", HERE))
        wait_for("it is renewed", lambda: (ask(end) or 0) > 29 * DAY)
        assert ask(alert) is None
    finally:
        site.daemon.kill()


MUTUAL = """
tls_server_config:
  cert_file: nanwatch.crt
  key_file: nanwatch.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: clients.crt
  {more}
http_server_config:
  headers: {{Strict-Transport-Security: max-age=60, X-Frame-Options: deny}}
"""


def test_a_certificate_says_who_it_is(folder):
    site = WebSite(folder, web=MUTUAL.format(more=""))
    (folder / "clients.crt").write_bytes(
        site.authority.certificate.read_bytes())
    site.start()
    try:
        ann = site.authority.sign("a", "email:ann@lab.example,DNS:gpu7")
        late = site.authority.sign("late", "email:ann@lab.example", days=-1)
        foreign = Authority(folder, "foreign").sign("f", "DNS:ann")
        nameless = site.authority.sign("n", "IP:10.0.0.1")
        assert site.json("/api/v1/status", None, client=ann)["user"] == (
            "ann@lab.example")
        _, headers, _ = site.ask("/", None, client=ann)
        assert headers["Strict-Transport-Security"] == "max-age=60"
        assert headers["X-Frame-Options"] == "deny"
        for wrong in (None, late, foreign):
            with pytest.raises((OSError, ssl.SSLError)):
                site.ask("/", None, client=wrong)
        assert site.ask("/", None, client=nameless)[0] == 403
        site.file.write_text(MUTUAL.format(
            more="client_allowed_sans: [gpu7]"))
        site.reload()
        assert site.ask("/", None, client=ann)[0] == 200
        with pytest.raises((OSError, ssl.SSLError)):
            site.ask("/", None, client=nameless)
    finally:
        site.daemon.kill()


def test_the_file_is_read_again(site):
    good = site.file.read_text()
    # Without ann; what does not protect stays out.
    site.file.write_text("\n".join(
        line for line in good.splitlines() if "ann:" not in line))
    site.reload()
    assert site.ask("/", ANN)[0] == 401
    for bad, told in ((good + "rate_limit: {burst: 1}\n", "rate_limit"),
                      ("", "without TLS"),
                      (good[:good.index("basic_auth_users")], "who he is"),
                      (good.replace("nanwatch.crt", "none.crt"), "none.crt")):
        site.file.write_text(bad)
        assert told in site.reload(taken=False)
        assert site.ask("/", ANN)[0] == 401
        assert site.metric("nanwatch_config_last_reload_successful") == 0
    site.file.write_text(good)
    site.reload()
    assert site.ask("/", ANN)[0] == 200
    assert site.metric("nanwatch_config_last_reload_successful") == 1


def test_beyond_the_loopback_is_meant_or_protected(folder):
    for config, told in (("{}", "web.config_file"),
                         ("web: {insecure: false}", "web.insecure"),
                         ("web: {config_file: /none.yml}", "/none.yml"),
                         ("web: {insecure: perhaps}", "web.insecure")):
        for checked in ((), ("--check-config",)):
            said = refused_start(folder, "--listen", "0.0.0.0:0", *checked,
                                 config=config)
            assert told in said
    daemon = Daemon(folder, config="web: {insecure: true}")
    daemon.start(wait=False, extra=("--listen", "0.0.0.0:0"))
    try:
        daemon.http = wait_for("HTTP", lambda: daemon._http_after(0)).replace(
            "0.0.0.0", "127.0.0.1")
        assert "web.insecure is true" in daemon.log.read_text()
        assert daemon.metric("nanwatch_web_insecure") == 1
        assert "without TLS" in get_json(
            daemon.http + "/api/v1/status")["insecure"]
        with browser.chromium() as chromium:
            page = chromium.new_page()
            page.goto(daemon.http)
            page.wait_for_selector("#warning:not([hidden])")
            assert "without TLS" in page.inner_text("#warning")
        assert get(daemon.http + "/-/healthy")
    finally:
        daemon.kill()


def test_the_example_is_what_is_tested():
    """Its users and their password are those of these tests."""
    text = EXAMPLE.read_text()
    assert PASSWORD in text and "ann:" in text and "prometheus:" in text
