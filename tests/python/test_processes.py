"""Fork, spawn, and the ways in which a process ends."""

import signal
import subprocess

import pytest
from daemons import (  # noqa: F401
    daemon,
    folder,
    program,
    said,
    said_by,
    summary,
    wait_for,
)

BEGIN = """
import multiprocessing, os, sys, threading, time
import nanwatch
run = nanwatch.init(run="RUN", address=sys.argv[1])
"""
SENDING = BEGIN + """
stop = threading.Event()
told = 0
def train():
    global told
    while not stop.is_set():
        run.step(told, loss=1.0, scale=2.0, overflow=False)
        told += 1
        if told % 20 == 0:
            time.sleep(0.001)
trainer = threading.Thread(target=train)
trainer.start()
def end():
    stop.set()
    trainer.join()
    assert run.close(20), run.stats
    print(told)
"""


def in_run(name, text):
    return text.replace("RUN", name)


def state(daemon, run):  # noqa: F811
    shown = daemon.nanwatch("show", run).stdout
    return shown.splitlines()[0] if shown else ""


def test_a_loader_with_four_forked_workers(daemon):  # noqa: F811
    """As a DataLoader does it, epoch after epoch, while records are sent."""
    told = int(said_by(in_run("loader", SENDING + """
def work(tasks, answers):
    run.step(10**9, loss=float("nan"))  # silent here
    run.op("fc", step=10**9, nan=1)
    run.flush(5)
    for task in iter(tasks.get, None):
        answers.put(task * 2)
    run.close(5)
fork = multiprocessing.get_context("fork")
for epoch in range(5):
    tasks, answers = fork.Queue(), fork.Queue()
    workers = [fork.Process(target=work, args=(tasks, answers))
               for _ in range(4)]
    for w in workers: w.start()
    for i in range(200): tasks.put(i)
    assert sum(answers.get(timeout=20) for _ in range(200)) == 39800
    for w in workers: tasks.put(None)
    for w in workers:
        w.join(20)
        assert w.exitcode == 0, w.exitcode
end()
"""), daemon.address))
    found = summary(daemon, "loader")
    assert int(found["steps"]) == told
    assert "closed" in state(daemon, "loader")
    assert "1000000000" not in daemon.nanwatch("show", "loader").stdout


def test_children_of_os_fork_that_exit_in_order(daemon):  # noqa: F811
    """Their interpreter finishes: handlers, threads, modules, all of it."""
    said_by(in_run("exits", SENDING + """
while not run.stats.connected: time.sleep(0.01)
for i in range(10):
    pid = os.fork()
    if pid == 0:
        stop.set()
        run.step(10**9)
        again = nanwatch.init(run="child", address=sys.argv[1])
        again.step(1)
        assert again.close(1) is False and not again.stats.pushed
        sys.exit(i)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == i
end()
"""), daemon.address)
    assert "closed" in state(daemon, "exits")
    assert "child" not in daemon.nanwatch("runs").stdout


def test_a_fork_while_grpc_is_imported(daemon):  # noqa: F811
    """Right after init: a child that found gRPC's modules half made, or their
    locks taken, would hang or fail when it imports the same."""
    said_by(in_run("early", BEGIN + """
pids = []
for i in range(20):
    pid = os.fork()
    if pid == 0:
        import grpc, logging, ssl, asyncio
        assert grpc.insecure_channel
        os._exit(0)
    pids.append(pid)
    time.sleep(0.02)
for pid in pids:
    assert os.waitpid(pid, 0)[1] == 0
run.step(1)
assert run.close(20), run.stats
"""), daemon.address)


def test_a_spawned_child_is_a_training_of_its_own(daemon, folder):  # noqa: F811
    script = folder / "spawns.py"
    script.write_text("""
import multiprocessing, sys
import nanwatch

def train(rank, address):
    run = nanwatch.init(run="spawned", rank=rank, world_size=3, address=address)
    run.step(1, loss=1.0)
    assert run.close(20), run.stats

if __name__ == "__main__":
    address = sys.argv[1]
    spawn = multiprocessing.get_context("spawn")
    run = nanwatch.init(run="spawned", rank=0, world_size=3, address=address)
    run.step(1, loss=1.0)
    children = [spawn.Process(target=train, args=(r, address)) for r in (1, 2)]
    for c in children: c.start()
    for c in children:
        c.join(30)
        assert c.exitcode == 0
    assert run.close(20)
""")
    said_by(f"import runpy; runpy.run_path({str(script)!r}, "
            "run_name='__main__')", daemon.address)
    shown = daemon.nanwatch("show", "spawned").stdout
    assert "3 records" in shown and "closed" in shown.splitlines()[0], shown


def test_a_training_that_just_ends_is_closed(daemon):  # noqa: F811
    said_by(in_run("ends", BEGIN + "for i in range(500): run.step(i)"),
            daemon.address)
    assert "closed" in state(daemon, "ends")
    assert int(summary(daemon, "ends")["steps"]) == 500


def test_exit_does_not_wait_for_a_daemon_that_is_not_there():
    said_by(BEGIN + """
begun = time.monotonic()
import atexit
atexit.register(lambda: None)
run.step(1)
""", "/nowhere/at.all", seconds=20)


def test_the_end_waits_for_a_run_that_its_sender_closes(daemon):  # noqa: F811
    """Who forgot it waited for nothing."""
    said_by(in_run("forgotten", BEGIN) + """
for step in range(20_000):
    run.step(step, loss=1.0)
run.leave_to_sender(run.end_by_sender)
while not run._closed:
    time.sleep(1e-4)
""", daemon.address)
    assert int(summary(daemon, "forgotten")["steps"]) == 20_000
    assert "closed" in state(daemon, "forgotten")


def test_interrupts_are_the_trainings_own(daemon):  # noqa: F811
    """A signal's handler runs in the training, whatever the sender does."""
    process = program(in_run("interrupted", SENDING + """
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    end()
"""), daemon.address)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out = said(process, seconds=30)
    assert int(summary(daemon, "interrupted")["steps"]) == int(out)


def test_nothing_of_grpc_is_left_to_the_garbage_collector(
        daemon):  # noqa: F811
    """A call that the interpreter collects at its end takes a lock then that a
    thread may have died with: the program would hang."""
    left = program("import gc\ngc.disable()\n" + in_run("gone", BEGIN) + """
run.step(1)
assert run.flush(10)
print("told", flush=True)
sys.stdin.readline()  # the daemon is killed meanwhile
time.sleep(0.3)
run.close(0.3)
from grpc._channel import _Rendezvous
print(sum(isinstance(o, _Rendezvous) for o in gc.get_objects()))
""", daemon.address, stdin=subprocess.PIPE)
    assert left.stdout.readline() == "told\n"
    daemon.kill()
    left.stdin.write("\n")
    assert said(left) == "0\n"
