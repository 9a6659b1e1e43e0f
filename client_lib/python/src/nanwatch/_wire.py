"""Protocol buffers' wire format, as much of it as the contract needs.

Written out rather than generated: columns of numbers are bytes of an `array`,
three times as fast as filling a message, and no version of protobuf that a
framework pins can be in the way. Fields' numbers are of
proto/nanwatch/v1/ingest.proto.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

MASK64 = (1 << 64) - 1
INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


# ------------------------------------------------------------------ writing


def varint(value: int) -> bytes:
    """A negative one takes ten bytes, as int64 does."""
    value &= MASK64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varints(values: Sequence[int]) -> bytes:
    """Of non-negative numbers, one after the other."""
    if not values:
        return b""
    if max(values) < 0x80:
        return bytes(values)
    out = bytearray()
    append = out.append
    for value in values:
        while value > 0x7F:
            append(value & 0x7F | 0x80)
            value >>= 7
        append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def deltas(values: Sequence[int]) -> bytes:
    """First value, then differences, as sint64. Differences wrap around on
    both sides, whatever a caller pushes."""
    differences = [b - a for a, b in zip([0, *values], values)]
    if differences and (
        max(differences) > INT64_MAX or min(differences) < INT64_MIN
    ):
        differences = [
            ((d + (1 << 63)) & MASK64) - (1 << 63) for d in differences
        ]
    return varints([d << 1 if d >= 0 else (-d << 1) - 1 for d in differences])


def _tag(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)


def put_int(number: int, value: int) -> bytes:
    """A varint field, left out where it is 0."""
    return _tag(number, _VARINT) + varint(value) if value else b""


def put_optional_int(number: int, value: int | None) -> bytes:
    """A varint field with presence: 0 is said, None is not."""
    return b"" if value is None else _tag(number, _VARINT) + varint(value)


def put_bytes(number: int, value: bytes) -> bytes:
    """A string, bytes or packed field, left out where it is empty."""
    return put_message(number, value) if value else b""


def put_message(number: int, value: bytes) -> bytes:
    """A message field, said even where it is empty."""
    return _tag(number, _BYTES) + varint(len(value)) + value


def put_fixed64(number: int, value: int) -> bytes:
    return _tag(number, _FIXED64) + value.to_bytes(8, "little")


def put_optional_double(number: int, value: float | None) -> bytes:
    if value is None:
        return b""
    return _tag(number, _FIXED64) + little("d", [value])


def little(kind: str, values: Iterable[int | float]) -> bytes:
    """Values as an array of doubles ("d"), floats ("f") or uint64 ("Q")."""
    column = array(kind, values)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def bits(values: Sequence[object]) -> bytes:
    """A bit a row from the lowest of the first byte; no trailing zero bytes."""
    if not any(values):
        return b""
    text = "".join(["1" if v else "0" for v in values[::-1]])
    number = int(text, 2)
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


# ------------------------------------------------------------------ reading

Field = Union[int, bytes]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & MASK64, at
        shift += 7
        if shift > 63:
            raise ValueError("a varint of more than ten bytes")


def fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """Numbers and values of a message's fields, in their order. ValueError:
    this is no message."""
    at = 0
    try:
        while at < len(data):
            tag, at = _read_varint(data, at)
            kind = tag & 7
            if kind == _VARINT:
                value, at = _read_varint(data, at)
                yield tag >> 3, value
                continue
            if kind == _BYTES:
                size, at = _read_varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                size = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError(f"wire type {kind}")
            if at + size > len(data):
                raise ValueError("a field that goes beyond the end")
            piece = data[at : at + size]
            at += size
            yield (
                tag >> 3,
                piece if kind == _BYTES else int.from_bytes(piece, "little"),
            )
    except IndexError:
        raise ValueError("a message that ends in a varint") from None


class Message:
    """A message as it was read; the last of repeated fields counts."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, Field] = {}
        self._all: list[tuple[int, Field]] = list(fields(data))
        self._fields.update(self._all)

    def has(self, number: int) -> bool:
        return number in self._fields

    def integer(self, number: int) -> int:
        value = self._fields.get(number, 0)
        return value if isinstance(value, int) else 0

    def signed(self, number: int) -> int:
        value = self.integer(number)
        return value - (1 << 64) if value > INT64_MAX else value

    def blob(self, number: int) -> bytes:
        value = self._fields.get(number, b"")
        return value if isinstance(value, bytes) else b""

    def text(self, number: int) -> str:
        return self.blob(number).decode("utf-8", "replace")

    def blobs(self, number: int) -> list[bytes]:
        """A repeated message field."""
        return [v for n, v in self._all if n == number and isinstance(v, bytes)]

    def integers(self, number: int) -> list[int]:
        """A repeated varint field, packed or not."""
        found: list[int] = []
        for n, value in self._all:
            if n != number:
                continue
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                one, at = _read_varint(value, at)
                found.append(one)
        return found
