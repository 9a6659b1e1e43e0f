"""Certificates and tokens that change while trainings send, and ports that ask
for one of them only."""

import re
import time

import grpc
import pytest

from clock import Clock
from conftest import get, summary, wait_for
from tls_site import HERE, Authority, Site, begin, end, handshake_failed
from tls_site import offered, refused, steps_of, train

both = pytest.mark.parametrize("kind", ["cpp", "python"])
DAY = 86400


def shown(site):
    """The certificate of a new connection."""
    told = offered(site)
    return told[told.index("-----BEGIN"):told.index("-----END")]


def loaded(kind, site, told):
    """A training of 4 s that has begun to send."""
    load = begin(kind, site.address, told, "load", steps=400, pause=0.01,
                 wait=20)
    wait_for("records", lambda: steps_of(site, "load") > 20)
    return load


@both
def test_a_token_is_changed_under_load(kind, folder):
    """Nothing is cut, the old one is nobody's from then on."""
    site = Site(folder).start()
    try:
        told = site.told(token=site.token_files["ann"])
        load = loaded(kind, site, told)
        old = folder / "old.token"
        old.write_text(site.known["ann"])
        site.give("ann")
        assert "known" in refused(kind, site.address, site.told(token=old))
        assert train(kind, site.address, told, "after")["acked"] == 5
        # A file that is half written changes nothing.
        good = site.tokens.read_text()
        site.tokens.write_text(good[:-10])
        assert train(kind, site.address, told, "half")["acked"] == 5
        outcome = end(load)
        assert outcome["acked"] == 400 and outcome["reconnects"] == 0
        assert int(summary(site.daemon, "load")["steps"]) == 400
    finally:
        site.daemon.kill()


@both
def test_the_certificate_is_changed_under_load(kind, folder):
    site = Site(folder).start()
    try:
        told = site.told(token=site.token_files["ann"])
        load = loaded(kind, site, told)
        first = shown(site)
        site.show(*site.authority.sign("second", HERE))
        second = shown(site)
        assert second != first
        # A key that is not the certificate's: the old pair holds.
        site.key.write_bytes(site.authority.key.read_bytes())
        assert shown(site) == second
        assert "is not that of the certificate" in site.daemon.log.read_text()
        assert train(kind, site.address, told, "after")["acked"] == 5
        outcome = end(load)
        assert outcome["acked"] == 400 and outcome["reconnects"] == 0
    finally:
        site.daemon.kill()


@both
def test_a_certificate_expires_while_a_stream_is_open(kind, folder):
    """It goes on, as who renews a certificate is not cut. Nothing new begins,
    on an old connection neither."""
    site = Site(folder)
    clock = Clock(folder)
    site.daemon.environment.update(clock.environment)
    site.start()
    try:
        cert, key = site.authority.sign("node", "DNS:node-7", days=10)
        told = site.told(cert=cert, key=key)
        shown = grpc.ssl_channel_credentials(
            site.authority.certificate.read_bytes(), key.read_bytes(),
            cert.read_bytes())
        with grpc.secure_channel(f"localhost:{site.port}", shown) as channel:
            ask = channel.unary_unary("/nanwatch.v1.QueryService/ListRuns")
            ask(b"", timeout=60)
            load = loaded(kind, site, told)
            clock.set(20 * DAY)
            assert steps_of(site, "load") < 400
            with pytest.raises(grpc.RpcError) as late:
                ask(b"", timeout=60)
        assert late.value.code() == grpc.StatusCode.UNAUTHENTICATED
        assert "expired" in late.value.details()
        assert handshake_failed(refused(kind, site.address, told))
        site.authority.sign("node", "DNS:node-7", days=30)
        assert train(kind, site.address, told, "after")["acked"] == 5
        outcome = end(load)
        assert outcome["acked"] == 400 and outcome["reconnects"] == 0
    finally:
        site.daemon.kill()


@both
def test_where_there_are_no_tokens_a_certificate_is_needed(kind, folder):
    site = Site(folder, tokens=False).start()
    try:
        assert handshake_failed(refused(kind, site.address, site.told(
            token=site.token_files["ann"])))
        cert, key = site.authority.sign("node", "DNS:node-7")
        told = site.told(cert=cert, key=key)
        assert train(kind, site.address, told, "run")["acked"] == 5
        # Another authority, without a restart: the old one's are not taken.
        other = Authority(folder, "other")
        site.client_ca.write_bytes(other.certificate.read_bytes())
        assert handshake_failed(refused(kind, site.address, told))
        cert, key = other.sign("node", "DNS:node-8")
        assert train(kind, site.address, site.told(cert=cert, key=key),
                     "next")["acked"] == 5
        assert summary(site.daemon, "next")["owner"] == "node-8"
    finally:
        site.daemon.kill()


@both
def test_where_no_authority_of_clients_is_named_a_token_is_needed(kind, folder):
    site = Site(folder, client_ca=False).start()
    try:
        cert, key = site.authority.sign("node", "DNS:node-7")
        assert "NANWATCH_TOKEN_FILE" in refused(
            kind, site.address, site.told(cert=cert, key=key))
        token = site.token_files["ann"]
        assert train(kind, site.address, site.told(
            cert=cert, key=key, token=token), "run")["acked"] == 5
        assert summary(site.daemon, "run")["owner"] == "ann"
    finally:
        site.daemon.kill()


@both
@pytest.mark.parametrize("names,days", [
    ("DNS:elsewhere.example", 30), (HERE, -1)], ids=["name", "expired"])
def test_a_server_whose_certificate_is_wrong(kind, folder, names, days):
    site = Site(folder)
    site.show(*site.authority.sign("wrong", names, days))
    site.start()
    try:
        assert handshake_failed(refused(
            kind, site.address, site.told(token=site.token_files["ann"])))
        assert ("has expired" in site.daemon.log.read_text()) == (days < 0)
        # The clients are fine: with the right one it works, without a restart.
        site.show(*site.authority.sign("right", HERE))
        assert train(kind, site.address,
                     site.told(token=site.token_files["ann"]),
                     "run")["acked"] == 5
    finally:
        site.daemon.kill()


def days_left(site):
    """{port: days} of the certificates that the metrics know."""
    text = get(site.daemon.http + "/metrics")
    return {port: round((float(end) - time.time()) / DAY)
            for port, end in re.findall(
                r'^nanwatch_tls_certificate_not_after_timestamp_seconds'
                r'{port="(\w+)"} (\S+)$', text, re.M)}


def test_metrics_say_when_the_certificate_expires(folder):
    """Also of a port where nobody connects: a scrape looks at the files."""
    site = Site(folder).start()
    try:
        assert days_left(site) == {"ingest": 30}
        assert "expires soon" not in site.daemon.log.read_text()
        site.show(*site.authority.sign("short", HERE, days=3, age=60))
        assert days_left(site) == {"ingest": 3}
        assert "expires soon" in site.daemon.log.read_text()
        # The metric is of what the port shows: this key is another one's.
        site.show(site.authority.sign("long", HERE)[0], site.authority.key)
        assert days_left(site) == {"ingest": 3}
        # One of the chain that expires first counts.
        certificate, key = site.authority.sign("chain", HERE)
        between, _ = site.authority.sign("between", HERE, days=2)
        with certificate.open("ab") as chain:
            chain.write(between.read_bytes())
        site.show(certificate, key)
        assert days_left(site) == {"ingest": 2}
        site.show(*site.authority.sign("right", HERE))
        assert days_left(site) == {"ingest": 30}
    finally:
        site.daemon.kill()
