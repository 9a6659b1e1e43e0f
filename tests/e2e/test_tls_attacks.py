"""Connections to the TLS port that never come to a call."""

import contextlib
import resource
import socket

import pytest

from conftest import counted, summary, wait_for
from tls_site import Site, train

MANY = 1000
# A ClientHello of TLS that says it has 512 bytes, and its first.
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
REQUEST = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.fixture
def site(folder):
    it = Site(folder).start()
    yield it
    it.daemon.kill()


@pytest.fixture
def many_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def ended(connection):
    """The other side has closed it."""
    with contextlib.suppress(ConnectionError):
        while True:
            try:
                if connection.recv(4096) == b"":
                    return True
            except BlockingIOError:
                return False
    return True


@pytest.mark.parametrize("sent", [b"", HALF_A_HELLO, REQUEST],
                         ids=["silent", "slow", "plaintext"])
def test_handshakes_that_do_not_end(site, many_files, sent):
    """Others are served meanwhile, and they are cut."""
    told = site.told(token=site.token_files["ann"])
    with contextlib.ExitStack() as stack:
        crowd = []
        for _ in range(MANY):
            one = socket.create_connection(("127.0.0.1", int(site.port)))
            stack.enter_context(one)
            with contextlib.suppress(ConnectionError):
                one.sendall(sent)
            one.setblocking(False)
            crowd.append(one)
        for kind in ("cpp", "python"):
            assert train(kind, site.address, told, f"run-{kind}",
                         wait=20)["acked"] == 5
            assert summary(site.daemon, f"run-{kind}")["owner"] == "ann"
        wait_for("they are cut", lambda: all(map(ended, crowd)), seconds=60,
                 every=0.5)
    # What gRPC says of each is not in the log as often.
    assert len(site.daemon.log.read_text().splitlines()) < 30
    assert counted(site.daemon, "process_resident_memory_bytes") < 500e6
