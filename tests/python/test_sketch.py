"""Digests and sketches by the C library, as the Python client calls it, against
what proto/SKETCH.md says."""

import ctypes
import math
import os
import random
import struct

import pytest
import sketch_reference as reference
from daemons import BIN

from nanwatch import _ops, _sketches

LIBRARY = BIN.parent / "client_lib" / "libnanwatch.so"


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setenv(_sketches.LIBRARY, str(LIBRARY))
    _sketches.library.cache_clear()
    found = _sketches.library()
    assert found is not None, f"{LIBRARY} is not built"
    yield found
    _sketches.library.cache_clear()


def random_numbers(n, dtype, seed=0):
    source = random.Random(seed)
    values = [source.gauss(0, 1) * 2.0 ** source.randint(-8, 8)
              for _ in range(n)]
    return struct.pack(f"<{n}{reference.FORMATS[dtype][1]}", *values)


def of(library, data, part, dtype, real=True):
    buffer = ctypes.create_string_buffer(data, len(data))
    return library.of(
        ctypes.addressof(buffer), part, _ops.DTYPES[dtype], real)


@pytest.mark.parametrize("dtype", reference.FORMATS)
@pytest.mark.parametrize("n", [1, 16, 1023, 1025, 5000])
def test_the_library_does_what_the_text_says(library, dtype, n):
    data = random_numbers(n, dtype)
    got = of(library, data, _sketches.Part(1, n, 0, n), dtype)
    assert got.digest == reference.digest(reference.bits_of(data, dtype))
    values = reference.values_of(data, dtype)
    norm = math.sqrt(math.fsum(v * v for v in values))
    for sum_, want in zip(got.sums, reference.sketch(values)):
        assert abs(sum_ - want) <= 1e-6 * norm


def test_columns_of_two_ranks_add_up_to_the_whole(library):
    rows, columns, left = 24, 50, 18
    data = random_numbers(rows * columns, "fp32")
    values = reference.values_of(data, "fp32")
    whole = of(library, data, _sketches.Part(1, len(values), 0, 0), "fp32")
    parts = []
    for begin, end in ((0, left), (left, columns)):
        shard = [v for i, v in enumerate(values)
                 if begin <= i % columns < end]
        packed = struct.pack(f"<{len(shard)}f", *shard)
        parts.append(of(library, packed, _sketches.Part(
            rows, end - begin, begin, columns), "fp32"))
    assert sum(p.digest for p in parts) & reference.MASK == whole.digest
    norm = math.sqrt(math.fsum(v * v for v in values))
    for a, b, want in zip(parts[0].sums, parts[1].sums, whole.sums):
        assert abs(a + b - want) <= 1e-6 * norm


def test_integers_have_a_digest_alone(library):
    words = [0, 1, 5, 1 << 40, (1 << 64) - 1]
    data = struct.pack("<5Q", *words)
    got = of(library, data, _sketches.Part(1, 5, 0, 5), "fp64", real=False)
    assert got.sums is None
    assert got.digest == reference.digest(words)


def test_elements_that_are_no_numbers_are_not_in_a_sketch(library):
    values = [1.0, math.nan, math.inf, -math.inf, 2.0]
    data = struct.pack("<5f", *values)
    got = of(library, data, _sketches.Part(1, 5, 0, 5), "fp32")
    assert got.sums == tuple(reference.sketch(values))
    assert (got.nan, got.inf) == (1, 2)


def test_without_the_library_there_is_none(monkeypatch):
    monkeypatch.setenv(_sketches.LIBRARY, os.devnull)
    _sketches.library.cache_clear()
    assert _sketches.library() is None
    _sketches.library.cache_clear()
