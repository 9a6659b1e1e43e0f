"""deploy/quickstart, as the README says it, in the build that is there."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from conftest import ALL, ROOT, wait_for

pytestmark = pytest.mark.skipif(
    not (ROOT / "build/release/build.ninja").exists(),
    reason="build/release is not configured; quickstart would build it all")


def call(*arguments, tree=ROOT, timeout=600):
    return subprocess.run(
        [tree / "deploy/quickstart", "--no-install", *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=timeout,
    )


def has_ended(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


def test_both_verdicts_are_right(capsys):
    began = time.monotonic()
    done = call()
    with capsys.disabled():
        print(f"\nquickstart: {time.monotonic() - began:.0f} s in a warm build")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = re.findall(r"^The verdict is .*", done.stdout, re.M)
    assert verdicts == [
        "The verdict is right: critical, harmless_padding (established).",
        "The verdict is right: info, harmless_padding (established).",
    ]
    assert "WRONG" not in done.stderr
    padding, cure = (json.loads((
        ROOT / f"build/quickstart/{scenario}.json").read_text())
        for scenario in ("padding", "cure"))
    assert padding["summary"]["applied"] == "0"
    assert padding["summary"]["overflows"] == "4000"
    assert any("enable_overflow_check=False" in action["sentence"]
               for action in padding["causes"][0]["actions"])
    assert cure["summary"]["condition"] == "noted"
    happened = " ".join(done.stdout.split("== What happened")[1].split())
    assert "Nothing was learned, as this scenario shows." in happened
    for run in (padding, cure):
        headline = " ".join(run["summary"]["headline"].split())
        assert f"nanwatch says: {headline}" in happened


@pytest.mark.parametrize("arguments", [
    ("--scenario", "bogus"), ("--scenario",), ("--scaler", "bogus"),
    ("--bogus",),
])
def test_a_wrong_option_is_told(arguments):
    done = call(*arguments)
    assert done.returncode == 2
    assert arguments[-1] in done.stderr
    assert done.stdout == ""


def test_keep_leaves_a_daemon_that_its_pid_ends():
    done = call("--keep", "--scenario", "nan")
    assert done.returncode == 0, done.stdout + done.stderr
    pid = int(re.search(r"runs on as process (\d+)", done.stdout)[1])
    try:
        comm = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        assert comm == "nanwatchd"
        address = re.search(r"export (NANWATCH_ADDRESS)=(\S+)", done.stdout)
        runs = subprocess.run(
            [ROOT / "build/release/bin/nanwatch", "runs"], text=True,
            capture_output=True, timeout=60,
            env={**os.environ, address[1]: address[2]},
        )
        assert "nan" in runs.stdout, runs.stderr
        again = call("--scenario", "nan")
        assert again.returncode == 1
        assert f"kill {pid}" in again.stderr
        assert not has_ended(pid)
        assert (ROOT / "build/quickstart/history.db").exists()
    finally:
        os.kill(pid, signal.SIGTERM)
    wait_for("the daemon that was kept ends", lambda: has_ended(pid))


@pytest.mark.skipif(not ALL, reason="a build; under NANWATCH_TEST_ALL=1")
def test_a_build_from_nothing_compiles_files_together(tmp_path):
    subprocess.run(
        f"git -C {ROOT} ls-files -z --cached --others --exclude-standard |"
        f" tar -C {ROOT} --null -T - --ignore-failed-read -c |"
        f" tar -C {tmp_path} -x",
        shell=True, check=True)
    done = call("--scenario", "nan", tree=tmp_path, timeout=3000)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "The verdict is right: warning, nan_from_forward" in done.stdout
    cli = tmp_path / "build/release/daemon/cli/CMakeFiles/nanwatch_cli.dir"
    assert list(cli.glob("Unity/unity_*.o"))
