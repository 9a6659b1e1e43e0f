"""What became of a run's records."""

from __future__ import annotations

from typing import NamedTuple


class Stats(NamedTuple):
    """Records are steps and ops together."""

    connected: bool  # the daemon answered the handshake
    pushed: int
    sent: int  # at least once
    acked: int
    dropped: int  # no room, too old to resend, or refused
    # The part of `dropped` that the daemon refused, or that it would have
    # refused a whole batch for: that one was not sent, the others were.
    refused: int
    reconnects: int
    # The part of `acked` that the daemon judged but could not keep.
    not_durable: int
    bad_input: int  # arguments and calls that were left out
    run_id: str  # as the daemon knows it; empty until it answered
    attempt: int
    # The newest trouble, a sentence; empty: none. Of the connection first, also
    # of a daemon that owes an answer for a second; then of what was said and
    # could not be taken.
    error: str
