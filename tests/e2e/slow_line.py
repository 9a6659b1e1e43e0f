"""A line between two places that delays, stalls and is cut: a TCP proxy, since
not each kernel here can make its network do that."""

import contextlib
import selectors
import socket
import threading
import time


class SlowLine:
    """Passes on what comes to `address` to `target`, each (host, port)."""

    def __init__(self, address, target):
        self.target = target
        self.delay = 0.0  # seconds each way
        self.stalled = False
        self.down = False
        self.lines = set()
        self.listener = socket.create_server(address)
        self.address = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = None
            with contextlib.suppress(OSError):
                if not self.down:
                    far = socket.create_connection(self.target, timeout=5)
            if far is None:
                near.close()
                continue
            pair = (near, far)
            self.lines.add(pair)
            for source, sink in pair, pair[::-1]:
                threading.Thread(target=self._pass, daemon=True,
                                 args=(source, sink, pair)).start()

    def _pass(self, source, sink, pair):
        with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            while pair in self.lines:
                if self.stalled:
                    time.sleep(0.01)
                    continue
                if not ready.select(0.1):
                    continue
                got = source.recv(65536)
                if not got:
                    break
                time.sleep(self.delay)
                while self.stalled and pair in self.lines:
                    time.sleep(0.01)
                sink.sendall(got)
        self._end(pair)

    def _end(self, pair):
        self.lines.discard(pair)
        for end in pair:
            # What waits in a call on it is woken so, by close it is not.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self):
        """What is open ends; who comes again is let in."""
        for pair in list(self.lines):
            self._end(pair)

    def close(self):
        self.down = True
        self.listener.close()
        self.cut()
