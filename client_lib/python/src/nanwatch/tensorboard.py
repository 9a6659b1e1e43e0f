"""Writes what nanwatch finds into the TensorBoard run of a training.

    writer = torch.utils.tensorboard.SummaryWriter()
    watch = nanwatch.torch.watch(model, optimizer)
    report = nanwatch.tensorboard.report(watch, writer)
    ...
    watch.close(); report.close(); writer.close()

Incidents are texts under `nanwatch/incidents`, at the step where they begin and
where they end. `nanwatch/severity` is a curve: 0 healthy, 1 info, 2 warning, 3
critical.
"""

from __future__ import annotations

from typing import Any

from nanwatch._report import Report, ending, sentence
from nanwatch._verdicts import Incident, Verdict


class _Board:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def begin(self, incident: Incident) -> None:
        self._add(sentence(incident), incident.step)

    def end(self, incident: Incident) -> None:
        self._add(ending(incident), incident.resolved_step or incident.step)

    def judge(self, verdict: Verdict) -> None:
        pass

    def mark(self, severity: int, step: int) -> None:
        self._writer.add_scalar("nanwatch/severity", severity, step)
        self._writer.flush()

    def _add(self, text: str, step: int) -> None:
        self._writer.add_text("nanwatch/incidents", text, step)
        self._writer.flush()


def report(watch: Any, writer: Any, *, least: str = "warning") -> Report:
    """Reports to `writer`, a SummaryWriter of PyTorch or of tensorboardX.
    `watch`: a watch, a run or a callback of nanwatch's. `least`: the mildest
    incidents that are written, "info", "warning" or "critical". Call it on one
    rank."""
    return Report(watch, _Board(writer), least)
