"""The line by which a person finds a run, its name, and how it is shown."""

import os
import re
import subprocess
import sys

import pytest
from daemons import (  # noqa: F401
    BIN,
    SOURCE,
    daemon,
    folder,
    program,
    summary,
    usual_places,
    wait_for,
)

from nanwatch._first_line import find_page
from nanwatch._run_name import name_run

TRAIN = """
import sys
import nanwatch
runs = [nanwatch.init(run=name, address=sys.argv[1]) for name in sys.argv[2:]]
for run in runs:
    for step in range(10):
        run.step(step, loss=1.0)
    run.flush(10)
"""


def train(*arguments, text=TRAIN, **more):
    done = program(text, *arguments,
                   more={"NANWATCH_QUIET": "", "PYTHONIOENCODING": "utf-8",
                         **more})
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    return out, err.splitlines()


def test_it_says_where_the_run_is_shown(daemon):  # noqa: F811
    _, lines = train(daemon.address, "job 7")
    assert lines == [f"nanwatch: run job 7 · {daemon.http}/?run=job%207"]


def test_each_run_says_it_once(daemon):  # noqa: F811
    _, lines = train(daemon.address, "a", "b")
    assert sorted(line.split(" · ")[0] for line in lines) == [
        "nanwatch: run a", "nanwatch: run b"]


def test_a_name_of_two_lines_is_said_in_one(daemon):  # noqa: F811
    _, lines = train(daemon.address, "a\nb")
    assert len(lines) == 1 and lines[0].startswith("nanwatch: run a?b "), lines


def test_where_letters_are_ascii_it_is_ascii(daemon):  # noqa: F811
    _, lines = train(daemon.address, "a", PYTHONIOENCODING="ascii")
    assert lines == [f"nanwatch: run a - {daemon.http}/?run=a"]


@pytest.mark.parametrize("more", [
    {"NANWATCH_QUIET": "1"}, {"RANK": "1", "WORLD_SIZE": "2"}])
def test_it_is_silent_if_asked_and_on_other_ranks(daemon, more):  # noqa: F811
    assert train(daemon.address, "a", **more)[1] == []


def test_standard_error_may_be_closed(daemon):  # noqa: F811
    _, lines = train(daemon.address, "a", text="import sys\nsys.stderr.close()\n"
                     "sys.stderr = None\n" + TRAIN)
    assert lines == []


def test_without_a_daemon_it_says_so(folder):  # noqa: F811
    text = TRAIN.replace("run.flush(10)", "run.flush(0.5)")
    _, lines = train(f"unix:{folder}/nobody.sock", "a", text=text)
    (line,) = lines
    assert line.startswith("nanwatch: no daemon at ") and "nobody.sock" in line


def test_a_daemon_that_it_started_is_said(folder, usual_places):  # noqa: F811
    starter = folder / "nanwatchd"
    starter.write_text(f"#!/bin/sh\nexec {BIN}/nanwatchd \"$@\" "
                       f"--history {folder}/history.db\n")
    starter.chmod(0o755)
    more = {"XDG_RUNTIME_DIR": str(folder), "NANWATCH_AUTOSTART": "1",
            "NANWATCH_DAEMON": str(starter)}
    _, lines = train("", "a", **more)
    (line,) = lines
    assert re.match(r"nanwatch: run a · http://127\.0\.0\.1:\d+/\?run=a ", line)
    assert "started nanwatchd" in line


def test_a_daemon_that_could_not_be_started_is_said(
        folder, usual_places):  # noqa: F811
    text = TRAIN.replace("run.flush(10)", "run.flush(2)")
    _, lines = train("", "a", text=text, XDG_RUNTIME_DIR=str(folder),
                     NANWATCH_AUTOSTART="1", NANWATCH_DAEMON="/bin/false")
    assert "no daemon" in lines[0] and "/bin/false ended" in lines[0]


def test_the_page_is_one_that_can_be_reached():
    here = "http://127.0.0.1:9765"
    assert find_page(here, "a", "unix:/s") == here + "/?run=a"
    assert find_page(here, "a", "127.0.0.1:50051") == here + "/?run=a"
    assert find_page(here, "a", "tls://gpu7:50051") == ""
    assert find_page("", "a", "unix:/s") == ""
    every = "https://0.0.0.0:9765"
    assert find_page(every, "a", "tls://gpu7:1") == "https://gpu7:9765/?run=a"
    assert "0.0.0.0" not in find_page(every, "a", "unix:/s")


@pytest.mark.parametrize("script, environment, stem", [
    ("/home/me/train.py", {}, "train"),
    ("-c", {}, "python"),
    ("", {}, "python"),
    ("/lib/fairseq/__main__.py", {}, "fairseq"),
    ("/x/my run (2).py", {}, "my-run-2"),
    ("/x/ipykernel_launcher.py", {}, "notebook"),
    ("/x/ipykernel_launcher.py", {"JPY_SESSION_NAME": "/n/gan.ipynb"}, "gan"),
])
def test_a_run_without_a_name_says_script_and_time(script, environment, stem):
    name = name_run(0x12345, 1764214865.0, environment, script)
    assert re.fullmatch(re.escape(stem) + r"-2025112[67]-\d{4}-2345", name)


def test_the_daemon_has_it_under_that_name(daemon, tmp_path):  # noqa: F811
    script = tmp_path / "finetune.py"
    script.write_text(TRAIN.replace("run=name", "job=name"))
    done = subprocess.run(
        [sys.executable, script, daemon.address, "x"], capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(SOURCE),
                        "NANWATCH_QUIET": "", "PYTHONIOENCODING": "utf-8"})
    name = re.search(r"run (\S+) ·", done.stderr)[1]
    assert name.startswith("finetune-")
    assert int(summary(daemon, name)["steps"]) == 10


def test_a_run_shows_itself(daemon):  # noqa: F811
    out, _ = train(daemon.address, "job", text=TRAIN + """
print(repr(run))
print(run.url)
print(run._repr_html_())
""")
    shown, url, linked = out.splitlines()
    assert url == f"{daemon.http}/?run=job"
    assert "'job'" in shown and url in shown
    assert f'href="{url}"' in linked


def test_dir_has_what_there_is():
    import nanwatch
    assert {"init", "torch", "transformers", "Run"} <= set(dir(nanwatch))
