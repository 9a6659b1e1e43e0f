"""Digests and sketches of tensors on the host, by the C library: see
proto/SKETCH.md. Where the library is not there, there are none: in Python they
would take a hundred times as long as the tensors took to compute."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from typing import Any, NamedTuple

from nanwatch import _ops

# Where the library lies, if not where the system looks for libraries.
LIBRARY = "NANWATCH_LIBRARY"
_NAMES = ("libnanwatch.so.0", "libnanwatch.so")
MISSING = (
    'level="compare" needs the C library for digests and sketches: '
    f"install {_NAMES[0]}, or name it by {LIBRARY}; "
    "without it this run is not recorded for a comparison"
)
_DIGEST, _SKETCH = 1 << 5, 1 << 6  # NANWATCH_OBSERVE_*
# A digest is of bits: what has as many is taken for integers.
BY_BYTES = {1: "fp8_e4m3", 2: "fp16", 4: "fp32", 8: "fp64"}


class Sketch(NamedTuple):
    digest: int
    sums: tuple[float, ...] | None  # None: of integers, which have none
    nan: int = 0  # elements that are not in the sums
    inf: int = 0


class Part(NamedTuple):
    """Of a whole in row-major order: `rows` rows of `columns` elements each,
    the first at number `first`, each `stride` numbers behind the one before."""

    rows: int
    columns: int
    first: int
    stride: int


class _Sums(ctypes.Structure):
    _fields_ = (
        ("digest", ctypes.c_uint64),
        ("sums", ctypes.c_double * _ops.SKETCH_SUMS),
        ("nan", ctypes.c_uint64),
        ("inf", ctypes.c_uint64),
    )


_Floats = ctypes.c_float * _ops.SKETCH_SUMS


class Library:
    def __init__(self, library: ctypes.CDLL) -> None:
        size, count = ctypes.c_size_t, ctypes.c_uint64
        self._add = library.nanwatch_sketch_add_rows
        self._add.argtypes = (
            *(ctypes.POINTER(_Sums), ctypes.c_void_p, size, size, size),
            *(ctypes.c_int, ctypes.c_uint, count, count),
        )
        self._add.restype = ctypes.c_int
        self._floats = library.nanwatch_sketch_floats
        self._floats.argtypes = (
            ctypes.POINTER(_Sums),
            ctypes.POINTER(ctypes.c_float),
        )
        self._floats.restype = None

    def of(self, address: int, part: Part, dtype: int, real: bool) -> Sketch:
        """Of a contiguous buffer. `dtype`: of the wire; `real`: they are
        numbers of that format, not integers of as many bits."""
        sums = _Sums()
        what = _DIGEST | _SKETCH if real else _DIGEST
        self._add(
            sums,
            address,
            part.rows,
            part.columns,
            part.columns,
            dtype,
            what,
            part.first,
            part.stride,
        )
        if not real:
            return Sketch(sums.digest, None)
        floats = _Floats()
        self._floats(sums, floats)
        return Sketch(sums.digest, tuple(floats), sums.nan, sums.inf)


@functools.lru_cache(maxsize=1)
def library() -> Library | None:
    """None: it is not there, or an older one."""
    for name in _places():
        try:
            return Library(ctypes.CDLL(name))
        except (OSError, AttributeError):
            continue
    return None


def _places() -> list[Any]:
    given = os.environ.get(LIBRARY)
    if given:
        return [given]
    found = ctypes.util.find_library("nanwatch")
    return [*([found] if found else []), *_NAMES]
