"""Verdict: what the daemon finds in a run, read from its query service."""

from __future__ import annotations

from dataclasses import dataclass

from nanwatch._wire import Message

# By their numbers in proto/nanwatch/v1/query.proto.
SEVERITIES = ("healthy", "info", "warning", "critical")
_FIRING, _RESOLVED = 2, 3
_OPEN = 1  # the run's state


@dataclass(frozen=True)
class Incident:
    """A trouble of a run, of which people are notified."""

    id: int
    rule: str  # "loss_spike"
    cause: str  # "divergence"; empty: not known
    severity: str  # the worst so far: "info", "warning" or "critical"
    summary: str  # a sentence or two
    step: int  # at which it began
    resolved_step: int | None  # None: it goes on, or did to the run's end
    rank: int  # -1: of the whole run
    op: str  # empty: of none
    muted: bool


@dataclass(frozen=True)
class Verdict:
    severity: str  # of SEVERITIES; now, or as the run ended
    headline: str  # a sentence
    step: int  # the last one
    incidents: tuple[Incident, ...]  # the pending are not among them


def _severity(number: int) -> str:
    return SEVERITIES[number] if number < len(SEVERITIES) else SEVERITIES[-1]


def _incident(message: Message) -> Incident:
    subject = Message(message.blob(5))
    return Incident(
        id=message.integer(1),
        rule=message.text(3),
        cause=message.text(4),
        severity=_severity(message.integer(8)),
        summary=message.text(15),
        step=message.signed(9),
        resolved_step=message.signed(10) if message.has(10) else None,
        rank=subject.signed(1),
        op=subject.text(3),
        muted=bool(message.integer(19)),
    )


def _at_end(incidents: tuple[Incident, ...]) -> str:
    """The severity of what went on to the end. The daemon resolves all when a
    run ends, and gives those that were over before a step."""
    left = [i.severity for i in incidents if i.resolved_step is None]
    return max(left, key=SEVERITIES.index, default=SEVERITIES[0])


def read(response: bytes) -> Verdict:
    """Reads a WatchRunResponse. Raises ValueError: it is none."""
    detail = Message(Message(response).blob(1))
    summary = Message(detail.blob(1))
    incidents = tuple(
        _incident(each)
        for each in map(Message, detail.blobs(5))
        if each.integer(6) in (_FIRING, _RESOLVED)
    )
    severity = _severity(summary.integer(6))
    if summary.integer(4) != _OPEN:
        severity = _at_end(incidents)
    return Verdict(
        severity=severity,
        headline=summary.text(7),
        step=summary.signed(11),
        incidents=incidents,
    )
