"""clang-tidy: on files that differ from the last run that was clean, in the
folders that make a verdict: a fresh machine knows no clean file, and CI has 35
minutes. With NANWATCH_TEST_ALL on every folder, and on the pure ones with the
static analyzer, too, which takes most of the time: in a file that includes gRPC
it goes through that for minutes."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
CLEAN = ROOT / "build" / "clang-tidy-clean.json"
ALL = bool(os.environ.get("NANWATCH_TEST_ALL"))
VERDICT = ("detect", "diagnose", "alert", "engine")
# The pure folders carry the verdicts, app the threads.
CORE = ("model", "scaler", "detect", "diagnose", "alert", "engine", "logs",
        "app")
WITHOUT_ANALYZER = ["--checks=-clang-analyzer-*"]
GCC_ONLY = {"-fpch-preprocess", "-Winvalid-pch", "-Wno-stringop-overread"}
UNITY = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
# Where a header of ours is looked for, after the folder that includes it.
ROOTS = (ROOT / "daemon", ROOT / "client_lib/include", BUILD / "proto/gen")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)


@functools.cache
def read(path):
    """A file's digest, and what of ours it includes."""
    data = path.read_bytes()
    found = []
    for name in INCLUDE.findall(data.decode(errors="replace")):
        places = (folder / name for folder in (path.parent, *ROOTS))
        found += [p.resolve() for p in places if p.is_file()][:1]
    return hashlib.sha256(data).hexdigest(), found


def reached(path):
    """`path` and every file of ours that it includes, however indirectly."""
    seen, todo = set(), [path]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += read(one)[1]
    return sorted(seen)


def is_in(folders, command):
    path = pathlib.Path(command["file"])
    return path.relative_to(ROOT / "daemon").parts[0] in folders


def arguments(command):
    return [] if ALL and is_in(CORE, command) else WITHOUT_ANALYZER


def stamp(command, tool):
    """Changes with all that the verdict on a file depends on."""
    parts = [tool, command["command"], *arguments(command)]
    parts.append((ROOT / ".clang-tidy").read_text())
    for path in reached(pathlib.Path(command["file"]).resolve()):
        parts += [str(path), read(path)[0]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def each_file(command):
    """A command of a unity build compiles many files: one for each of them."""
    if not UNITY.search(command["file"]):
        return [command]
    files = re.findall(r'^#include "([^"]+)"',
                       pathlib.Path(command["file"]).read_text(), re.M)
    return [{**command, "file": file,
             "command": command["command"].replace(command["file"], file)}
            for file in files]


def for_clang(command):
    """A compile command without gcc's precompiled headers and what is for them."""
    words = shlex.split(command["command"])
    if "-include" in words:
        at = words.index("-include")
        del words[at:at + 2]
    words = [w for w in words if w not in GCC_ONLY]
    return {"directory": command["directory"], "file": command["file"],
            "arguments": words}


def check(folder, command):
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(folder),
         *arguments(command), command["file"]],
        capture_output=True, text=True)
    return command, done


def is_checked(command):
    path = pathlib.Path(command["file"])
    if not path.is_relative_to(ROOT / "daemon"):
        return False
    return ALL or is_in(VERDICT, command)


def test_clang_tidy(tmp_path):
    if not (BUILD / "compile_commands.json").exists():
        pytest.fail("build first: tests/run does")
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    chosen = [c for several in commands for c in each_file(several)
              if is_checked(c)]
    assert chosen
    tool = subprocess.run(["clang-tidy", "--version"], check=True,
                          capture_output=True, text=True).stdout
    known = json.loads(CLEAN.read_text()) if CLEAN.exists() else {}
    # Taken before the checks: a file edited meanwhile is checked again.
    stamps = {c["file"]: stamp(c, tool) for c in chosen}
    todo = [c for c in chosen if known.get(c["file"]) != stamps[c["file"]]]
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([for_clang(c) for c in todo]))
    complaints = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for command, done in pool.map(functools.partial(check, tmp_path), todo):
            if done.returncode == 0:
                known[command["file"]] = stamps[command["file"]]
            else:
                complaints.append((done.stdout or done.stderr)[-3000:])
    CLEAN.write_text(json.dumps(known))
    assert not complaints, "\n".join(complaints)
