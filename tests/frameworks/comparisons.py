"""What tests of level "compare" have in common, whatever the framework."""

import json
import os
import subprocess
import sys

import pytest
import sketch_reference
from daemons import BIN, SOURCE

from nanwatch import _compared_arrays, _sketches

LIBRARY = BIN.parent / "client_lib" / "libnanwatch.so"


@pytest.fixture(autouse=True)
def library(monkeypatch):
    monkeypatch.setenv(_sketches.LIBRARY, str(LIBRARY))
    _sketches.library.cache_clear()
    yield
    _sketches.library.cache_clear()


def compared(daemon, a, b):
    done = daemon.nanwatch("compare", a, b, "--json")
    return done.returncode, json.loads(done.stdout)


def program_says(daemon, command, *program):
    """What `nanwatch fusion` or `repeat` says of a program."""
    done = subprocess.run(
        [BIN / "nanwatch", "--address", daemon.address, command, "--json",
         "--", sys.executable, *map(str, program)],
        capture_output=True, text=True, timeout=500,
        env={**os.environ, "PYTHONPATH": str(SOURCE),
             _sketches.LIBRARY: str(LIBRARY)})
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


def assert_bits_are_those_of_the_text(array_of, tensor, dtype):
    """The digest of a framework's tensor is what proto/SKETCH.md says of its
    bits."""
    array, hidden = array_of(tensor)
    taken = _compared_arrays.take(_sketches.library(), array, hidden)
    assert taken.dtype == dtype
    size = {"fp64": "<u8", "fp32": "<u4", "fp16": "<u2", "bf16": "<u2"}[dtype]
    bits = array.reshape(-1).view(size).tolist()
    assert len(bits) > 1024
    assert taken.sketch.digest == sketch_reference.digest(bits)
    assert any(taken.sketch.sums)
