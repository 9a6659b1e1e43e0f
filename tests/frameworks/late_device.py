"""A device whose copies arrive three steps later, in place of the CPU, for
frameworks whose modules start a copy by `_start` and ask `_on_host`."""

import contextlib

from nanwatch._arrivals import Copied


class _Event:
    def __init__(self, device):
        self.device, self.due = device, device.clock + 3

    def query(self):
        return self.device.clock >= self.due

    def synchronize(self):
        """Only where the run is flushed or closed."""


class LateDevice:
    """Its clock counts steps."""

    def __init__(self, monkeypatch, module, tensor, ways):
        """Of `module`; nothing of a `tensor` is read in one of these ways but
        what arrived, while it is `asked` only."""
        self.clock = 0
        self._may_read = True
        monkeypatch.setattr(module, "_on_host", lambda tensor: False)
        monkeypatch.setattr(
            module, "_start", lambda flat: (flat, _Event(self)))
        for way in ways:
            monkeypatch.setattr(tensor, way, self._reader(tensor, way))
        arrived = Copied.read

        def read_what_arrived(copy):
            with self._reading(True):
                return arrived(copy)

        monkeypatch.setattr(Copied, "read", read_what_arrived)

    def _reader(self, tensor, way):
        old = getattr(tensor, way)

        def read(of, *more):
            assert self._may_read, f"{way}() waits for the device"
            return old(of, *more)

        return read

    @contextlib.contextmanager
    def _reading(self, may):
        was, self._may_read = self._may_read, may
        try:
            yield
        finally:
            self._may_read = was

    @contextlib.contextmanager
    def asked(self):
        """A step ends here, and is told of."""
        with self._reading(False):
            yield
        self.clock += 1

    def hear(self, watch):
        """(Step, the clock) of all that is told of, as it comes."""
        told, tell = [], watch._pending._tell
        watch._pending._tell = lambda it: (
            told.append((it.number, self.clock)), tell(it))
        return told
