"""What the sender is to say of this process: the opening of its session."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from nanwatch import _wire
from nanwatch._identity import Identity
from nanwatch._text import clean
from nanwatch._version import VERSION

OVERFLOW_MODES = {"inf_nan": 1, "saturation": 2}
SCALINGS = {"none": 1, "static": 2, "dynamic": 3, "layerwise": 4}
_ALIKE = 1  # ReplicaKind
# The daemon's limits (daemon/model/limits.h).
_SETTINGS = 64
_SETTING_BYTES = 1024


@dataclass(frozen=True)
class Scaler:
    """The loss scaler that a training declares. What is None is the named
    scaler's own default."""

    kind: str = ""  # "none", "static", "dynamic", "layerwise"
    name: str = ""  # "pytorch", "megatron", "ascend_tf", ...
    init_scale: float | None = None
    growth_factor: float | None = None
    backoff_factor: float | None = None
    growth_interval: int | None = None  # updates
    hysteresis: int | None = None  # overflows until the scale falls
    min_scale: float | None = None
    max_scale: float | None = None
    # False: an overflowing step is applied all the same.
    overflow_check: bool | None = None

    def encode(self) -> bytes:
        return (
            _wire.put_int(1, SCALINGS.get(self.kind, 0))
            + _wire.put_bytes(2, clean(self.name))
            + _wire.put_optional_double(3, self.init_scale)
            + _wire.put_optional_double(4, self.growth_factor)
            + _wire.put_optional_double(5, self.backoff_factor)
            + _wire.put_optional_int(6, self.growth_interval)
            + _wire.put_optional_int(7, self.hysteresis)
            + _wire.put_optional_double(8, self.min_scale)
            + _wire.put_optional_double(9, self.max_scale)
            + _wire.put_optional_int(10, self.overflow_check)
        )


@dataclass(frozen=True)
class Opening:
    """What does not change while a session lives."""

    session: int
    identity: Identity
    job: str = ""
    framework: str = ""
    precision: str = ""
    overflow_mode: str = ""
    scaler: Scaler = Scaler()
    clip_norm: float | None = None
    seed: int | None = None
    settings: Mapping[str, str] | None = None
    host: str | None = None
    device: str = ""
    device_id: str = ""
    groups: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # dp tp pp ep cp
    # Digests of replicas are of what nobody declared to be one: a digest of the
    # names and shapes of its weights. None: they are.
    shapes: int | None = None

    def encode(self, run_id: str, acked_sequence: int, now_us: int) -> bytes:
        """An OpenSession. `run_id` is the identity's, or the one that the
        daemon gave."""
        return (
            _wire.put_fixed64(1, self.session)
            + _wire.put_message(2, self._run(run_id))
            + _wire.put_message(3, self._rank())
            + _wire.put_int(4, now_us)
            + _wire.put_int(5, acked_sequence)
            + _wire.put_bytes(6, f"nanwatch-python/{VERSION}".encode())
        )

    def _run(self, run_id: str) -> bytes:
        identity = self.identity
        return (
            _wire.put_bytes(1, run_id.encode())
            + _wire.put_optional_int(2, identity.attempt)
            + _wire.put_bytes(3, clean(self.job or identity.job))
            + _wire.put_bytes(4, clean(self.framework))
            + _wire.put_bytes(5, clean(self.precision))
            + _wire.put_int(6, identity.world_size)
            + _wire.put_int(7, OVERFLOW_MODES.get(self.overflow_mode, 0))
            + _wire.put_message(8, self.scaler.encode())
            + _wire.put_optional_double(9, self.clip_norm)
            + _wire.put_optional_int(10, self.seed)
            + self._settings()
            + _wire.put_int(12, int(identity.run_id_guessed))
        )

    def _settings(self) -> bytes:
        out: list[bytes] = []
        for key, value in (self.settings or {}).items():
            name = clean(str(key))
            if name and len(out) < _SETTINGS:
                entry = _wire.put_bytes(1, name) + _wire.put_bytes(
                    2, clean(str(value), _SETTING_BYTES)
                )
                out.append(_wire.put_message(11, entry))
        return b"".join(out)

    def _rank(self) -> bytes:
        host = socket.gethostname() if self.host is None else self.host
        out = (
            _wire.put_int(1, self.identity.rank)
            + _wire.put_int(2, self.identity.local_rank)
            + _wire.put_bytes(3, clean(host))
            + _wire.put_bytes(4, clean(self.device))
            + _wire.put_bytes(5, clean(self.device_id))
            + _wire.put_int(6, os.getpid())
        )
        for number, place in enumerate(self.groups, 7):
            out += _wire.put_int(number, place)
        if self.shapes is not None:
            out += _wire.put_int(12, _ALIKE)
            out += _wire.put_fixed64(13, self.shapes)
        return out + self._pod()

    def _pod(self) -> bytes:
        where = (
            _wire.put_bytes(1, self.identity.pod.encode())
            + _wire.put_bytes(2, self.identity.namespace.encode())
            + _wire.put_bytes(3, self.identity.node.encode())
        )
        return _wire.put_message(14, where) if where else b""
