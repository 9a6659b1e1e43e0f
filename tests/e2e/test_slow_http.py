"""Clients that dawdle over HTTP keep nobody else waiting."""

import contextlib
import socket
import threading

from conftest import get


@contextlib.contextmanager
def half_open(daemon, count):
    """Connections that send a request's head byte by byte, and begin again
    when they are cut off."""
    host, port = daemon.http.removeprefix("http://").split(":")
    done = threading.Event()

    def dawdle():
        while not done.is_set():
            with contextlib.suppress(OSError), socket.create_connection(
                    (host, int(port)), timeout=5) as slow:
                for byte in b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 10_000:
                    slow.send(bytes([byte]))
                    if done.wait(0.2):
                        return

    threads = [threading.Thread(target=dawdle) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_metrics_answers_beside_twenty_half_open_connections(daemon):
    with half_open(daemon, 20):
        for _ in range(5):
            # Half of what Prometheus gives a scrape by default.
            assert "nanwatch_ready" in get(daemon.http + "/metrics", seconds=5)


def test_a_reader_that_never_reads_is_cut_off_alone(daemon):
    host, port = daemon.http.removeprefix("http://").split(":")
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            slow = open_ones.enter_context(socket.create_connection(
                (host, int(port)), timeout=5))
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert "nanwatch_ready" in get(daemon.http + "/metrics", seconds=5)
