"""Certificates of the right authority whose names are none: refused, and shown to
nobody as they are."""

import json

import pytest

from conftest import counted, summary
from test_web_config import MUTUAL
from tls_site import Site, refused, train
from web_site import WebSite

# Of RFC 5280, as tagged in DER.
EMAIL, DNS, URI = 0x81, 0x82, 0x86
HOSTILE = {
    "newline": (EMAIL, b"ann\n2026-01-01 error all is lost"),
    "return": (URI, b"spiffe://a\r\nX: y"),
    "escape": (EMAIL, b"ann\x1b[31m@lab"),
    "c1": (DNS, b"ann\x9b31m"),
    "bidi": (EMAIL, "ann\u202egro.lab@".encode()),
    "zero": (EMAIL, b"chief\x00@evil.example"),
    "space": (DNS, b"uid 0"),
    "wildcard": (DNS, b"*.cluster"),
    "quote": (URI, b'a"}\n<script>alert(1)</script>'),
    "empty": (EMAIL, b""),
    "long": (DNS, b"a" * 129),
    "very_long": (EMAIL, b"a" * 20000),
}


def length(size):
    if size < 128:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


def alternative(*names):
    """subjectAltName with any bytes, in openssl's words."""
    inside = b"".join(bytes([kind]) + length(len(name)) + name
                      for kind, name in names)
    return "DER:" + (b"\x30" + length(len(inside)) + inside).hex(":")


def is_plain(text):
    return all(byte == 0x0a or 0x20 <= byte < 0x7f for byte in text)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    it = Site(tmp_path_factory.mktemp("names"))
    it.audit = it.folder / "audit.jsonl"
    it.daemon.config.write_text(
        it.daemon.config.read_text() + f"audit: {{file: {it.audit}}}\n")
    yield it.start()
    it.daemon.kill()


@pytest.mark.parametrize("name", HOSTILE)
def test_over_grpc(site, name):
    before = counted(site.daemon, "nanwatch_ingest_refusals_total",
                     code="unauthenticated")
    cert, key = site.authority.sign(name, alternative(HOSTILE[name]))
    why = refused("cpp", site.address, site.told(cert=cert, key=key))
    assert "certificate" in why and "(SAN)" in why, why
    assert counted(site.daemon, "nanwatch_ingest_refusals_total",
                   code="unauthenticated") > before
    # A name that is good does not stand for one before it that is not.
    cert, key = site.authority.sign(
        name, alternative(HOSTILE[name], (HOSTILE[name][0], b"chief")))
    why = refused("cpp", site.address, site.told(cert=cert, key=key))
    assert "(SAN)" in why, why
    assert is_plain(site.daemon.log.read_bytes())
    audit = site.audit.read_bytes()
    assert is_plain(audit)
    assert all(json.loads(line)["who"] == "" for line in audit.splitlines()
               if json.loads(line)["kind"] == "refusal")
    assert "never" not in site.daemon.nanwatch("runs").stdout


def test_over_http(folder):
    site = WebSite(folder, web=MUTUAL.format(more=""),
                   more=f"audit: {{file: {folder}/audit.jsonl}}")
    (folder / "clients.crt").write_bytes(
        site.authority.certificate.read_bytes())
    site.start()
    try:
        for name, one in HOSTILE.items():
            client = site.authority.sign(name, alternative(one))
            status, _, text = site.ask("/api/v1/runs", None, client=client)
            assert status == 403 and "(SAN)" in text, name
            assert is_plain(text.encode())
        # Of no name at all.
        client = site.authority.sign("none", "IP:10.0.0.1")
        assert site.ask("/", None, client=client)[0] == 403
        good = site.authority.sign("good", alternative((EMAIL, b"ann@lab")))
        assert site.json("/api/v1/status", None, client=good)[
            "user"] == "ann@lab"
        assert is_plain((folder / "audit.jsonl").read_bytes())
        assert is_plain(site.daemon.log.read_bytes())
    finally:
        site.daemon.kill()


def test_the_name_of_root_is_no_admin(site):
    cert, key = site.authority.sign("root", alternative((DNS, b"root")))
    train("cpp", site.address, site.told(token=site.token_files["ann"]), "anns")
    why = refused("cpp", site.address, site.told(cert=cert, key=key), "anns")
    assert "belongs to ann" in why
    assert summary(site.daemon, "anns")["owner"] == "ann"
