"""Clients that dawdle over HTTPS: in the handshake, in the head, in a body, and in
taking the answer. Others are served, memory stays small, and the daemon ends."""

import base64
import contextlib
import socket
import threading
import time

import pytest

from test_attacks import Memory
from web_site import ANN, PROMETHEUS, WebSite

SECONDS = 5
CROWD = 120
LOGIN = base64.b64encode(":".join(ANN).encode())
HEAD = (b"POST /api/v1/runs/x/annotations HTTP/1.1\r\nHost: localhost\r\n"
        b"Authorization: Basic " + LOGIN + b"\r\n"
        b"Content-Type: application/json\r\nX-Nanwatch: annotate\r\n"
        b"Content-Length: 4000\r\n")
BIG = (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " +
       LOGIN + b"\r\n\r\n")
# Of TLS, that says it has 512 bytes, and its first.
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.fixture
def site(folder):
    it = WebSite(folder).start()
    yield it
    it.daemon.kill()


def dribble(one, over):
    while not over.wait(0.2):
        one.sendall(b"x")


def silent(one, over):
    while not over.wait(0.2):
        pass


SLOW = {
    # What is said in plain text, over TLS, and how it goes on.
    "handshake": (HALF_A_HELLO, None, dribble),
    "head": (b"", HEAD, dribble),
    "body": (b"", HEAD + b"\r\n", dribble),
    "answer": (b"", BIG, silent),
}


def dawdle(site, plain, encrypted, go_on, over, count):
    context = site.context()
    while not over.is_set():
        with contextlib.suppress(OSError), socket.create_connection(
                ("127.0.0.1", site.port), timeout=5) as bare:
            bare.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            if encrypted is None:
                bare.sendall(plain)
                count.append(1)
                go_on(bare, over)
            else:
                with context.wrap_socket(
                        bare, server_hostname="localhost") as one:
                    one.sendall(encrypted)
                    count.append(1)
                    go_on(one, over)


@pytest.mark.parametrize("kind", SLOW)
def test_others_are_served(site, kind):
    # His password is known by now.
    assert site.ask("/metrics", PROMETHEUS)[0] == 200
    assert site.ask("/", ANN)[0] == 200
    memory = Memory(site.daemon)
    over = threading.Event()
    count = []
    crowd = [threading.Thread(target=dawdle, args=(site, *SLOW[kind], over,
                                                   count))
             for _ in range(CROWD)]
    for one in crowd:
        one.start()
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert site.ask("/metrics", PROMETHEUS)[0] == 200
            assert site.ask("/-/healthy", ANN)[0] == 200
        # In the midst of it.
        assert site.daemon.stop(seconds=5) == 0
    finally:
        over.set()
        for one in crowd:
            one.join()
        most = memory.stop()
    print(f"{kind}: {len(count)} connections, {most / 1e6:.0f} MB")
    assert len(count) >= CROWD / 2, "few came through"
    assert most < 500e6
