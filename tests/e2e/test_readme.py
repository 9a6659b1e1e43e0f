"""What the README and the pages of docs/ show, run: their commands, and their
transcripts."""

import contextlib
import gzip
import math
import pathlib
import random
import re
import signal
import subprocess

import pytest
from conftest import BIN, ROOT, Daemon, wait_for, word2vec

TEXT = "\n".join(page.read_text() for page in [
    ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
BLOCKS = [block for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S)
          if "nanwatch" in block]
COMMANDS = sorted({line.split("#")[0].strip() for block in BLOCKS
                   for line in block.splitlines()
                   if re.match(r"(python |nanwatch)", line)})


def megatron_log():
    """In the texture of Megatron: every iteration overflows from 2400 on."""
    noise = random.Random(7)
    scale = 2.0 ** 18
    lines = ["using world size: 8, data-parallel-size: 2, "
             "tensor-model-parallel size: 2, pipeline-model-parallel size: 2 ",
             "training ..."]
    for step in range(10, 2601, 10):
        skipped = 10 if step > 2400 else 2 if step == 2050 else 0
        if step == 1050:
            scale *= 2
        scale = max(1.0, scale / 2 ** skipped) if skipped > 2 else (
            scale / 2 if skipped else scale)
        loss = 3 + 7.5 * math.exp(-step / 400) + 0.05 * noise.gauss(0, 1)
        shown = f"lm loss: {loss:.6E} | " if skipped < 10 else ""
        lines.append(
            f" iteration {step:8d}/   10000 | consumed samples: {step * 64:12d}"
            " | elapsed time per iteration (ms): 412.7 | learning rate: "
            f"1.500E-04 | global batch size:    64 | {shown}loss scale: "
            f"{scale:.1f} | grad norm: {0.8 + 0.1 * noise.random():.3f} | "
            f"number of skipped iterations: {skipped:3d} | number of nan "
            "iterations:   0 |")
    return "\n".join(lines) + "\n"


@pytest.fixture
def place(folder, usual_places):
    """A folder that has what the commands name."""
    for name in ("train", "good"):
        (folder / f"{name}.log").write_text(megatron_log())
    (folder / "logs").mkdir()
    for name in ("a", "b"):
        (folder / f"logs/{name}.log.gz").write_bytes(
            gzip.compress(megatron_log().encode()))
    for rank in (0, 1):
        (folder / f"rank_{rank}.log").write_text(megatron_log())
    (folder / "train.py").write_text(
        "print(open('train.log').read(), end='')\n")
    (folder / "FILE").write_text("rules: {}\n")
    notify = re.search(r"```yaml\n(notify:.*?)```", TEXT, re.S)[1]
    (folder / "nanwatch.yaml").write_text(notify)
    # What `nanwatch run` starts lives on for 2 s: not with the usual history,
    # which the next daemon wants.
    daemon = folder / "daemon-of-a-job"
    daemon.write_text(f"#!/bin/sh\nexec {BIN}/nanwatchd \"$@\" --history "
                      f"{folder}/history.db\n")
    daemon.chmod(0o755)
    (folder / "deploy").symlink_to(ROOT / "deploy")
    return folder


def shell(place, command, **options):
    return subprocess.Popen(
        ["bash", "-c", command], cwd=place, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": f"{BIN}:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(place),
             "HOME": str(place), "LC_ALL": "C.UTF-8",
             "NANWATCH_DAEMON": f"{place}/daemon-of-a-job"}, **options)


def processes_named(word):
    """Of which the command line holds `word`."""
    found = []
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            # Another test's may hold what is no text.
            if word.encode() in line.read_bytes():
                found.append(line)
    return found


def test_there_are_commands():
    assert len(COMMANDS) >= 6, COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_stands_beside_it(place, command):
    command = command.replace("python ", "/usr/bin/python3 ")
    lasts = command.startswith("nanwatch tail") or (
        command.startswith("nanwatchd") and "--check" not in command)
    if command.startswith("nanwatchd") and lasts:
        # Another's port may be in use.
        command += " --listen 127.0.0.1:0"
    process = shell(place, f"exec {command}" if lasts else command)
    if lasts:
        try:
            process.wait(2)  # it goes on until it is told
        except subprocess.TimeoutExpired:
            pass
        else:
            pytest.fail("it ended: " + "".join(process.communicate(timeout=20)))
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    said = out + err
    if re.search(r"nanwatch (run|repeat|precheck|fusion)\b", command):
        # The next command finds the machine as this one did.
        wait_for("the daemon that it started ends",
                 lambda: not processes_named(str(place)))
    if "nanwatchd" in command:
        assert process.returncode == 0, said
    elif re.search(r"nanwatch (tail|check)\b", command):
        assert "overflow_streak" in said or "CRITICAL" in said, said
        assert process.returncode == 2, said


def test_the_transcript_is_what_check_says(place):
    """To take it anew: nanwatch check on `megatron_log()`."""
    command = 'nanwatch check train.log; echo "exit status $?"'
    out, _ = shell(place, command).communicate(timeout=20)
    assert f"```\n$ {command}\n{out}```\n" in TEXT


def test_diagnose_is_of_the_scenario_that_it_is_shown_of(folder):
    assert "`nanwatch diagnose padding`" in TEXT
    daemon = Daemon(folder).start()
    try:
        word2vec(daemon.address, "--run", "padding", "--scenario", "padding",
                 "--steps", "300", "--quiet")
        said = daemon.nanwatch("diagnose", "padding").stdout
        # The paragraph as the page has it, whatever the number of steps.
        verdict = re.search(r"  No update is applied .*?padding\s+is\s+bad\.", said,
                            re.S)[0]
        assert verdict in TEXT
    finally:
        daemon.kill()
