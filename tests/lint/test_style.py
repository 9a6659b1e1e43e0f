"""The style guide, run as a test: each message says what to do instead."""

import pathlib
import re
import shutil
import subprocess

import pytest


ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*suffixes):
    out = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"],
        capture_output=True, check=True,
    ).stdout.decode()
    paths = [ROOT / p for p in out.split("\0") if p]
    return [p for p in paths if p.suffix in suffixes and p.is_file()]


CXX = (".h", ".hpp", ".cc", ".c")


SOURCE = re.compile(r"[\w./-]+\.(?:cc|c)\b")
FUZZ = re.compile(r"^nanwatch_fuzz\((\w+)", re.M)


def listed():
    """Every source that some CMakeLists.txt or Makefile names, as a path."""
    found = set()
    for path in tracked(".txt", ""):
        if path.name not in ("CMakeLists.txt", "Makefile"):
            continue
        text = re.sub(r"#.*", "", path.read_text())
        for variable in ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"):
            text = text.replace("${%s}" % variable, str(ROOT))
        names = SOURCE.findall(text.replace("${CMAKE_CURRENT_SOURCE_DIR}/", ""))
        names += [f"{name}_fuzz.cc" for name in FUZZ.findall(text)]
        found |= {(path.parent / name).resolve() for name in names}
    return found


def test_every_source_is_listed_in_cmake():
    """A file that no build knows is rot, most of all when it is a test."""
    known = listed()
    dead = [
        str(p.relative_to(ROOT))
        for p in tracked(".cc", ".c") if p.resolve() not in known
    ]
    assert not dead, f"dead, or missing from their CMakeLists.txt: {dead}"


def test_no_rooms_without_a_noun():
    banned = re.compile(r"(^|_)(utils?|common|helpers?|managers?|misc)($|_)")
    wrong = [
        str(p.relative_to(ROOT))
        for p in tracked(*CXX, ".py")
        if banned.search(p.stem) or any(banned.search(d) for d in p.parent.parts
                                        [len(ROOT.parts):])
    ]
    assert not wrong, f"name the noun these answer for: {wrong}"


BANNED = [
    (re.compile(r"\bstd::endl\b"), "use '\\n'"),
    (re.compile(r"\bsleep_for\b"), "time is an argument; tests do not sleep",
     "tests/unit"),
    (re.compile(r"\b(FIXME|XXX)\b"), "mend it, or say why it stays"),
    (re.compile(r"\bTODO\b"), "mend it, or say why it stays"),
    (re.compile(r"DISABLED_|GTEST_SKIP"), "a skipped test is no test"),
    (re.compile(r"-ffast-math"), "verdicts must not depend on it"),
]


@pytest.mark.parametrize("rule", BANNED, ids=lambda r: r[0].pattern)
def test_banned(rule):
    pattern, instead = rule[:2]
    under = rule[2] if len(rule) > 2 else ""
    wrong = [
        f"{p.relative_to(ROOT)}:{n}: {instead}"
        for p in tracked(*CXX)
        if str(p.relative_to(ROOT)).startswith(under)
        for n, line in enumerate(p.read_text().splitlines(), 1)
        if pattern.search(line) and not line.lstrip().startswith("//")
    ]
    assert not wrong, "\n".join(wrong)


# Idioms that a reader has to take apart first.
IDIOMS = re.compile(
    r"\b(as ever|(?:is|are|was|were) told of|likewise"
    r"|of which (?:none|nothing|no))\b", re.I)


# A person knows rules by their names.
NUMBERED = re.compile(r'"[^"]*\brules? \d')


def test_words_are_plain():
    wrong = []
    for p in tracked(*CXX):
        if p.relative_to(ROOT).parts[0] != "daemon":
            continue
        wrong += [
            f"{p.relative_to(ROOT)}:{n}: say it in plain words"
            for n, line in enumerate(p.read_text().splitlines(), 1)
            if IDIOMS.search(line) or NUMBERED.search(line)
        ]
    assert not wrong, "\n".join(wrong)


def test_lines_fit_in_80_columns():
    wrong = [
        f"{p.relative_to(ROOT)}:{n}"
        for p in tracked(*CXX)
        for n, line in enumerate(p.read_text().splitlines(), 1)
        if len(line) > 80 and "http" not in line and '"' not in line
    ]
    assert not wrong, "\n".join(wrong)


def test_headers_are_guarded_by_their_path():
    wrong = []
    for p in tracked(".h"):
        rel = p.relative_to(ROOT)
        if rel.parts[0] != "daemon":
            continue
        inside = "_".join(rel.parts[1:]).upper().replace(".", "_")
        guard = f"NANWATCH_{inside}_"
        if f"#ifndef {guard}" not in p.read_text():
            wrong.append(f"{rel}: expected {guard}")
    assert not wrong, "\n".join(wrong)


def test_functions_are_at_most_70_lines():
    """Bodies of functions at column 0, as clang-format lays them out."""
    wrong = []
    for p in tracked(".cc"):
        if not str(p.relative_to(ROOT)).startswith(("daemon", "client_lib")):
            continue
        start = None
        for n, line in enumerate(p.read_text().splitlines(), 1):
            if re.match(r"^[A-Za-z].*\{$", line) and not line.startswith(
                ("namespace", "class", "struct", "enum", "constexpr", "const ",
                 "extern", "inline constexpr", "static const", "template")
            ):
                start = n
            elif line == "}" and start:
                if n - start > 72:
                    wrong.append(f"{p.relative_to(ROOT)}:{start}: {n - start}")
                start = None
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not shutil.which("clang-format"), reason="installed by run")
def test_clang_format():
    files = [str(p) for p in tracked(*CXX)]
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *files],
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_shell_scripts_are_valid():
    scripts = [
        p for p in tracked("")
        if p.read_bytes()[:20].startswith((b"#!/usr/bin/env bash", b"#!/bin/sh"))
    ]
    assert scripts
    for script in scripts:
        shell = script.read_text().splitlines()[0].split("/")[-1].split()[-1]
        subprocess.run([shell, "-n", str(script)], check=True)
        assert script.stat().st_mode & 0o111, f"{script} is not executable"


def test_a_page_prints_the_packages_that_quickstart_installs():
    wanted = re.sub(r"#.*", "", (ROOT / "deploy/packages").read_text()).split()
    page = (ROOT / "docs/INSTALL.md").read_text()
    line = re.search(r"^apt-get install (?:-\S+ )*((?:[^\n]*\\\n)*[^\n]*)", page,
                     re.M)
    assert line, "docs/INSTALL.md prints no apt-get install line"
    printed = line.group(1).replace("\\\n", " ").split()
    assert sorted(printed) == sorted(wanted)


def test_contributing_quotes_files_as_they_are():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    quoted = re.findall(r"```cpp\n// (daemon/\S+)\n(.*?)```", text, re.S)
    quoted += re.findall(r"`(tests/golden/\S+\.scenario)`\n\n```\n(.*?)```",
                         text, re.S)
    assert len(quoted) >= 4
    stale = [path for path, lines in quoted
             if (ROOT / path).read_text() != lines]
    assert not stale, f"CONTRIBUTING.md quotes these as they were: {stale}"


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them by name alone, and takes one for the other."""
    folders = ("lint", "e2e", "python", "conformance")
    names = [path.name for folder in folders
             for path in (ROOT / "tests" / folder).glob("*.py")
             if path.name != "conftest.py"]
    assert len(names) > 50
    assert not {name for name in names if names.count(name) > 1}
