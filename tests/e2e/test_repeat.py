"""`nanwatch repeat`, `precheck` and `fusion` of programs that cannot be judged,
and floors that are none, as a user calls them. What they say of trainings is in
tests/compare."""

import json
import subprocess
import sys

import pytest
from conftest import BIN, ROOT


def nanwatch(daemon, *arguments):
    return subprocess.run(
        [BIN / "nanwatch", "--address", daemon.address, *map(str, arguments)],
        capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("command", ["repeat", "precheck", "fusion"])
def test_a_program_that_fails_is_said_with_its_status(daemon, command):
    done = nanwatch(daemon, command, "--", "sh", "-c", "echo hello; exit 7")
    assert done.returncode == 3
    assert done.stdout == ""  # what the program prints is no result
    assert "hello" in done.stderr
    assert "status 7" in done.stderr


@pytest.mark.parametrize("command", ["repeat", "precheck", "fusion"])
def test_a_program_that_tells_nothing_is_told_what_to_call(daemon, command):
    done = nanwatch(daemon, command, "--", "true")
    assert done.returncode == 3
    assert "nanwatch.torch.watch" in done.stderr


@pytest.mark.parametrize("command", ["repeat", "precheck", "fusion"])
def test_a_program_that_is_not_there_is_named(daemon, command):
    done = nanwatch(daemon, command, "--", "no-such-program")
    assert done.returncode == 3
    assert "no-such-program: No such file or directory" in done.stderr


FLOORS = {"nanwatch_floors": 1, "repeats": 1, "steps": [
    {"step": 0, "loss": 0.1, "tensors": [
        {"op": "fc", "type": "Linear", "slot": "output", "place": 0,
         "distance": 0.1}]}]}


def changed(**tensor):
    text = json.loads(json.dumps(FLOORS))
    text["steps"][0]["tensors"][0].update(tensor)
    return json.dumps(text)


@pytest.mark.parametrize("text", [
    "", "[", "[]", "null", "{}", '{"nanwatch_floors": 2, "steps": []}',
    '{"nanwatch_floors": 1}', '{"nanwatch_floors": 1, "steps": [7]}',
    changed(distance=-1), changed(distance="far"), changed(slot="pocket"),
    changed(place=None), changed(op=["fc"]),
    json.dumps(FLOORS).replace("0.1", "1e999"), "[" * 100_000,
])
def test_a_file_that_holds_no_floors_is_refused(tmp_path, text):
    log = tmp_path / "a.log"
    log.write_text("".join(f"step {i}: loss 2.5\n" for i in range(60)))
    floors = tmp_path / "floors.json"
    floors.write_text(text)
    done = subprocess.run(
        [BIN / "nanwatch", "compare", log, log, "--floors", floors],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stdout
    assert str(floors) in done.stderr and "repeat --floors" in done.stderr


def test_floors_are_read(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("".join(f"step {i}: loss 2.5\n" for i in range(60)))
    floors = tmp_path / "floors.json"
    floors.write_text(json.dumps(FLOORS))
    done = subprocess.run(
        [BIN / "nanwatch", "compare", log, log, "--floors", floors],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


OPENS = """
import nanwatch
nanwatch.init(precision="fp16", settings={"lr": "0.1"})
raise SystemExit(9)
"""


@pytest.mark.parametrize("mode", ["", "0", "1"])
def test_precheck_reads_what_any_client_says(daemon, monkeypatch, mode):
    """Without a framework: what `nanwatch.init` is given, and the
    environment."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "client_lib/python/src"))
    monkeypatch.setenv("INF_NAN_MODE_ENABLE", mode)
    done = nanwatch(daemon, "precheck", "--json", "--", sys.executable, "-c",
                    OPENS)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["settings"]["lr"] == "0.1"
    assert found["settings"]["precision"] == "fp16"
    assert found["settings"].get("env.INF_NAN_MODE_ENABLE", "") == mode
    wrong = [one["key"] for one in found["remarks"]
             if one["weight"] == "wrong"]
    assert wrong == ["scaler"]
