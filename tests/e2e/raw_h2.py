"""An HTTP/2 connection on which a client may misbehave: frames as they are sent,
and no more of the protocol than gRPC asks for."""

import socket
import struct
import threading

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_HEADERS = 4
INGEST = "/nanwatch.v1.IngestService/Ingest"


def frame(kind, flags, stream, payload=b""):
    return (len(payload).to_bytes(3, "big") + bytes([kind, flags])
            + struct.pack(">I", stream) + payload)


def literal(name, value):
    """A header of HPACK, neither indexed nor packed."""
    def text(s):
        assert len(s) < 127
        return bytes([len(s)]) + s.encode()
    return b"\0" + text(name) + text(value)


class RawH2:
    """One connection. `window`: what the server may send of answers to a
    stream; 0: none at all, so that they wait there."""

    def __init__(self, path, window=0):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        self.changed = threading.Condition()
        self.room = {0: 65535}  # by stream; 0: of the connection
        self.first_room = 65535
        self.over = False  # the server ended the connection
        self.resets = set()  # streams that the server ended
        self.streams = 0
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(
            SETTINGS, 0, 0, struct.pack(">HI", 4, window)))
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def open(self, path=INGEST):
        stream = 2 * self.streams + 1
        self.streams += 1
        with self.changed:
            self.room[stream] = self.first_room
        self.send(frame(HEADERS, END_HEADERS, stream, b"".join(
            literal(*header) for header in (
                (":method", "POST"), (":scheme", "http"), (":path", path),
                (":authority", "localhost"), ("te", "trailers"),
                ("content-type", "application/grpc")))))
        return stream

    def data(self, stream, payload):
        """As much of it as the server takes; how much that was."""
        sent = 0
        while sent < len(payload):
            with self.changed:
                if not self.changed.wait_for(
                        lambda: self.over or stream in self.resets
                        or min(self.room[0], self.room[stream]) > 0, 10):
                    return sent
                if self.over or stream in self.resets:
                    return sent
                n = min(self.room[0], self.room[stream], 16384,
                        len(payload) - sent)
                self.room[0] -= n
                self.room[stream] -= n
            try:
                self.send(frame(DATA, 0, stream, payload[sent:sent + n]))
            except OSError:
                return sent
            sent += n
        return sent

    def _read(self):
        try:
            with self.socket.makefile("rb") as file:
                while True:
                    head = file.read(9)
                    if len(head) < 9:
                        break
                    payload = file.read(int.from_bytes(head[:3], "big"))
                    self._take(head[3], head[4],
                               int.from_bytes(head[5:], "big"), payload)
        except (OSError, ValueError):
            pass
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def _take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & 1:
            self.send(frame(SETTINGS, 1, 0))
            for i in range(0, len(payload), 6):
                key, value = struct.unpack(">HI", payload[i:i + 6])
                if key == 4:
                    with self.changed:
                        for other in self.room:
                            if other:
                                self.room[other] += value - self.first_room
                        self.first_room = value
                        self.changed.notify_all()
        elif kind == PING and not flags & 1:
            self.send(frame(PING, 1, 0, payload))
        elif kind == WINDOW:
            with self.changed:
                if stream in self.room:
                    self.room[stream] += int.from_bytes(payload, "big")
                self.changed.notify_all()
        elif kind == RESET or (kind == HEADERS and flags & 1):
            with self.changed:
                self.resets.add(stream)
                self.changed.notify_all()
