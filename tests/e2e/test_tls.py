"""Trainings on other hosts: TLS, certificates and tokens, with a real daemon,
real certificates and the clients of both languages."""

import hashlib
import os
import re
import secrets
import subprocess

import pytest

from conftest import BIN, Daemon, counted, get, refused_start, summary
from tls_site import HERE, Authority, Site, handshake_failed, offered
from tls_site import refused, train


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    it = Site(tmp_path_factory.mktemp("tls")).start()
    yield it
    it.daemon.kill()


both = pytest.mark.parametrize("kind", ["cpp", "python"])


@both
def test_a_token_says_who_opens_a_run(site, kind):
    outcome = train(kind, site.address,
                    site.told(token=site.token_files["ann"]), f"token-{kind}")
    assert outcome["acked"] == 5, outcome
    assert summary(site.daemon, f"token-{kind}")["owner"] == "ann"


@both
@pytest.mark.parametrize("alternative,name", [
    ("DNS:node-7.cluster", "node-7.cluster"),
    ("DNS:node-7.cluster,URI:spiffe://cluster/ann", "spiffe://cluster/ann"),
    ("DNS:x,URI:spiffe://y,email:ann@example.org", "ann@example.org"),
])
def test_a_certificate_says_who_opens_a_run(site, kind, alternative, name):
    cert, key = site.authority.sign("client", alternative)
    run = f"certificate-{kind}-{name.replace('/', '.')}"
    outcome = train(kind, site.address, site.told(cert=cert, key=key), run)
    assert outcome["acked"] == 5, outcome
    assert summary(site.daemon, run)["owner"] == name


@both
def test_who_says_nothing_is_told_what_to_do(site, kind):
    why = refused(kind, site.address, site.told())
    assert "NANWATCH_TOKEN_FILE" in why and "NANWATCH_CERT" in why


@both
def test_a_token_of_nobody(site, kind, folder):
    token = folder / "token"
    token.write_text(secrets.token_hex(32))
    why = refused(kind, site.address, site.told(token=token))
    assert "token" in why and token.read_text() not in why
    assert "known" in why
    assert counted(site.daemon, "nanwatch_ingest_refusals_total",
                   code="unauthenticated") > 0
    assert "refused a caller" in site.daemon.log.read_text()


@both
def test_a_certificate_without_a_name(site, kind):
    cert, key = site.authority.sign("client", "IP:127.0.0.9")
    why = refused(kind, site.address, site.told(cert=cert, key=key))
    assert "certificate" in why and "name" in why


@both
def test_a_server_of_another_authority_is_not_believed(site, kind, folder):
    other = Authority(folder, "other")
    token = site.token_files["ann"]
    run = f"other-{kind}"
    why = refused(kind, site.address,
                  site.told(ca=other.certificate, token=token), run)
    assert handshake_failed(why) and "not signed by NANWATCH_CA" in why
    # Nor are the machine's authorities asked for one that is not theirs.
    why = refused(kind, site.address, site.told(ca=None, token=token), run)
    assert handshake_failed(why) and "set NANWATCH_CA" in why
    assert run not in site.daemon.nanwatch("runs").stdout


@both
@pytest.mark.parametrize("wrong", ["authority", "expired"])
def test_a_client_whose_certificate_is_wrong(site, kind, wrong, folder):
    if wrong == "authority":
        cert, key = Authority(folder, "other").sign("client", "DNS:node")
    else:
        cert, key = site.authority.sign("late", "DNS:node", days=-1)
    # The token would do; a wrong certificate is refused all the same.
    why = refused(kind, site.address,
                  site.told(cert=cert, key=key, token=site.token_files["ann"]))
    assert handshake_failed(why) and "NANWATCH_CERT" in why


@both
def test_plaintext_and_tls_do_not_mix(site, kind, folder):
    token = {"NANWATCH_TOKEN_FILE": str(site.token_files["ann"])}
    assert "tls://" in refused(kind, f"127.0.0.1:{site.port}", token)
    (folder / "plain").mkdir()
    plain = Daemon(folder / "plain", config=f"""
ingest: {{tcp: "127.0.0.1:0", tokens: {site.tokens}}}
""").start()
    try:
        address = re.findall(r"ingest=\S+,(\S+)", plain.log.read_text())[-1]
        assert handshake_failed(refused(
            kind, "tls://" + address, site.told(**{
                "token": site.token_files["ann"]})))
        # On the loopback a token is asked for, too.
        assert "NANWATCH_TOKEN_FILE" in refused(kind, address, {})
        assert train(kind, address, token, "plain")["acked"] == 5
        assert summary(plain, "plain")["owner"] == "ann"
    finally:
        plain.kill()


@both
def test_files_that_are_wrong_are_named(site, kind, folder):
    for more, said in (
            ({"cert": site.certificate, "key": site.authority.key},
             "NANWATCH_KEY is not the key"),
            ({"ca": folder / "none"}, "NANWATCH_CA"),
            ({"cert": site.certificate}, "NANWATCH_CERT and NANWATCH_KEY"),
            ({"token": folder / "none"}, "NANWATCH_TOKEN_FILE"),
            ({"token": site.certificate}, "NANWATCH_TOKEN_FILE")):
        assert said in refused(kind, site.address, site.told(**more))


def test_old_versions_of_tls_are_refused(site):
    for flag, taken in (("-tls1_3", True), ("-tls1_2", True),
                        ("-tls1_1", False), ("-tls1", False)):
        said = offered(site, flag, "-cipher", "DEFAULT@SECLEVEL=0")
        assert ("New, TLSv1" in said) == taken, said
        assert ("BEGIN CERTIFICATE" in said) == taken, said
        if not taken:
            # It is the server that ended it.
            assert "CONNECTED" in said and "read 0 bytes" in said, said


def nanwatch(site, who, *words):
    return subprocess.run(
        [str(BIN / "nanwatch"), "--address", site.address, *words],
        capture_output=True, text=True, timeout=60,
        env={**os.environ, **site.told(token=site.token_files[who])})


@both
def test_another_changes_nothing_of_a_run(site, kind):
    run = f"anns-{kind}"
    train(kind, site.address, site.told(token=site.token_files["ann"]), run)
    why = refused(kind, site.address,
                  site.told(token=site.token_files["bob"]), run)
    assert "belongs to ann" in why
    assert train(kind, site.address,
                 site.told(token=site.token_files["chief"]), run)["acked"] == 5
    assert summary(site.daemon, run)["owner"] == "ann"


def test_commands_speak_tls(site):
    train("cpp", site.address, site.told(token=site.token_files["ann"]), "open")
    assert "open" in nanwatch(site, "bob", "runs").stdout
    late = dict(zip(("cert", "key"),
                    site.authority.sign("gone", "DNS:node", days=-1)))
    for address, told, said in (
            (site.address, {}, "NANWATCH_TOKEN_FILE"),
            (site.address, {"ca": None}, "set NANWATCH_CA"),
            (site.address, {"ca": site.client_ca, **late}, "NANWATCH_CERT may"),
            (site.address, {**late, "key": site.key}, "NANWATCH_KEY is not"),
            (f"127.0.0.1:{site.port}", {}, "tls://")):
        nobody = subprocess.run(
            [str(BIN / "nanwatch"), "--address", address, "runs"],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, **site.told(**told)})
        assert nobody.returncode != 0
        # A sentence, and nothing of gRPC's own.
        assert said in nobody.stderr and nobody.stderr.count("\n") == 1


def test_no_secret_is_shown(site):
    texts = [site.daemon.log.read_text(), site.daemon.metrics(),
             site.daemon.nanwatch("runs", "--json").stdout]
    for path in ("/api/v1/status", "/api/v1/runs"):
        texts.append(get(site.daemon.http + path))
    for token in site.known.values():
        hashed = hashlib.sha256(token.encode()).hexdigest()
        assert not any(token in text or hashed in text
                       for text in texts)


@pytest.mark.parametrize("ingest,said", [
    ('tcp: "0.0.0.0:0"', "ingest.tls"),
    ('tcp: "127.0.0.1:0"', "tcp_anonymous"),
    ('tcp: "127.0.0.1:0", tls: {certificate: /c}', "ingest.tls.key"),
    ('tcp: "127.0.0.1:0", tls: {certificate: /c, key: /k}', "client_ca"),
    ('tcp: "127.0.0.1:0", tcp_anonymous: true, tokens: /t', "tcp_anonymous"),
    ('tls: {certificate: /c, key: /k}, tokens: /t', "ingest.tcp"),
])
def test_what_does_not_go_together(folder, ingest, said):
    assert said in refused_start(folder, config=f"ingest: {{{ingest}}}\n")


def test_files_that_are_not_there(folder):
    authority = Authority(folder)
    cert, key = authority.sign("server", HERE)
    _, other = authority.sign("other", HERE)
    tokens = folder / "tokens"
    tokens.write_text(f"ann {'0' * 64}\n")
    wrong = folder / "wrong"
    wrong.write_text(f"# one\nann nothash\n")
    for certificate, its_key, file, said in (
            (folder / "none", key, tokens, "none"),
            (cert, other, tokens, "is not that of"),
            (key, key, tokens, "holds no certificate"),
            (cert, key, wrong, "line 2"),
            (cert, key, folder / "no tokens", "no tokens")):
        told = refused_start(folder, config=f"""
ingest:
  tcp: "127.0.0.1:0"
  tokens: {file}
  tls: {{certificate: {certificate}, key: {its_key}}}
""")
        assert said in told, told
        checked = subprocess.run(
            [str(BIN / "nanwatch"), "check-config",
             str(folder / "nanwatch.yaml")], capture_output=True, text=True,
            timeout=60)
        assert checked.returncode == 2 and said in checked.stderr
        assert "nothash" not in told + checked.stderr
