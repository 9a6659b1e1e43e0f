"""A job of Ray Train on a real Ray of this machine: two workers."""

import examples
import pytest
from daemons import SOURCE


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Of Ray's own processes, too. Nobody is told how Ray is used."""
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


def test_workers_are_ranks_of_one_run(daemon, tmp_path):
    it = examples.run(daemon, "ray_train.py", "ray-example", tmp_path)
    assert it.worst == "" and it.steps == 200, it
    assert it.summary["world_size"] == 2
    assert it.summary["end_reason"] == "all ranks closed"


def test_a_nan_is_found_at_its_rank(daemon, tmp_path):
    it = examples.run(daemon, "ray_train.py", "ray-example", tmp_path, "1")
    assert it.worst == "critical" and it.step == 50, it
    assert it.origin["rank"] == 1, it
