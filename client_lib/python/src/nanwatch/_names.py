"""Names of the ops and optimizers that a training has registered. The training
adds them, the sender takes them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from nanwatch import _wire
from nanwatch._text import clean

# The daemon's limits (daemon/model/limits.h).
_OPS = 65536
SHAPE_DIMS = 16
OPTIMIZERS = 7


def _elements(shape: Sequence[int]) -> int:
    if not shape:
        return 0
    elements = 1
    for dim in shape:
        elements *= dim
    return elements if elements <= _wire.MASK64 else 0


def encode_op(
    name: bytes,
    type: bytes,
    data_format: bytes,
    dtype: int,
    logical: Sequence[int],
    storage: Sequence[int],
    order: int | None,
    part: bool = False,
) -> bytes:
    """An OpName."""
    return (
        _wire.put_bytes(1, name)
        + _wire.put_bytes(2, type)
        + _wire.put_bytes(3, data_format)
        + _wire.put_int(4, dtype)
        + _wire.put_bytes(5, _wire.varints(logical))
        + _wire.put_bytes(6, _wire.varints(storage))
        + _wire.put_optional_int(7, order)
        + _wire.put_int(60, int(part))
    )


class Names:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ops: list[bytes] = []
        self._refused_from: int | None = None
        self.elements: list[int] = []  # of each op's storage shape
        self.optimizers: list[str] = []  # index 1 is the first
        self.ops = 0  # ops below this may be pushed
        self.full = False  # one was one too many

    # --- The training ---

    def add_op(self, encoded: bytes, shape: Sequence[int]) -> int:
        """The op's index; -1: there are 65,536 already."""
        with self._lock:
            if len(self._ops) >= _OPS:
                self.full = True
                return -1
            self.elements.append(_elements(shape))
            self._ops.append(encoded)
            self._show()
            return len(self._ops) - 1

    def add_optimizer(self, name: str) -> int:
        """The optimizer's index; 0, the only one's: no name, or there are 7
        already."""
        cleaned = clean(name).decode()
        with self._lock:
            if cleaned in self.optimizers:
                return self.optimizers.index(cleaned) + 1
            if not cleaned or len(self.optimizers) >= OPTIMIZERS:
                return 0
            self.optimizers = [*self.optimizers, cleaned]
            return len(self.optimizers)

    # --- The sender ---

    def copy(self, first: int, most: int) -> list[bytes]:
        with self._lock:
            return self._ops[first : first + most]

    def refuse_from(self, first: int) -> None:
        """The daemon has no room for ops from `first` on: their statuses are
        lost at the push from here on, those of the others go on."""
        with self._lock:
            known = self._refused_from
            self._refused_from = first if known is None else min(known, first)
            self._show()

    def allow(self) -> None:
        """Another stream, perhaps another daemon: all may be offered again."""
        with self._lock:
            self._refused_from = None
            self._show()

    @property
    def refused(self) -> bool:
        return self._refused_from is not None

    def _show(self) -> None:
        shown = len(self._ops)
        if self._refused_from is not None:
            shown = min(shown, self._refused_from)
        self.ops = shown
