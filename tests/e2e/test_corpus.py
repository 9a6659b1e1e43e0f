"""Logs of real trainings whose outcome is known. They belong to others and are
no part of this project: NANWATCH_CORPUS names the folder that holds them, with
a program `judge` that runs `nanwatch check --json` on each and compares."""

import os
import pathlib
import subprocess

import pytest

from conftest import BIN

CORPUS = os.environ.get("NANWATCH_CORPUS", "")


@pytest.mark.skipif(not CORPUS, reason="did not run: NANWATCH_CORPUS names no "
                    "folder of logs with known outcomes")
def test_real_logs_are_judged_as_what_happened():
    judge = pathlib.Path(CORPUS) / "judge"
    done = subprocess.run([str(judge), str(BIN / "nanwatch")],
                          capture_output=True, text=True, timeout=600)
    print(done.stdout, done.stderr)
    verdicts = done.stdout.splitlines()
    wrong = [line for line in verdicts if line.startswith("FAIL")]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
    passed = sum(line.startswith("ok") for line in verdicts)
    assert passed > 0, "the judge looked at nothing"
