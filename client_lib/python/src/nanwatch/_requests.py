"""What somebody asks of the trainer, who polls."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from nanwatch._wire import Message

_KEPT = 16
_OPS = 64


@dataclass(frozen=True)
class Request:
    """`kind` is "collect_ops": push the statuses of `ops` (none: of all) for
    `steps` steps, with `request=id`; or "stop": somebody asks this training to
    stop, and says why."""

    kind: str
    id: int
    expires_at_step: int = 0
    ops: tuple[int, ...] = ()
    steps: int = 0
    reason: str = ""


def read(message: Message) -> Request | None:
    """None: of a kind that we do not know."""
    number, expires = message.integer(2), message.signed(5)
    if message.has(3):
        collect = Message(message.blob(3))
        ops = tuple(collect.integers(1)[:_OPS])
        return Request("collect_ops", number, expires, ops, collect.integer(2))
    if message.has(4):
        reason = Message(message.blob(4)).text(1) or "no reason was given"
        return Request("stop", number, expires, reason=reason)
    return None


class RequestBox:
    """From the sender to the training. A deque's own operations are whole."""

    def __init__(self) -> None:
        self._waiting: deque[Request] = deque(maxlen=_KEPT)
        self.stop = ""  # why, once somebody asked; stays

    def put(self, request: Request) -> None:
        if request.kind == "stop":
            self.stop = request.reason
        self._waiting.append(request)

    @property
    def waits(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[Request]:
        taken = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken
