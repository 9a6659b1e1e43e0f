"""The messages of a session that the daemon has not acknowledged, in order. A
message's sequence is its place, so nothing is stored twice and a daemon that
lost its history is served from where it is."""

from __future__ import annotations

from collections import deque

from nanwatch import _wire

# Kinds: fields of IngestRequest.
OPEN, OP_NAMES, STEPS, OPS, DROPPED, CLOSE = range(1, 7)

# Of a message in memory, beside its body.
_ENTRY_BYTES = 200


class Lost:
    """Records that are gone, and the steps they were of."""

    __slots__ = ("first_step", "last_step", "ops", "steps")

    def __init__(
        self, steps: int = 0, ops: int = 0, first: int = 0, last: int = 0
    ) -> None:
        self.steps = steps
        self.ops = ops
        self.first_step = first
        self.last_step = last

    @property
    def records(self) -> int:
        return self.steps + self.ops

    def add(self, other: Lost) -> None:
        if not other.records:
            return
        if self.records:
            self.first_step = min(self.first_step, other.first_step)
            self.last_step = max(self.last_step, other.last_step)
        else:
            self.first_step = other.first_step
            self.last_step = other.last_step
        self.steps += other.steps
        self.ops += other.ops

    def body(self) -> bytes:
        """As a Dropped message without session and sequence."""
        return (
            _wire.put_int(3, self.steps)
            + _wire.put_int(4, self.ops)
            + _wire.put_int(5, self.first_step)
            + _wire.put_int(6, self.last_step)
        )


class Outgoing:
    __slots__ = ("body", "first_op", "kind", "records", "sent_before")

    def __init__(
        self,
        kind: int,
        body: bytes = b"",
        records: Lost | None = None,
        first_op: int = 0,
    ) -> None:
        self.kind = kind
        # The inner message without session and sequence.
        self.body = body
        # What it says: records, and the steps they are of.
        self.records = records or Lost()
        self.first_op = first_op  # of op names: index of the first
        self.sent_before = False

    def envelope(self, session: int, sequence: int) -> bytes:
        return _wire.put_message(
            self.kind,
            _wire.put_fixed64(1, session)
            + _wire.put_int(2, sequence)
            + self.body,
        )


class Outbox:
    def __init__(self) -> None:
        self._messages: deque[Outgoing] = deque()
        self._first_sequence = 1  # of _messages[0]
        self._sent = 0  # so many of _messages were sent
        self.bytes = 0
        self.sent_bytes = 0  # of those that were sent and wait for an ack

    def __len__(self) -> int:
        return len(self._messages)

    def push(self, message: Outgoing) -> None:
        self.bytes += _size(message)
        self._messages.append(message)

    def push_front(self, message: Outgoing) -> None:
        """Before all others. Only between `resume` and the next send."""
        self.bytes += _size(message)
        self._messages.appendleft(message)

    def next(self) -> Outgoing | None:
        """The next to send; stays until it is acknowledged."""
        if self._sent == len(self._messages):
            return None
        return self._messages[self._sent]

    @property
    def next_sequence(self) -> int:
        return self._first_sequence + self._sent

    @property
    def acknowledged(self) -> int:
        """The newest sequence that was."""
        return self._first_sequence - 1

    @property
    def awaits_ack(self) -> bool:
        return self._sent != 0

    def mark_sent(self) -> int:
        """The one that `next` showed was sent. Returns the records in it, 0
        when they had been sent before."""
        message = self._messages[self._sent]
        self._sent += 1
        self.sent_bytes += _size(message)
        if message.sent_before:
            return 0
        message.sent_before = True
        return message.records.records

    def _pop_through(self, sequence: int) -> int:
        records = 0
        while self._messages and self._first_sequence <= sequence:
            message = self._messages.popleft()
            records += message.records.records
            self.bytes -= _size(message)
            self._first_sequence += 1
            if self._sent:
                self._sent -= 1
                self.sent_bytes -= _size(message)
        return records

    def acknowledge(self, sequence: int) -> int:
        """Everything up to `sequence` is held. Returns the records in it."""
        # What was never sent cannot have arrived.
        return self._pop_through(min(sequence, self.next_sequence - 1))

    def rewind(self, sequence: int) -> None:
        """Begin again with `sequence`."""
        sequence = max(sequence, self._first_sequence)
        if sequence < self.next_sequence:
            self._sent = sequence - self._first_sequence
            self._count_sent_bytes()

    def sent(self, sequence: int) -> Outgoing | None:
        """One that was sent and waits for its answer."""
        if not self._first_sequence <= sequence < self.next_sequence:
            return None
        return self._messages[sequence - self._first_sequence]

    def refuse(self, sequence: int) -> Lost:
        """The daemon refused this one for good: it is not sent again as it is.
        Returns what was lost with it."""
        refused = self.sent(sequence)
        if refused is None:
            return Lost()
        lost = refused.records
        self.bytes -= _size(refused)
        self.sent_bytes -= _size(refused)
        # Its sequence counts as used. Should a restarted daemon ask for it
        # again, it learns what was lost.
        refused.records = Lost()
        refused.kind = DROPPED
        refused.body = lost.body()
        self.bytes += _size(refused)
        self.sent_bytes += _size(refused)
        return lost

    def resume(self, held: int) -> int:
        """A stream was opened and the daemon holds everything up to `held`, be
        that more than was acknowledged (an ack got lost) or less (history
        did). Returns the records acknowledged by that."""
        records = self._pop_through(held)
        self._first_sequence = held + 1
        self._sent = 0
        self.sent_bytes = 0
        return records

    def first_op_name(self, none: int) -> int:
        """Index of the first op name that waits here."""
        for message in self._messages:
            if message.kind == OP_NAMES:
                return message.first_op
        return none

    def _count_sent_bytes(self) -> None:
        self.sent_bytes = sum(
            _size(m) for m, _ in zip(self._messages, range(self._sent))
        )


def _size(message: Outgoing) -> int:
    return len(message.body) + _ENTRY_BYTES
