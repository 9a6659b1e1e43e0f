"""nanwatch demo: a page with five small runs, and what each of them is."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest
from conftest import BIN, get_json

# Run, its health, and a rule that must have fired.
EXPECTED = {
    "demo-healthy": ("healthy", None),
    "demo-collapse": ("critical", "overflow_streak"),
    "demo-padding": ("critical", "overflow_not_scale_dependent"),
    "demo-nan": ("critical", "loss_nonfinite"),
    "demo-divergence": ("critical", "gnorm_explosion"),
}


@pytest.fixture
def demo(folder):
    process = subprocess.Popen(
        [BIN / "nanwatch", "demo"], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)})
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()


def read_until(process, word):
    said = ""
    while word not in said:
        line = process.stdout.readline()
        assert line, said + process.stderr.read()
        said += line
    return said


def test_it_shows_a_page_and_leaves_nothing(demo, folder):
    said = read_until(demo, "nanwatch --address")
    page = re.search(r"^http://127\.0\.0\.1:\d+$", said, re.M)[0]
    runs = get_json(page + "/api/v1/runs")["runs"]
    assert {run["run_id"] for run in runs} == set(EXPECTED)
    assert list(folder.glob("nanwatch-demo-*"))
    demo.send_signal(signal.SIGINT)
    assert demo.wait(20) == 0, demo.stderr.read()
    assert not list(folder.glob("nanwatch-demo-*"))


def test_each_run_is_what_it_says(daemon):
    done = daemon.nanwatch("demo")
    assert done.returncode == 0, done.stderr
    table = daemon.nanwatch("runs").stdout
    for name, (health, rule) in EXPECTED.items():
        assert re.search(rf"^{health} +{name} ", table, re.M), table
        found = json.dumps(daemon.show(name))
        assert rule is None or rule in found, found[:2000]


def test_each_run_is_of_one_program(daemon):
    assert daemon.nanwatch("demo").returncode == 0
    for name in EXPECTED:
        run = get_json(f"{daemon.http}/api/v1/runs/{name}")
        assert run["scaler"]["name"] == run["description"]["framework"]


def test_a_model_that_is_not_updated_does_not_learn(daemon):
    assert daemon.nanwatch("demo").returncode == 0
    buckets = get_json(
        f"{daemon.http}/api/v1/runs/demo-collapse/steps")["buckets"]
    skipped = [b["values"]["loss"]["last"] for b in buckets if b["skipped"]]
    assert len(skipped) == 200
    half = len(skipped) // 2
    change = sum(skipped[half:]) / half - sum(skipped[:half]) / half
    assert abs(change) < 0.02, change  # the noise of a record


def test_without_a_daemon_at_the_address_it_says_so(folder):
    done = subprocess.run(
        [BIN / "nanwatch", "--address", f"unix:{folder}/nobody.sock", "demo"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "nobody.sock" in done.stderr
