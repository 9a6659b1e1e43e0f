"""Strings of the contract: UTF-8, at most so many bytes."""

from __future__ import annotations

NAME_BYTES = 512


def clean(text: str, limit: int = NAME_BYTES) -> bytes:
    """`text` cut to `limit` bytes, never within a character; what is no
    character (a lone surrogate) becomes '?'."""
    data = text[:limit].encode("utf-8", "replace")
    if len(data) <= limit:
        return data
    # The bytes of a cut character are the only ones that do not decode.
    return data[:limit].decode("utf-8", "ignore").encode()
