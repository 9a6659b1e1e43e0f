"""A wall clock that a test sets, of the programs that run in its environment."""

import struct

from conftest import BIN

SHIM = BIN / "libnanwatch_set_clock.so"


class Clock:
    def __init__(self, folder):
        assert SHIM.exists()
        self.file = folder / "clock"
        self.file.write_bytes(bytes(8))
        self.environment = {"LD_PRELOAD": str(SHIM),
                            "NANWATCH_TEST_CLOCK": str(self.file)}

    def set(self, seconds):
        """So much ahead of the machine's."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=q", int(seconds * 1e6)))
