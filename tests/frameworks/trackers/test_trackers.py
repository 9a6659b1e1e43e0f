"""Trackers' own packages, offline: what stands in their runs at the end."""

import math

import mlflow
import pytest
import wandb
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)
from torch.utils.tensorboard import SummaryWriter

import nanwatch
import nanwatch.mlflow
import nanwatch.tensorboard
import nanwatch.wandb

STEPS = 60


def train(daemon, name, report, bad_from=None):
    """A loss that falls, and that is NaN from a step on."""
    run = nanwatch.init(run=name, address=daemon.address)
    with run:
        it = report(run)
        for step in range(STEPS):
            bad = bad_from is not None and step >= bad_from
            loss = math.nan if bad else 2.0 * 0.98 ** step
            run.step(step, loss=loss, lr=1e-3)
        assert run.flush(10)
    it.close(20)


def board_of(folder):
    board = EventAccumulator(str(folder))
    board.Reload()
    return board


def texts(board):
    tag = "nanwatch/incidents/text_summary"
    if tag not in board.Tags()["tensors"]:
        return []
    return [(e.step, e.tensor_proto.string_val[0].decode())
            for e in board.Tensors(tag)]


@pytest.mark.parametrize("bad_from", [None, 40])
def test_tensorboard(daemon, name, tmp_path, bad_from):
    with SummaryWriter(str(tmp_path)) as writer:
        train(daemon, name,
              lambda run: nanwatch.tensorboard.report(run, writer), bad_from)
    board = board_of(tmp_path)
    severities = [e.value for e in board.Scalars("nanwatch/severity")]
    if bad_from is None:
        assert not texts(board) and max(severities) < 2
    else:
        step, text = texts(board)[0]
        assert step == bad_from and text.startswith("critical")
        assert severities[-1] == 3


@pytest.mark.parametrize("bad_from", [None, 40])
def test_mlflow(daemon, name, tmp_path, bad_from, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path}/runs")
    with mlflow.start_run() as run:
        train(daemon, name,
              lambda watched: nanwatch.mlflow.report(watched, run), bad_from)
    data = mlflow.MlflowClient().get_run(run.info.run_id).data
    note = data.tags.get("mlflow.note.content", "")
    if bad_from is None:
        assert data.tags["nanwatch.severity"] in ("healthy", "info")
        assert not note
    else:
        assert data.tags["nanwatch.severity"] == "critical"
        assert f"step {bad_from}" in note
        assert data.metrics["nanwatch.severity"] == 3


@pytest.mark.parametrize("bad_from", [None, 40])
def test_wandb(daemon, name, tmp_path, bad_from, monkeypatch):
    monkeypatch.setenv("WANDB_SILENT", "true")
    alerts = []
    with wandb.init(mode="offline", dir=str(tmp_path), project="p",
                    settings=wandb.Settings(console="off")) as run:
        send = run.alert
        monkeypatch.setattr(
            type(run), "alert",
            lambda self, **said: (alerts.append(said), send(**said)))
        train(daemon, name, lambda watched: nanwatch.wandb.report(watched, run),
              bad_from)
        severity = run.summary["nanwatch/severity"]
        tags, notes = run.tags or (), run.notes or ""
    if bad_from is None:
        assert severity in ("healthy", "info")
        assert not tags and not notes and not alerts
    else:
        assert severity == "critical" and "nanwatch-critical" in tags
        assert f"step {bad_from}" in notes
        assert alerts[0]["level"] == "ERROR"


def test_a_tracker_that_fails_does_not_reach_the_training(
        daemon, name, caplog):
    class Broken:
        def add_text(self, *_):
            raise OSError("no space left")

        add_scalar = add_text

    train(daemon, name,
          lambda run: nanwatch.tensorboard.report(run, Broken()), 40)
    said = [r for r in caplog.records if "no space left" in r.getMessage()]
    assert len(said) == 1


def test_a_wrong_severity_is_refused(daemon, name):
    with nanwatch.init(run=name, address=daemon.address) as run:
        with pytest.raises(ValueError, match="least='bad'"):
            nanwatch.tensorboard.report(run, None, least="bad")
