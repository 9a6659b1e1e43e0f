"""One stream to a daemon. The only file that knows gRPC, which is imported and
started by the sender's thread, once there is somebody to speak to."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from nanwatch import _process
from nanwatch._credentials import Credentials, advice

_METHOD = "/nanwatch.v1.IngestService/Ingest"
_WATCH_METHOD = "/nanwatch.v1.QueryService/WatchRun"
_PAGE = "nanwatch-page"
# A response is an ack or a sentence; a request names at most 64 ops.
_RESPONSE_BYTES = 1 << 20
# A run's details: its incidents, ranks and ops.
_DETAIL_BYTES = 64 << 20
_OPTIONS = (
    # Waits between tries are the sender's business: no memory of the last
    # one's failure.
    ("grpc.use_local_subchannel_pool", 1),
    # A proxy of the training's environment is not meant for this.
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", _RESPONSE_BYTES),
)


# What gRPC reads once, when it starts, and no call sets: unless the training
# sets it, too.
_SETTINGS = {
    # It prints to stderr when a daemon is away, and at every fork; a client
    # that never prints must not.
    "GRPC_VERBOSITY": "NONE",
    # At a fork it skips its handlers while a thread is inside it, as ours are
    # nearly always; in the moments in which none is, they run, and about one
    # forked worker in a thousand hung or died (grpcio 1.85). So, never.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
}
_started = False


@contextlib.contextmanager
def _settled() -> Iterator[None]:
    global _started
    mine = [n for n in _SETTINGS if not _started and n not in os.environ]
    for name in mine:
        os.environ[name] = _SETTINGS[name]
    try:
        yield
    finally:
        _started = True
        for name in mine:
            os.environ.pop(name, None)


def open_channel(it: Credentials, *options: tuple[str, int]) -> tuple[Any, Any]:
    """gRPC and a channel. No fork happens meanwhile. Later options count."""
    with _process.importing, _settled():
        import grpc

        all_options = tuple({**dict(_OPTIONS), **dict(options)}.items())
        if not it.tls:
            return grpc, grpc.insecure_channel(it.target, options=all_options)
        protection = grpc.ssl_channel_credentials(it.ca, it.key, it.certificate)
        return grpc, grpc.secure_channel(
            it.target, protection, options=all_options
        )


def bearer(token: str) -> list[tuple[str, str]]:
    """Makes the metadata of a call; empty without a token."""
    return [("authorization", "Bearer " + token)] if token else []


def _page_of(call: Any) -> str:
    """Where the daemon shows its runs, as it says; empty: nowhere."""
    for key, value in call.initial_metadata() or ():
        if key == _PAGE:
            return str(value)
    return ""


class _Answers:
    """A call whose responses a thread puts into `events` as pairs: (self, a
    response), and in the end (self, None) with `error` set."""

    def __init__(
        self,
        credentials: Credentials,
        grpc: Any,
        channel: Any,
        call: Any,
        events: SimpleQueue[Any],
    ) -> None:
        self._credentials = credentials
        self.error = ""
        self.page = ""  # see _page_of; known with the first response
        self._channel = channel
        self._call: Any = call
        self._events = events
        self._rpc_error: type[BaseException] = grpc.RpcError
        self._reader = threading.Thread(
            target=self._read,
            args=(call,),
            name="nanwatch-answers",
            daemon=True,
        )
        self._reader.start()

    def cancel(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.cancel()
        self._channel.close()

    def let_go(self, seconds: float) -> None:
        """After `cancel`: waits until nobody holds the call, at most so long.
        gRPC takes a lock when a call is collected; a thread that has it when
        the interpreter ends never gives it back, and the program hangs."""
        self._reader.join(seconds)

    def _read(self, call: Any) -> None:
        try:
            for number, response in enumerate(call):
                if number == 0:  # it came with the metadata
                    self.page = _page_of(call)
                self._events.put((self, response))
        except self._rpc_error as error:
            details = getattr(error, "details", None)
            said = details() if callable(details) else ""
            said = str(said or error)  # an error says something
            hint = advice(self._credentials, said)
            self.error = f"{hint} ({said})" if hint else said
            # It is the call itself, and its frames hold it: it would be left
            # to the garbage collector.
            error.__traceback__ = None
        except Exception as error:  # whatever gRPC may have thought of
            self.error = f"{type(error).__name__}: {error}"
        del call
        self._events.put((self, None))


class Stream(_Answers):
    """Says records, and hears what the daemon answers."""

    def __init__(
        self, credentials: Credentials, events: SimpleQueue[Any]
    ) -> None:
        grpc, channel = open_channel(credentials)
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        # No serializers: bytes in, bytes out.
        call = channel.stream_stream(_METHOD)(
            self._requests(), metadata=bearer(credentials.token)
        )
        super().__init__(credentials, grpc, channel, call, events)

    def write(self, message: bytes) -> None:
        self._outgoing.put(message)

    def cancel(self) -> None:
        # gRPC's thread that waits for the next request must not wait for ever.
        self._outgoing.put(None)
        super().cancel()

    def _requests(self) -> Iterator[bytes]:
        while True:
            message = self._outgoing.get()
            if message is None:
                return
            yield message


class Watching(_Answers):
    """Hears what the daemon finds in a run. `request`: a WatchRunRequest."""

    def __init__(
        self, credentials: Credentials, request: bytes, events: SimpleQueue[Any]
    ) -> None:
        grpc, channel = open_channel(
            credentials, ("grpc.max_receive_message_length", _DETAIL_BYTES)
        )
        call = channel.unary_stream(_WATCH_METHOD)(
            request, metadata=bearer(credentials.token)
        )
        super().__init__(credentials, grpc, channel, call, events)
