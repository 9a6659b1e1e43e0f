"""Writes what nanwatch finds into the MLflow run of a training.

    with mlflow.start_run() as run:
        watch = nanwatch.torch.watch(model, optimizer)
        report = nanwatch.mlflow.report(watch, run)
        ...
        watch.close(); report.close()

The run has the tags `nanwatch.verdict` and `nanwatch.severity`. An incident is
a line of its description. The metric `nanwatch.severity` is 0 healthy, 1 info,
2 warning, 3 critical.
"""

from __future__ import annotations

from typing import Any

from nanwatch._report import Report, ending, sentence
from nanwatch._verdicts import Incident, Verdict

_NOTE = "mlflow.note.content"  # the description that MLflow's page shows
_TAG_MOST = 5000  # characters that MLflow takes in a tag


class _Run:
    def __init__(self, client: Any, run_id: str) -> None:
        self._client = client
        self._id = run_id

    def begin(self, incident: Incident) -> None:
        self._note(sentence(incident))

    def end(self, incident: Incident) -> None:
        self._note(ending(incident))

    def judge(self, verdict: Verdict) -> None:
        self._tag("nanwatch.verdict", verdict.headline)
        self._tag("nanwatch.severity", verdict.severity)

    def mark(self, severity: int, step: int) -> None:
        self._client.log_metric(
            self._id, "nanwatch.severity", severity, step=step
        )

    def _note(self, line: str) -> None:
        tags = self._client.get_run(self._id).data.tags
        before = tags.get(_NOTE, "").rstrip()
        self._tag(_NOTE, f"{before}\n\nnanwatch: {line}".lstrip())

    def _tag(self, key: str, text: str) -> None:
        if len(text) > _TAG_MOST:
            text = text[: _TAG_MOST - 3] + "..."
        self._client.set_tag(self._id, key, text)


def report(watch: Any, run: Any, *, least: str = "warning") -> Report:
    """Reports to `run`, as mlflow.start_run returned it, or to a run's id, at
    the tracking server that mlflow is set to. `watch`: a watch, a run or a
    callback of nanwatch's. `least`: the mildest incidents that are written,
    "info", "warning" or "critical". Call it on one rank."""
    import mlflow

    run_id = run if isinstance(run, str) else run.info.run_id
    return Report(watch, _Run(mlflow.MlflowClient(), run_id), least)
