"""Writes what nanwatch finds into the Weights & Biases run of a training.

    run = wandb.init(...)
    watch = nanwatch.torch.watch(model, optimizer)
    report = nanwatch.wandb.report(watch, run)
    ...
    watch.close(); report.close(); run.finish()

An incident is an alert and a line of the run's notes. The run gets the tag
`nanwatch-warning` or `nanwatch-critical`, and its summary has
`nanwatch/verdict` and `nanwatch/severity`.
"""

from __future__ import annotations

from typing import Any

from nanwatch._report import Report, ending, sentence
from nanwatch._verdicts import Incident, Verdict

# As wandb.AlertLevel names them.
_LEVELS = {"info": "INFO", "warning": "WARN", "critical": "ERROR"}


class _Run:
    def __init__(self, run: Any) -> None:
        self._run = run

    def begin(self, incident: Incident) -> None:
        said = sentence(incident)
        tag = f"nanwatch-{incident.severity}"
        if tag not in (self._run.tags or ()):
            self._run.tags = (*(self._run.tags or ()), tag)
        self._note(said)
        self._run.alert(
            title=f"nanwatch: {incident.rule}",
            text=said,
            level=_LEVELS[incident.severity],
        )

    def end(self, incident: Incident) -> None:
        self._note(ending(incident))

    def judge(self, verdict: Verdict) -> None:
        self._run.summary.update(
            {
                "nanwatch/verdict": verdict.headline,
                "nanwatch/severity": verdict.severity,
            }
        )

    def mark(self, severity: int, step: int) -> None:
        pass

    def _note(self, line: str) -> None:
        before = (self._run.notes or "").rstrip()
        self._run.notes = f"{before}\nnanwatch: {line}".lstrip()


def report(watch: Any, run: Any, *, least: str = "warning") -> Report:
    """Reports to `run`, as wandb.init returned it. `watch`: a watch, a run or a
    callback of nanwatch's. `least`: the mildest incidents that are written,
    "info", "warning" or "critical". Call it on one rank."""
    return Report(watch, _Run(run), least)
