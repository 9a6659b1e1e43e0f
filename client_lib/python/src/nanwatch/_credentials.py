"""By what a connection over TCP is encrypted, and who speaks on it. What every
client does is the same; tests/e2e/test_tls.py holds them together."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from nanwatch._socket_file import why_not_there

_TLS = "tls://"
# A bundle of the web's authorities has 200 KB.
_FILE_MOST = 4 << 20
# A header of gRPC's has at most 8 KB, all together.
_TOKEN_MOST = 4096
_LOOPBACK = (
    "127.",
    "localhost:",
    "[::1]:",
    "ipv4:127.",
    "ipv6:[::1]:",
    "dns:localhost:",
)


@dataclass
class Credentials:
    tls: bool
    target: str  # the address in gRPC's notation
    ca: bytes | None = None  # None: the system's authorities
    certificate: bytes | None = None
    key: bytes | None = None
    token: str = ""  # empty: none is said


def read_credentials(
    address: str, environment: Mapping[str, str]
) -> Credentials:
    """Reads what `address` asks for: all for "tls://HOST:PORT"; of others a
    token, and only for the loopback, since it would be read on the way. Raises
    ValueError, a sentence. Read for each connection, so that files may change
    meanwhile."""
    if not address.startswith(_TLS):
        it = Credentials(False, address)
        if address.startswith(_LOOPBACK):
            it.token = _token(environment)
        return it
    it = Credentials(True, address[len(_TLS) :])
    if bool(environment.get("NANWATCH_CERT")) != bool(
        environment.get("NANWATCH_KEY")
    ):
        raise ValueError(
            "NANWATCH_CERT and NANWATCH_KEY go together: set both, or none"
        )
    it.ca = _file("NANWATCH_CA", environment)
    it.certificate = _file("NANWATCH_CERT", environment)
    it.key = _file("NANWATCH_KEY", environment)
    it.token = _token(environment)
    return it


def find_way(address: str) -> tuple[Credentials, str]:
    """What to dial, and why it is of no use, a sentence; empty: it may be of
    some."""
    why = why_not_there(address)
    if not why:
        try:
            return read_credentials(address, os.environ), ""
        except ValueError as error:
            why = str(error)
    return Credentials(False, address), why


def advice(it: Credentials, said: str) -> str:
    """What to look at where no connection came to be and gRPC said so much of
    it; empty: that is not known here."""
    # OpenSSL's words, and BoringSSL's.
    if re.search("certificate.verify.failed", said, re.IGNORECASE):
        if it.ca is None:
            return (
                "set NANWATCH_CA to the authority that signed the daemon's "
                "certificate"
            )
        return (
            "the daemon's certificate is not signed by NANWATCH_CA, or has "
            "expired"
        )
    if it.tls and "empty address list" in said:
        return (
            "NANWATCH_KEY is not the key of NANWATCH_CERT, or a file holds "
            "something else"
        )
    if "failed to connect" not in said or "Socket closed" not in said:
        return ""
    if not it.tls:
        if it.target.startswith("unix:"):
            return ""
        return "it may speak TLS: then the address begins with tls://"
    if it.certificate is None:
        return "it may ask for a certificate: NANWATCH_CERT, NANWATCH_KEY"
    return (
        "NANWATCH_CERT may have expired, or an authority that the daemon does "
        "not know signed it"
    )


def _file(variable: str, environment: Mapping[str, str]) -> bytes | None:
    path = environment.get(variable)
    if not path:
        return None
    try:
        # Not a pipe that nobody writes to.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError(f"{variable} {path} cannot be read: it is no file")
        with open(path, "rb") as file:
            text = file.read(_FILE_MOST + 1)
    except OSError as error:
        raise ValueError(
            f"{variable} {path} cannot be read: {error.strerror}"
        ) from None
    if len(text) > _FILE_MOST:
        raise ValueError(f"{variable} {path} is too large")
    return text


def _token(environment: Mapping[str, str]) -> str:
    """A line; what an editor puts after it does not count."""
    text = _file("NANWATCH_TOKEN_FILE", environment)
    if text is None:
        return ""
    token = text.rstrip(b" \t\r\n")
    if len(token) > _TOKEN_MOST or not re.fullmatch(rb"[\w.~+/=-]+", token):
        raise ValueError(
            f"NANWATCH_TOKEN_FILE {environment['NANWATCH_TOKEN_FILE']} holds "
            "no token: one line of letters, digits and any of -._~+/="
        )
    return token.decode("ascii")
