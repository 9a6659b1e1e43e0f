"""Report: a tracker's run is told what nanwatch finds in the training."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Protocol

from nanwatch._verdict_feed import VerdictFeed
from nanwatch._verdicts import SEVERITIES, Incident, Verdict

_log = logging.getLogger("nanwatch")


class Tracker(Protocol):
    """Where a report goes. Called on the report's thread."""

    def begin(self, incident: Incident) -> None:
        """Notes an incident that fired, or became worse."""

    def end(self, incident: Incident) -> None:
        """Notes that an incident is over."""

    def judge(self, verdict: Verdict) -> None:
        """Notes what the run is like now: its severity or its headline is
        another one."""

    def mark(self, severity: int, step: int) -> None:
        """Notes that the severity is another one from a step on, by its place
        in SEVERITIES."""


def sentence(incident: Incident) -> str:
    """Says what began, where and when, in one line."""
    where = f", rank {incident.rank}" if incident.rank >= 0 else ""
    op = f", {incident.op}" if incident.op else ""
    return (
        f"{incident.severity} since step {incident.step}{where}{op}: "
        f"{incident.summary} ({incident.cause or incident.rule})"
    )


def ending(incident: Incident) -> str:
    """Says what is over, and since when."""
    return f"{incident.rule}: over since step {incident.resolved_step}"


class Report:
    """Goes on until `close`, or until the training's process ends. No failure
    of a tracker reaches the training; the first is logged."""

    def __init__(self, watch: Any, tracker: Tracker, least: str) -> None:
        if least not in SEVERITIES[1:]:
            raise ValueError(
                f"least={least!r}: it is one of {', '.join(SEVERITIES[1:])}"
            )
        self._tracker = tracker
        self._least = SEVERITIES.index(least)
        self._begun: dict[int, str] = {}  # severities by incident
        self._ended: set[int] = set()
        self._severity = ""
        self._headline = ""
        self._failed = False
        watch = getattr(watch, "watch", watch)  # of a callback
        self._feed = VerdictFeed(getattr(watch, "run", watch), self._take)

    def close(self, timeout: float = 5.0) -> None:
        """Ends the report. Call it after the watch's close and before the
        tracker's end: the last verdict is then waited for, at most `timeout`
        seconds."""
        self._feed.close(timeout)

    def __enter__(self) -> Report:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _take(self, verdict: Verdict) -> None:
        try:
            for incident in verdict.incidents:
                self._compare(incident)
            self._judge(verdict)
        except Exception as error:
            if not self._failed:
                self._failed = True
                _log.warning(
                    "nanwatch: the tracker does not take a verdict: %s: %s",
                    type(error).__name__,
                    error,
                )

    def _judge(self, verdict: Verdict) -> None:
        marks = verdict.severity != self._severity
        judges = marks or verdict.headline != self._headline
        self._severity = verdict.severity
        self._headline = verdict.headline
        if judges:
            self._tracker.judge(verdict)
        if marks:
            self._tracker.mark(SEVERITIES.index(verdict.severity), verdict.step)

    def _compare(self, incident: Incident) -> None:
        if incident.muted or SEVERITIES.index(incident.severity) < self._least:
            return
        if self._begun.get(incident.id) != incident.severity:
            self._begun[incident.id] = incident.severity
            self._tracker.begin(incident)
        if incident.resolved_step is None:
            self._ended.discard(incident.id)
        elif incident.id not in self._ended:
            self._ended.add(incident.id)
            self._tracker.end(incident)
