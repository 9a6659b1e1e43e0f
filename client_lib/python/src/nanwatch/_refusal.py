"""A refusal's codes (RefusalCode of the wire contract), and its pause."""

from __future__ import annotations

from nanwatch._wire import Message

BUSY = 2
LIMIT = 3
UNKNOWN_SESSION = 4
OUT_OF_SEQUENCE = 5
SHUTTING_DOWN = 6

_RETRY_LEAST, _RETRY_MOST = 0.01, 60.0  # seconds


def retry_after(refusal: Message) -> float:
    """The seconds until the client may try again."""
    return min(max(refusal.integer(5) / 1000, _RETRY_LEAST), _RETRY_MOST)
