"""The thread between the buffers and the daemon. Finds the daemon, opens the
session, sends batches in sequence, keeps them until they are acknowledged, and
begins again when the stream ends."""

from __future__ import annotations

import contextlib
import enum
import logging
import signal
import time
from collections.abc import Sequence
from queue import Empty

from nanwatch import _autostart, _outbox, _refusal, _wire
from nanwatch._announce import announce
from nanwatch._batcher import Batcher
from nanwatch._credentials import find_way
from nanwatch._first_line import FirstLine
from nanwatch._opening import Opening
from nanwatch._outbox import Outbox, Outgoing
from nanwatch._redial import Redial
from nanwatch._requests import read as read_request
from nanwatch._shared import Shared, call_living
from nanwatch._stream import Stream
from nanwatch._wire import Message

log = logging.getLogger("nanwatch")

# A batch leaves when its oldest record is this old: each turn takes the
# interpreter's lock, so turns are fewer than the C++ client's.
_TURN = 0.2
# After an urgent record, the least time between two turns.
_URGENT_TURN = 0.005
# To connect and get the handshake answered.
_OPEN_TIMEOUT = 5.0
# A daemon that reads but acknowledges nothing, or a host that is gone.
_ACK_TIMEOUT = 30.0
# In the end, for the threads of the last stream.
_LET_GO = 0.05
# On their way at once. More would only lie in gRPC's memory, twice.
_IN_FLIGHT_BYTES = 4 << 20
_ERROR_BYTES = 255

# Responses: fields of IngestResponse.
_OPENED, _ACK, _REFUSAL, _REQUEST = 1, 2, 3, 4


class _State(enum.Enum):
    """Where the stream stands."""

    AWAY = 0
    OPENING = 1
    OPEN = 2


class Sender:
    def __init__(
        self,
        shared: Shared,
        opening: Opening,
        addresses: Sequence[str],
        unacked_bytes: int,
        autostart: bool,
    ) -> None:
        """`autostart`: at the first of the addresses, if none answers."""
        self._shared = shared
        self._addresses = addresses
        self._autostart = autostart
        self._not_started = ""  # why, a sentence
        self._opening = opening
        self._unacked_bytes = unacked_bytes
        # Of the call, or given by the daemon: it must come back to it.
        self._run_id = opening.identity.run_id
        self._batcher = Batcher(shared)
        self._outbox = Outbox()
        self._redial = Redial(addresses, opening.session >> 16)
        self._state = _State.AWAY
        self._stream: Stream | None = None
        self._durable = True  # as the handshake said
        self._ever_open = False
        self._takes_end = False  # the daemon; once a stream was open
        self._close_pushed = False
        self._last_try = False  # ending, and the pause was lifted for it
        self._import_told = False
        self._done = False  # ending, and no more to hope for
        self._silent_since = 0.0  # the daemon owes us an answer since then
        self._last_turn = 0.0
        self._first_line = FirstLine(opening.identity.rank)

    def run(self) -> None:
        """Until `Shared.ending` is set, and what follows from it is done."""
        # A signal that the system gives to this thread, or to one of gRPC's,
        # would not wake the training's. Those that start here inherit it.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            if self._autostart:
                self._start_daemon()
            while self._turn():
                pass
        except Exception as error:  # the run is silent from here on
            log.warning("nanwatch: nothing more is sent: %r", error)
            log.debug("in the sender:", exc_info=True)
        stream = self._stream
        self._drop_stream()
        if stream is not None:
            stream.let_go(_LET_GO)
        shared = self._shared
        with shared.changed:
            shared.ended = True
            shared.connected = False
            shared.changed.notify_all()

    def _start_daemon(self) -> None:
        shared = self._shared
        self._not_started = _autostart.ensure(
            self._addresses,
            lambda: shared.ending and time.monotonic() >= shared.deadline,
        )

    def _turn(self) -> bool:
        now = time.monotonic()
        self._drain(now)
        if self._ending():
            return False
        if self._state is _State.AWAY and self._redial.due(now):
            self._connect(now)
        if self._state is _State.OPEN:
            self._send(now)
        self._wait(now)
        self._check_silence(time.monotonic())
        return True

    def _ending(self) -> bool:
        shared = self._shared
        if not shared.ending:
            return False
        # A long pause must not cost the end its only chance.
        if not self._last_try:
            self._last_try = True
            if self._state is _State.AWAY:
                self._redial.not_before = 0.0
        nothing_left = not (
            len(self._outbox)
            or shared.rows
            or shared.ops_waiting()
            or shared.leaving
            or self._owes_close()
        )
        return self._done or time.monotonic() >= shared.deadline or nothing_left

    # --------------------------------------------------- from buffer to outbox

    def _drain(self, now: float) -> None:
        shared = self._shared
        while shared.leaving:
            shared.leaving.popleft()()
        hurry = shared.urgent or shared.flush or shared.ending
        if now - self._last_turn < (_URGENT_TURN if hurry else _TURN):
            return
        call_living(self._shared.before_turns)
        if self._outbox.bytes > self._unacked_bytes and not shared.ending:
            # The buffers fill, then: what is lost is the newest. The oldest
            # has the start of the trouble.
            return
        self._last_turn = now
        shared.urgent = False
        self._batcher.drain(self._outbox)
        with shared.changed:
            if shared.rows or shared.ops_waiting():
                return
            shared.flush = False
            end = shared.end
            owes = shared.ending and not self._close_pushed
            if owes and (end is None or self._takes_end):
                self._close_pushed = True
                body = end.encode() if end else b""
                self._outbox.push(Outgoing(_outbox.CLOSE, body))

    def _owes_close(self) -> bool:
        """To a daemon of before, which takes each for one in order, none is
        said where the program broke: known with its first answer."""
        can = self._shared.end is None or self._takes_end
        return not self._close_pushed and (can or not self._ever_open)

    # --------------------------------------------------------- the connection

    def _connect(self, now: float) -> None:
        address = self._redial.address
        credentials, why = find_way(address)
        if why:
            self._disconnect(why, now)
            return
        try:
            self._stream = Stream(credentials, self._shared.events)
        except Exception as error:  # no grpcio, or a strange address
            if isinstance(error, ImportError) and not self._import_told:
                self._import_told = True
                log.warning("nanwatch: nothing is sent: %s", error)
            self._disconnect(f"{type(error).__name__}: {error}", now)
            return
        body = self._opening.encode(
            self._run_id, self._outbox.acknowledged, int(time.time() * 1e6)
        )
        self._stream.write(_wire.put_message(_outbox.OPEN, body))
        self._state = _State.OPENING
        self._silent_since = time.monotonic()

    def _drop_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()

    def _disconnect(self, why: str, now: float) -> None:
        was_open = self._state is _State.OPEN
        address = self._redial.address
        self._drop_stream()
        self._state = _State.AWAY
        shared = self._shared
        shared.connected = False
        shared.reconnects += was_open
        all_tried = self._redial.next(now, was_open, hurry=shared.ending)
        # A restarted daemon is worth the wait, one that never was is not.
        if all_tried and shared.ending and not self._ever_open:
            self._done = True
        if all_tried and not self._ever_open:
            self._first_line.away(address, self._not_started)
        why = why or "the stream ended"
        if self._not_started and not self._ever_open:
            why = f"{why} ({self._not_started})"
        self._report(f"nanwatchd at {address}: {why}")

    def _check_silence(self, now: float) -> None:
        owed = self._state is _State.OPENING or self._outbox.awaits_ack
        self._shared.address = self._redial.address
        self._shared.silent_since = (
            self._silent_since
            if owed and self._state is not _State.AWAY
            else None
        )
        if self._state is _State.AWAY:
            return
        if self._state is _State.OPENING:
            if now - self._silent_since >= _OPEN_TIMEOUT:
                self._disconnect("no answer within 5 s", now)
        elif not self._outbox.awaits_ack:
            self._silent_since = now
        elif now - self._silent_since >= _ACK_TIMEOUT:
            self._disconnect("no acknowledgement within 30 s", now)

    def _wait(self, now: float) -> None:
        """For what happens next, or until there is something to do."""
        shared = self._shared
        hurry = shared.urgent or shared.flush or shared.ending
        until = self._last_turn + (_URGENT_TURN if hurry else _TURN)
        if until <= now:  # nothing may be taken now: the outbox is full
            until = now + _TURN
        if self._redial.not_before > now:
            until = min(until, self._redial.not_before)
        try:
            event = shared.events.get(timeout=max(0.001, until - now))
            while True:
                if event is not None:
                    self._on_event(*event)
                event = shared.events.get_nowait()
        except Empty:
            pass

    def _send(self, now: float) -> None:
        outbox = self._outbox
        while self._redial.due(now) and outbox.sent_bytes < _IN_FLIGHT_BYTES:
            message = outbox.next()
            if message is None:
                return
            if not outbox.awaits_ack:
                self._silent_since = now
            if self._stream is not None:
                sequence = outbox.next_sequence
                self._stream.write(
                    message.envelope(self._opening.session, sequence)
                )
            self._shared.sent += outbox.mark_sent()

    # ------------------------------------------------------------ the answers

    def _on_event(self, stream: Stream, response: bytes | None) -> None:
        if stream is not self._stream:
            return  # of one that was left
        now = time.monotonic()
        if response is None:
            self._disconnect(stream.error, now)
            return
        # What a newer daemon may say and we do not understand is left out.
        with contextlib.suppress(ValueError):
            self._on_response(Message(response), now)

    def _on_response(self, response: Message, now: float) -> None:
        if response.has(_OPENED):
            if self._state is _State.OPENING:
                self._on_opened(Message(response.blob(_OPENED)), now)
        elif response.has(_ACK):
            if self._state is _State.OPEN:
                ack = Message(response.blob(_ACK))
                durable = bool(ack.integer(3)) if ack.has(3) else self._durable
                if ack.has(4):  # the steps went back
                    with self._shared.changed:
                        self._shared.attempt = ack.signed(4)
                records = self._outbox.acknowledge(ack.integer(2))
                self._on_ack(records, durable, now)
        elif response.has(_REFUSAL):
            self._on_refusal(Message(response.blob(_REFUSAL)), now)
        elif response.has(_REQUEST):
            request = read_request(Message(response.blob(_REQUEST)))
            if request is not None:
                self._shared.requests.put(request)

    def _on_opened(self, opened: Message, now: float) -> None:
        self._state = _State.OPEN
        self._ever_open = True
        self._takes_end = bool(opened.integer(11))
        self._batcher.set_limits(opened.integer(8), opened.integer(9))
        self._shared.names.allow()
        records = self._outbox.resume(opened.integer(4))
        first = self._outbox.first_op_name(self._batcher.op_names_taken)
        if opened.integer(5) < first:
            self._batcher.resend_op_names(
                opened.integer(5), first, self._outbox
            )
        shared = self._shared
        with shared.changed:
            shared.error = ""
            shared.run_id = opened.text(2)
            shared.attempt = opened.signed(3)
            shared.connected = True
        if self._stream is not None:
            page, address = self._stream.page, self._redial.address
            shared.url = self._first_line.opened(shared.run_id, page, address)
        announce(opened.text(2))
        self._durable = bool(opened.integer(6))
        self._on_ack(records, self._durable, now)
        self._run_id = self._run_id or opened.text(2)

    def _on_ack(self, records: int, durable: bool, now: float) -> None:
        self._silent_since = now
        if records:
            self._redial.reset()
        shared = self._shared
        with shared.changed:
            shared.acked += records
            if not durable:
                shared.not_durable += records
            shared.changed.notify_all()

    def _on_refusal(self, refusal: Message, now: float) -> None:
        sequence, code = refusal.integer(2), refusal.integer(3)
        if code == _refusal.LIMIT and refusal.integer(5):
            code = _refusal.BUSY
        if sequence == 0 or code in (
            _refusal.UNKNOWN_SESSION,
            _refusal.SHUTTING_DOWN,
        ):
            self._redial.not_before = now + _refusal.retry_after(refusal)
            self._disconnect(refusal.text(4), now)
            return
        if code == _refusal.OUT_OF_SEQUENCE:
            self._on_out_of_sequence(refusal, now)
            return
        if code == _refusal.BUSY:
            self._outbox.rewind(sequence)
            self._redial.not_before = now + _refusal.retry_after(refusal)
        else:  # invalid, a limit, and what newer daemons may have
            self._on_refused_for_good(sequence)
        self._report("nanwatchd refused: " + refusal.text(4))

    def _on_refused_for_good(self, sequence: int) -> None:
        sent = self._outbox.sent(sequence)
        if sent is not None and sent.kind == _outbox.OP_NAMES:
            self._shared.names.refuse_from(sent.first_op)
        lost = self._outbox.refuse(sequence)
        with self._shared.changed:
            self._shared.refused += lost.records
            self._shared.changed.notify_all()

    def _on_out_of_sequence(self, refusal: Message, now: float) -> None:
        expected = refusal.integer(6)
        outbox = self._outbox
        if outbox.acknowledged < expected <= outbox.next_sequence:
            # Later messages of a batch that was refused as busy say this, too;
            # they find the rewind done.
            outbox.rewind(expected)
        else:  # the handshake says where to go on
            self._disconnect(refusal.text(4), now)

    def _report(self, error: str) -> None:
        if error != self._shared.error:
            log.debug(error)
        self._shared.error = error[:_ERROR_BYTES]
