"""How a program ends that does not end in order, as the daemon has it: in
programs of their own, started as a user would."""

import json
import signal
import time

import pytest
from daemons import daemon, folder, program, said, summary  # noqa: F401

from nanwatch._slurm import why_ended

BEGIN = """
import os, signal, sys, threading, time
import nanwatch
run = nanwatch.init(run=sys.argv[1], address=sys.argv[2], autostart=False)
for i in range(30):
    run.step(i, loss=2.0, grad_norm=1.0, lr=1e-3)
assert run.flush(20)
"""


def end(daemon, name, text, status, **more):  # noqa: F811
    """Of a program that begins as above and goes on so. What it printed on
    stderr, and what the daemon says."""
    process = program(BEGIN + text, name, daemon.address, **more)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, (out, err)
    shown = daemon.nanwatch("diagnose", name, "--json").stdout
    return err, json.loads(shown)


def causes(told):
    return [each["cause"] for each in told.get("causes", [])]


@pytest.mark.parametrize("text", [
    "raise ValueError('a bad label')",
    "with run: raise ValueError('a bad label')",
    "try:\n    raise ValueError('a bad label')\nfinally:\n    run.close()",
    "try:\n    raise ValueError('a bad label')\nexcept ValueError:\n"
    "    import traceback; traceback.print_exc(); sys.exit(1)",
])
def test_an_exception(daemon, folder, text):  # noqa: F811
    err, told = end(daemon, "raises", text, 1)
    assert "ValueError: a bad label" in err, "the traceback is the user's"
    assert "nanwatch" not in err.replace(
        "nanwatch.init", ""), "and nothing of ours is in it"
    run = told["summary"]
    assert run["ended_by"] == "ValueError: a bad label at step 29"
    assert run["end_reason"] == "ended by " + run["ended_by"]
    assert run["state"] == "LIFE_STATE_CLOSED" and run["judged_to_end"]
    assert run["health"] == "warning"
    assert causes(told) == ["program_ended"]
    listed = daemon.nanwatch("runs").stdout
    assert "ended by ValueError: a bad label" in listed


@pytest.mark.parametrize("text,type,cause,health", [
    ("sys.exit(3)", "sys.exit(3)", 1, "warning"),
    ("sys.exit('no data')", "sys.exit: no data", 1, "warning"),
    ("raise MemoryError", "MemoryError", 1, "warning"),
    ("raise RuntimeError('CUDA out of memory. Tried to allocate 2 GiB')",
     "RuntimeError: CUDA out of memory", 1, "warning"),
])
def test_other_ends(daemon, folder, text, type, cause, health):  # noqa: F811
    status = 3 if "3" in text else 1
    _, told = end(daemon, "other", text, status)
    run = told["summary"]
    assert run["ended_by"].startswith(type) and run["health"] == health
    assert run["ended_by"].endswith("at step 29")
    assert causes(told) == ["program_ended"]
    actions = " ".join(a["sentence"] for a in told["causes"][0]["actions"])
    assert ("Lower the batch" in actions) == ("emory" in text)


@pytest.mark.parametrize("text", [
    "run.close(10)", "", "sys.exit()", "sys.exit(0)",
    "with run: pass",
    # What is dealt with where the run is opened has nothing to do with it.
    "run.close(10)\ntry:\n    import nosuchthing\nexcept ImportError:\n"
    "    run = nanwatch.init(run=sys.argv[1] + '2', address=sys.argv[2])\n"
    "    run.step(1, loss=1.0)\n    run.close(10)\n    os._exit(0)",
    # A search drops a trial.
    "class TrialPruned(Exception): pass\n"
    "try:\n    with run: raise TrialPruned\nexcept TrialPruned: pass",
    "try:\n    next(iter(()))\nexcept StopIteration:\n    run.close(10)",
])
def test_ends_in_order(daemon, folder, text):  # noqa: F811
    err, told = end(daemon, "orderly", text, 0)
    assert err == "" and not told["summary"].get("ended_by")
    assert told["summary"]["end_reason"] == "all ranks closed"
    assert told["summary"]["health"] == "healthy"
    if "orderly2" in daemon.nanwatch("runs").stdout:
        assert not summary(daemon, "orderly2").get("ended_by")


def test_words_are_cut(daemon, folder):  # noqa: F811
    _, told = end(daemon, "long",
                  "raise ValueError('ä\\n ' * 300 + '\\ud800')", 1)
    words = told["summary"]["ended_by"]
    assert words == "ValueError: " + " ".join("ä" * 100) + "… at step 29"


def test_an_exception_that_cannot_say_what_it_is(daemon, folder):  # noqa: F811
    _, told = end(daemon, "mute", """
class Odd(Exception):
    def __str__(self): raise RuntimeError
raise Odd
""", 1)
    assert told["summary"]["ended_by"] == "Odd at step 29"


LOOP = """
print("up", flush=True)
i = 30
while True:
    run.step(i, loss=2.0, grad_norm=1.0, lr=1e-3); i += 1
    time.sleep(0.001)
"""


def signalled(daemon, name, text, number):  # noqa: F811
    # Tests that nohup started would hand on that SIGHUP is ignored.
    heeds = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    process = program(heeds + BEGIN + text, name, daemon.address)
    assert process.stdout.readline() == "up\n"
    time.sleep(0.2)
    process.send_signal(number)
    process.communicate(timeout=30)
    return process.returncode, summary(daemon, name)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal(daemon, folder, number):  # noqa: F811
    status, run = signalled(daemon, "killed", LOOP, number)
    assert status == -number, "it ends as it would have without us"
    assert run["ended_by"].startswith(number.name + " at step ")
    assert run["condition"] == "noted", "whoever runs it wants that"
    assert run["state"] == "LIFE_STATE_CLOSED"


def test_ctrl_c(daemon, folder):  # noqa: F811
    status, run = signalled(daemon, "interrupted", LOOP, signal.SIGINT)
    assert status == -signal.SIGINT
    assert run["ended_by"].startswith("KeyboardInterrupt at step ")
    assert run["condition"] == "noted"


def test_a_signal_while_the_main_thread_is_stuck(daemon, folder):  # noqa: F811
    """In something that does not come back, as a collective that hangs."""
    status, run = signalled(daemon, "stuck", """
import ctypes
print("up", flush=True)
ctypes.CDLL(None).sem_wait(ctypes.create_string_buffer(64))
""", signal.SIGTERM)
    assert status == -signal.SIGTERM
    assert run["ended_by"] == "SIGTERM at step 29"


@pytest.mark.parametrize("before", [True, False])
def test_a_handler_of_the_programs_own(daemon, folder, before):  # noqa: F811
    """It decides what becomes of the signal, and what was there before it is
    called if it likes."""
    handler = """
def handle(number, frame):
    if callable(old): old(number, frame)
    print("saved", flush=True)
    run.close(10)
    os._exit(7)
old = signal.signal(signal.SIGTERM, handle)
"""
    begin = BEGIN
    if before:
        at = begin.index("run = ")
        begin = begin[:at] + handler + begin[at:]
    else:
        begin += handler
    process = program(begin + LOOP, "handles", daemon.address)
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 7 and "saved" in out
    assert not summary(daemon, "handles").get("ended_by")


def test_children_end_as_without_us(daemon, folder):  # noqa: F811
    """Forked ones, and programs that they become; and a parent whose child was
    killed goes on."""
    said(program(BEGIN + """
import multiprocessing, subprocess
for i in range(20):
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(1)
    if i % 2: time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
child = subprocess.Popen(["sleep", "30"])
child.terminate()
assert child.wait(10) == -signal.SIGTERM
def fork():  # by another thread
    for i in range(20):
        pid = os.fork()
        if pid == 0:
            time.sleep(30)
            os._exit(1)
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
thread = threading.Thread(target=fork)
thread.start(); thread.join()
time.sleep(1.5)
run.step(30, loss=2.0)
assert run.close(10)
""", "parent", daemon.address))
    run = summary(daemon, "parent")
    assert not run.get("ended_by") and int(run["steps"]) == 31


def test_the_first_of_several_ranks(daemon, folder):  # noqa: F811
    """An error of one, and the signal by which a launcher ends the other."""
    text = BEGIN.replace(
        "autostart=False",
        "autostart=False, rank=int(sys.argv[3]), world_size=2")
    other = program(text + LOOP, "two", daemon.address, 0)
    assert other.stdout.readline() == "up\n"
    one = program(text + "raise KeyError('x')", "two", daemon.address, 1)
    one.communicate(timeout=30)
    other.send_signal(signal.SIGTERM)
    other.communicate(timeout=30)
    run = summary(daemon, "two")
    assert run["ended_by"] == "KeyError: 'x' on rank 1 at step 29"


def test_one_rank_while_others_go_on(daemon, folder):  # noqa: F811
    text = BEGIN.replace(
        "autostart=False",
        "autostart=False, rank=int(sys.argv[3]), world_size=2")
    other = program(text + LOOP, "one", daemon.address, 0)
    assert other.stdout.readline() == "up\n"
    program(text + "raise KeyError('x')", "one", daemon.address, 1).communicate(
        timeout=30)
    time.sleep(2)
    told = json.loads(daemon.nanwatch("diagnose", "one", "--json").stdout)
    other.kill()
    other.communicate(timeout=30)
    assert told["summary"]["state"] == "LIFE_STATE_OPEN"
    assert causes(told)[0] == "program_ended"
    assert told["causes"][0]["origin"]["rank"] == 1


def test_a_sick_run_that_raises(daemon, folder):  # noqa: F811
    """The trouble is the verdict, and the end its end."""
    _, told = end(daemon, "sick", """
for i in range(30, 60):
    run.step(i, loss=float("nan"), grad_norm=float("nan"), lr=1e-3)
raise RuntimeError("loss is nan")
""", 1)
    run = told["summary"]
    assert run["health"] == "critical"
    assert run["ended_by"] == "RuntimeError: loss is nan at step 59"
    assert causes(told)[0] != "program_ended" and "program_ended" in causes(told)
    assert run["condition"] == "trouble"


def test_without_a_daemon_it_ends_as_soon(folder):  # noqa: F811
    """And says nothing."""
    process = program("""
import sys, nanwatch
run = nanwatch.init(run="x", address="unix:" + sys.argv[1])
run.step(1, loss=1.0)
raise ValueError("mine")
""", folder / "nobody.sock")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and err.count("ValueError: mine") == 1
    assert err.count("Traceback") == 1


@pytest.mark.parametrize("environment, words", [
    ({}, ""),
    ({"SLURM_JOB_ID": "7"}, "in Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "soon"}, "in Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "1000"},
     "the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "1002"},  # clocks differ
     "the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "1003"},
     "3 s before the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "8201"},
     "2 h before the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7_1", "SLURM_JOB_END_TIME": "1000"}, ""),
    ({"SLURM_JOB_END_TIME": "1000"}, ""),
    ({"SLURM_JOB_ID": "7", "NANWATCH_SLURM_END": "7:1000"},
     "the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "NANWATCH_SLURM_END": "7:2000"},
     "17 min before the time limit of Slurm job 7"),
    ({"SLURM_JOB_ID": "7", "NANWATCH_SLURM_END": "6:1000"},  # inherited
     "in Slurm job 7"),
])
def test_why_slurm_ended_a_process(environment, words):
    assert why_ended(environment, now=1000.0) == words
