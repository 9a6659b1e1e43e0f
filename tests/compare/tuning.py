"""The commands of docs/ACCURACY_TUNING.md, run in their order on a training
that has a fault of the kind which each of them is for."""

import os
import pathlib
import re
import subprocess
import sys

import daemons

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "ACCURACY_TUNING.md"
# By command: the fault, the exit status, and what is named.
EXPECTED = {
    "precheck": ("rate", 1, "optimizer.lr"),
    "run": ("nan", 0, "CRITICAL"),
    "diagnose": ("", 2, "op log (Log"),
    "fusion": ("epsilon", 2, "block.norm"),
    "compare": ("", 2, "log (Log, fp32)"),
    "repeat": ("dropout", 2, "block.drop (Dropout)"),
}


def commands():
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.S)[1]
    return [line.split("#")[0].strip() for line in block.splitlines()]


def judge_tuning(judge, folder):
    (folder / "train.py").symlink_to(HERE / "tuned.py")
    (folder / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "python").chmod(0o755)
    environment = {
        **os.environ, "NANWATCH_ADDRESS": judge.address,
        "PYTHONPATH": str(daemons.SOURCE),
        "PATH": f"{folder}:{daemons.BIN}:{os.environ['PATH']}"}

    def shell(command, **more):
        return subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True,
            timeout=1500, env={**environment, **more})

    def train(run, fault=""):
        shell("python train.py", NANWATCH_RUN_ID=run,
              FAULT=fault).check_returncode()

    train("good")
    named = []
    for command in commands():
        name = command.split()[1]
        named.append(name)
        fault, status, word = EXPECTED[name]
        if name == "compare":
            train("ported", "log")  # as it is when the NaN are mended
        done = shell(command, FAULT=fault)
        said = done.stdout + done.stderr
        judge.count("accuracy tuning", command, done.returncode == status
                    and word in said, f"status {done.returncode}")
        if judge.shown or done.returncode != status or word not in said:
            print(said[-3000:])
    judge.count("accuracy tuning", "one command for each step",
                named == list(EXPECTED), f"{named}")
