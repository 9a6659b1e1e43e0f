"""init(autostart=True): a daemon beside the job, which ends with it."""

import contextlib
import os
import re
import signal
import stat
import subprocess
import sys

import pytest
from daemons import (  # noqa: F401
    BIN,
    SOURCE,
    folder,
    said,
    usual_places,
    wait_for,
)

TRAIN = """
import sys, time
import nanwatch
run = nanwatch.init(run=sys.argv[1])
for step in range(100):
    run.step(step, loss=1.0)
print(run.flush(15), run.stats.acked, run.stats.error, flush=True)
"""
WAIT = TRAIN + "sys.stdin.readline()\n"


class Place:
    """A machine's default addresses, and a daemon to be found there."""

    def __init__(self, folder):  # noqa: F811
        self.folder = folder
        self.starts = folder / "starts"
        self.starts.touch()
        self.program = folder / "nanwatchd"
        # Not the history of this machine; and how often it was started.
        self.program.write_text(
            f"#!/bin/sh\necho $$ >>{self.starts}\n"
            f"exec {BIN}/nanwatchd \"$@\" --history {folder}/history.db\n")
        self.program.chmod(0o755)
        self.environment = {
            **{k: v for k, v in os.environ.items()
               if not k.startswith("NANWATCH")},
            "PYTHONPATH": str(SOURCE),
            "XDG_RUNTIME_DIR": str(folder),
            "NANWATCH_AUTOSTART": "1",
            "NANWATCH_QUIET": "1",
            "PATH": f"{folder}:{os.environ['PATH']}",
        }

    def train(self, text, *arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-c", text, *arguments], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**self.environment, **environment})

    def daemons(self):
        """Process ids of those that were started and live."""
        live = []
        for pid in map(int, self.starts.read_text().split()):
            with contextlib.suppress(OSError):
                status = open(f"/proc/{pid}/stat").read()
                if not re.search(r"\) Z ", status):
                    live.append(pid)
        return live

    def started(self):
        return len(self.starts.read_text().split())

    def show(self, run):
        return subprocess.run(
            [BIN / "nanwatch", "show", run], env=self.environment, text=True,
            capture_output=True, timeout=30).stdout


@pytest.fixture
def place(folder, usual_places):  # noqa: F811
    it = Place(folder)
    yield it
    for pid in it.daemons():
        os.kill(pid, signal.SIGKILL)


def test_it_runs_with_the_job_and_ends_with_it(place):
    training = place.train(WAIT, "alone")
    assert training.stdout.readline() == "True 100 \n"
    assert "alone" in place.show("alone") and place.started() == 1
    # Of nobody else's concern: neither the folder nor what lies there.
    mode = os.stat(place.folder / "nanwatch").st_mode
    assert stat.S_IMODE(mode) == 0o700
    # ^C at the terminal ends the training alone.
    [daemon] = place.daemons()
    assert os.getsid(daemon) != os.getsid(training.pid)
    assert said(training) == ""
    wait_for("the daemon ends", lambda: not place.daemons())
    log = (place.folder / "nanwatch" / "nanwatchd.log").read_text()
    assert "nanwatchd ended" in log
    # What it learned is in its history.
    again = place.train(WAIT, "alone")
    assert again.stdout.readline() == "True 100 \n"
    assert "attempt 1" in place.show("alone")
    said(again)


def test_one_of_several_ranks_starts_it_and_the_last_ends_it(place):
    world = {"WORLD_SIZE": "4"}
    ranks = [place.train(WAIT, "many", RANK=str(i), **world) for i in range(4)]
    for rank in ranks:
        assert rank.stdout.readline() == "True 100 \n"
    assert place.started() == 1
    [daemon] = place.daemons()
    # The rank that started it, and all others but one, are killed.
    for rank in ranks[:3]:
        rank.kill()
        rank.wait()
        rank.stdout.close()
    late = place.train(TRAIN, "other")
    assert said(late) == "True 100 \n"
    assert place.daemons() == [daemon]
    shown = place.show("many")
    assert "rank 0" in shown or re.search(r"^ +0 ", shown, re.M), shown
    assert said(ranks[3]) == ""
    wait_for("the daemon ends", lambda: not place.daemons())


def test_a_daemon_that_runs_is_used_and_one_that_is_named(place):
    socket = place.folder / "nanwatch" / "ingest.sock"
    place.starts.write_text("")
    own = subprocess.Popen(
        [BIN / "nanwatchd", "--socket", str(socket), "--listen", "off",
         "--history", "off"], stderr=subprocess.DEVNULL)
    try:
        wait_for("its socket", socket.exists)
        assert said(place.train(TRAIN, "there")) == "True 100 \n"
        assert own.poll() is None and place.started() == 0
    finally:
        own.kill()
        own.wait()
    named = f"unix:{place.folder}/elsewhere.sock"
    told = place.train(
        "import nanwatch\nr = nanwatch.init()\nr.close(0.3)\n"
        "print(r.stats.error)", NANWATCH_ADDRESS=named)
    assert "there is no such socket" in said(told)
    assert place.started() == 0


def test_what_is_not_asked_for_starts_nothing(place):
    text = ("import nanwatch\nr = nanwatch.init(autostart={})\n"
            "r.close(0.3)\n")
    said(place.train(text.format("False")))
    said(place.train(text.format("None"), NANWATCH_AUTOSTART="0"))
    assert place.started() == 0


@pytest.mark.parametrize("daemon, why", [
    ("/no/such/nanwatchd", "No such file"),
    ("/bin/false", "/bin/false ended"),
])
def test_one_that_cannot_be_started_is_only_said_when_asked(place, daemon, why):
    told = place.train(
        "import nanwatch, time\nr = nanwatch.init(autostart=True)\n"
        "begun = time.monotonic()\nr.step(1, loss=1.0)\n"
        "assert time.monotonic() - begun < 5\n"
        "while not r.stats.error: time.sleep(0.02)\n"
        "print(r.stats.error)\nr.close(0.1)\n",
        NANWATCH_DAEMON=daemon)
    assert why in said(told)


def test_a_folder_of_somebody_else_is_not_used(place):
    (place.folder / "nanwatch").mkdir()
    (place.folder / "nanwatch").chmod(0o777)
    told = place.train(
        "import nanwatch, time\nr = nanwatch.init()\n"
        "while not r.stats.error: time.sleep(0.02)\n"
        "print(r.stats.error)\nr.close(0.1)\n")
    assert "not this user's own" in said(told)
    assert place.started() == 0


def test_forked_workers_do_not_keep_it(place):
    """They may outlive the training that forked them."""
    training = place.train(WAIT + """
import os
if os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(8)
    os._exit(0)
print("forked", flush=True)
os._exit(0)
""", "forks")
    assert training.stdout.readline() == "True 100 \n"
    training.stdin.write("\n")
    training.stdin.flush()
    assert training.stdout.readline() == "forked\n"
    training.wait(10)
    wait_for("the daemon ends", lambda: not place.daemons())
