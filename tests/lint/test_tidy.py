"""clang-tidy: on files that differ from the last run that was clean, so that CI
pays for what changed. With NANWATCH_TEST_ALL on every file."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
CLEAN = ROOT / "build" / "clang-tidy-clean.json"
# Pure folders carry the verdicts; the rest is checked under --all.
CORE = ("model", "scaler", "detect", "diagnose", "alert", "engine", "app")


def folders():
    if os.environ.get("NANWATCH_TEST_ALL"):
        return None
    return CORE


def stamp(command):
    """Changes with the file, every header of ours, and the checks."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    text = pathlib.Path(command["file"]).read_bytes()
    digest.update(text)
    for header in re.findall(rb'#include "([^"]+)"', text):
        path = ROOT / "daemon" / header.decode()
        if path.exists():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def check(command):
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(BUILD), command["file"]],
        capture_output=True, text=True)
    return command, done


def test_clang_tidy():
    if not (BUILD / "compile_commands.json").exists():
        pytest.fail("build first: tests/run does")
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    chosen = [
        c for c in commands
        if c["file"].startswith(str(ROOT / "daemon"))
        and (folders() is None
             or pathlib.Path(c["file"]).relative_to(ROOT / "daemon").parts[0]
             in folders())
    ]
    assert chosen
    known = json.loads(CLEAN.read_text()) if CLEAN.exists() else {}
    stamps = {c["file"]: stamp(c) for c in chosen}
    todo = [c for c in chosen if known.get(c["file"]) != stamps[c["file"]]]
    complaints = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command, done in pool.map(check, todo):
            if done.returncode == 0:
                known[command["file"]] = stamps[command["file"]]
            else:
                complaints.append(done.stdout[-3000:])
    CLEAN.write_text(json.dumps(known))
    assert not complaints, "\n".join(complaints)
