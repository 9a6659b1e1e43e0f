"""The same scenarios through every client: the daemon records the same."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "tests" / "python"))

from daemons import BIN, daemon, folder, wait_for  # noqa: E402, F401
from records import records  # noqa: E402

PYTHON_PATH = ROOT / "client_lib" / "python" / "src"
PLAY = [sys.executable, str(HERE / "play.py")]
CLIENTS = {
    "C++": lambda address, path: [
        str(BIN / "nanwatch-conformance"), address, path],
    "Python, op": lambda address, path: [*PLAY, address, path, "op"],
    "Python, ops": lambda address, path: [*PLAY, address, path, "ops"],
}
SCENARIOS = sorted((HERE / "scenarios").glob("*.scenario"))


def recorded(daemon, scenario, client, run):
    """Plays `scenario` as the run `run` and reads what was recorded of it."""
    text = scenario.read_text().replace("run=RUN", f"run={run}")
    played = daemon.folder / f"{run}.scenario"
    played.write_text(text)
    done = subprocess.run(
        CLIENTS[client](daemon.address, str(played)), capture_output=True,
        text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(PYTHON_PATH)})
    assert done.returncode == 0, done.stderr
    # The Python client says once of each argument that it was cut.
    said = done.stderr.splitlines()
    assert all("cut to 512 bytes" in line for line in said), done.stderr
    wait_for("the rank ended", lambda: ended(daemon, run))
    found = {}
    for attempt in range(attempts(daemon, run)):
        path = daemon.folder / f"{run}-{attempt}.db"
        exported = daemon.nanwatch(
            "export", run, "--attempt", str(attempt), "-o", str(path))
        assert exported.returncode == 0, exported.stderr
        for kind, rows in records(path).items():
            found.setdefault(kind, []).extend(rows)
    # The daemon, not the client, records an earlier attempt as the benchmark.
    # A short attempt may end before it does.
    found.pop("benchmark", None)
    return forget_name(found, run)


def attempts(daemon, run):
    return int(daemon.show(run)["summary"].get("attempt", 0)) + 1


def ended(daemon, run):
    text = daemon.nanwatch("show", run).stdout
    return "closed" in text or "lost" in text


def forget_name(found, run):
    """The runs of the clients have names of their own."""
    return {
        kind: [r.replace(run, "RUN") if isinstance(r, str) else r for r in rows]
        for kind, rows in found.items()
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.stem)
def test_all_clients_say_the_same(daemon, scenario):  # noqa: F811
    told = {
        client: recorded(daemon, scenario, client, f"{scenario.stem}-{i}")
        for i, client in enumerate(CLIENTS)
    }
    expected = told["C++"]
    assert expected["steps"], "the scenario says nothing"
    for client, found in told.items():
        assert found.keys() == expected.keys(), client
        for kind, rows in expected.items():
            assert len(found[kind]) == len(rows), (client, kind)
            for ours, theirs in zip(found[kind], rows):
                assert ours == theirs, (client, kind)


def test_the_comparison_sees_a_difference(daemon):  # noqa: F811
    scenario = SCENARIOS[0]
    one = recorded(daemon, scenario, "C++", "as-it-is")
    changed = daemon.folder / "changed.scenario"
    changed.write_text(scenario.read_text().replace("loss=2.5", "loss=2.25"))
    assert changed.read_text() != scenario.read_text()
    other = recorded(daemon, changed, "Python, op", "changed")
    assert one["steps"] != other["steps"]
