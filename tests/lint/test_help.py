"""Manual pages, completion of shells and the reference, made of --help: nothing
that a program understands is missing, and the shells can read them."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NANWATCH_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "deploy/help"))

import command  # noqa: E402

PROGRAMS = ("nanwatch", "nanwatchd")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("help")
    subprocess.run([ROOT / "deploy/help/generate", BIN, folder, "1.2.3"],
                   check=True)
    return folder


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request):
    return command.read(BIN / request.param, [request.param])


def options(program):
    return {name for each in program.walk() for option in each.options
            for name in option.names}


def test_every_argument_says_what_it_is(program):
    for each in program.walk():
        assert each.text, each.name
        for row in [*each.positionals, *each.options]:
            assert row.text, f"{each.name} {row.names[0]}: no text"


def manual(made, program):
    (path,) = made.glob(f"man/*/{program.name}.*.gz")
    return gzip.decompress(path.read_bytes()).decode()


def test_the_manual_names_every_option(made, program):
    plain = manual(made, program).replace("\\-", "-")
    for each in program.walk():
        assert each.usage in plain
    for name in options(program):
        assert f"\\fB{name}\\fR" in plain


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_manual_is_roff(made, program):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"],
                          input=manual(made, program), capture_output=True,
                          text=True)
    assert done.returncode == 0
    assert not done.stderr


def test_the_reference_names_every_option(made, program):
    text = (made / "cli.md").read_text()
    for each in program.walk():
        assert f" {each.name}\n" in text
    for name in options(program):
        assert f"`{name}" in text or f", {name}" in text


@pytest.mark.parametrize("shell, file", [
    ("zsh", "zsh/_{}"), ("fish", "fish/{}.fish"), ("bash", "bash/{}")])
def test_shells_read_it(made, program, shell, file):
    path = made / file.format(program.name)
    text = path.read_text()
    for name in options(program):
        assert name.lstrip("-") in text
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


OFFER = """
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
"_${COMP_WORDS[0]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(made, *words, **more):
    done = subprocess.run(
        ["bash", "-c", OFFER, "bash", made / "bash" / words[0], *words],
        capture_output=True, text=True, **more)
    assert not done.stderr, done.stderr
    return done.stdout.split("\n")[:-1]


def test_bash_offers_commands_options_and_their_values(made):
    names = offered(made, "nanwatch", "")
    assert {"check", "run", "bench"} <= set(names)
    assert offered(made, "nanwatch", "bench", "") == ["set", "clear", "show"]
    assert offered(made, "nanwatch", "--address", "x", "expl") == ["explain"]
    assert offered(made, "nanwatch", "explain", "scale_c") == ["scale_collapse"]
    assert offered(made, "nanwatch", "check", "--format", "megat") == ["megatron"]
    assert offered(made, "nanwatch", "bench", "show", "--js") == ["--json"]
    assert offered(made, "nanwatch", "mute", "--reason", "") == [""]
    assert offered(made, "nanwatchd", "--while") == ["--while-locked"]


def test_bash_offers_files(made, tmp_path):
    (tmp_path / "train.log").touch()
    assert offered(made, "nanwatch", "check", "tr", cwd=tmp_path) == ["train.log"]


def test_bash_runs_nothing_that_a_run_is_named(made, tmp_path):
    """A run's name comes from a training, and a shell would expand it."""
    fake = tmp_path / "nanwatch"
    fake.write_text("#!/bin/sh\n"
                    "echo '{\"run_id\":\"job-7\"},{\"run_id\":\"$(touch bad)\"},'"
                    "'{\"run_id\":\"job 8\"}'\n")
    fake.chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert offered(made, "nanwatch", "show", "", env=path,
                   cwd=tmp_path) == ["job-7"]
    assert not (tmp_path / "bad").exists()
