"""Logs of real trainings whose outcome is known. They belong to others and are
no part of this project: NANWATCH_CORPUS and NANWATCH_CASES name folders that
hold them, whole or rebuilt from reports, each with a program `judge` that runs
`nanwatch check --json` on each and compares."""

import os
import pathlib
import subprocess

import pytest

from conftest import BIN


def _wrong(variable):
    """Returns what the judge of that folder finds wrong, a line a log."""
    folder = os.environ.get(variable, "")
    if not folder:
        pytest.skip(f"did not run: {variable} names no folder of logs with "
                    "known outcomes")
    done = subprocess.run(
        [str(pathlib.Path(folder) / "judge"), str(BIN / "nanwatch")],
        capture_output=True, text=True, timeout=600)
    print(done.stdout, done.stderr)
    verdicts = done.stdout.splitlines()
    wrong = [line for line in verdicts if line.startswith("FAIL")]
    assert (done.returncode == 0) == (not wrong), done.stderr
    assert any(line.startswith("ok") for line in verdicts), (
        "the judge looked at nothing")
    return wrong


@pytest.mark.parametrize("variable", ["NANWATCH_CORPUS", "NANWATCH_CASES"])
def test_real_logs_are_judged_as_what_happened(variable):
    wrong = _wrong(variable)
    assert not wrong, "\n".join(wrong)
