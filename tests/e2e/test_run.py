"""nanwatch run: a training with a daemon, a judge of what it prints, and the
verdict."""

import contextlib
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ALL, BIN, ROOT, summary, wait_for

NANWATCH = str(BIN / "nanwatch")

# What Megatron prints; from `bad` on every step is skipped.
PRINTS = """
import math, sys, time
def line(step, bad):
    loss = 2 + 8 * math.exp(-step / 200) + 0.02 * math.sin(step * 1.7)
    shown = "" if bad else f" lm loss: {loss:.6E} |"
    scale = 65536.0 if not bad else max(1.0, 65536.0 / 2.0 ** (step - 100))
    return (f" iteration {step:8d}/    2000 | consumed samples: "
            f"{step * 16:12d} | elapsed time per iteration (ms): 912.3 | "
            f"learning rate: 1.500E-04 |{shown} loss scale: {scale:.1f} | "
            f"grad norm: 0.713 | number of skipped iterations: {int(bad):3d} |"
            f" number of nan iterations:   0 |")
def show(first, last, bad=False, file=sys.stdout):
    for step in range(first, last + 1):
        print(line(step, bad), file=file)
"""
HOOKS = """
import nanwatch
run = nanwatch.init(run="{run}")
for step in range({steps}):
    run.step(step, loss=1.0 / (step + 1), scale=1024.0, overflow=False,
             skipped=False, grad_norm=1.0)
assert run.flush(15), run.stats
"""


class Shell:
    """Where `nanwatch run` is called: no daemon runs, unless one is started."""

    def __init__(self, folder):
        self.folder = folder
        self.starts = folder / "starts"
        self.starts.touch()
        daemon = folder / "nanwatchd"
        daemon.write_text(
            f"#!/bin/sh\necho $$ >>{self.starts}\n"
            f"exec {BIN}/nanwatchd \"$@\" --history {folder}/history.db\n")
        daemon.chmod(0o755)
        self.environment = {
            **{k: v for k, v in os.environ.items()
               if not k.startswith(("NANWATCH", "SLURM", "MASTER", "TORCH"))},
            "PYTHONPATH": str(ROOT / "client_lib" / "python" / "src"),
            "XDG_RUNTIME_DIR": str(folder),
            "NANWATCH_DAEMON": str(daemon),
            "TMPDIR": str(folder),
        }

    def begin(self, *command, options=(), **environment):
        return subprocess.Popen(
            [NANWATCH, "run", *options, "--", *map(str, command)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**self.environment, **environment})

    def python(self, text, *arguments, **more):
        return self.begin(sys.executable, "-c", text, *arguments, **more)

    def daemons(self):
        live = []
        for pid in map(int, self.starts.read_text().split()):
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{pid}/stat").read_text()
                if ") Z " not in status:
                    live.append(pid)
        return live

    def started(self):
        return len(self.starts.read_text().split())


@pytest.fixture
def shell(folder, usual_places):
    it = Shell(folder)
    yield it
    for pid in it.daemons():
        os.kill(pid, signal.SIGKILL)


def end(process, status=0, seconds=60):
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == status, err
    return out, err


def test_what_it_prints_is_judged_and_a_daemon_is_told(shell):
    begun = time.time()
    text = PRINTS + "show(1, 100); show(101, 200, bad=True); sys.exit(7)"
    out, err = end(shell.python(text), 7)
    # As the program printed it, to the byte.
    alone = subprocess.run([sys.executable, "-c", text], text=True,
                           capture_output=True)
    assert out == alone.stdout and alone.stderr == ""
    assert "a log of megatron" in err
    assert re.search(r"CRITICAL at step 1\d\d", err)  # while it ran
    # The daemon's report: it knew all, and had it from the log.
    assert "\nCRITICAL" in err and "What to do:" in err, err
    assert re.search(r"^python3?-\d{8}-\d{6}-\d+  python3?  ", err, re.M), err
    assert shell.started() == 1
    wait_for("the daemon ends", lambda: not shell.daemons())
    assert list(shell.folder.glob("nanwatch-run-*")) == []
    assert time.time() - begun < 30


def test_hooks_and_log_are_one_run(shell):
    text = (HOOKS.format(run="mine", steps=300) + PRINTS
            + "show(1, 100); show(101, 200, bad=True)\n")
    out, err = end(shell.python(text))
    assert out.count("consumed") == 200
    # What the hooks told is the verdict; the log, which looks bad, is not.
    assert re.search(r"^mine .*closed", err, re.M), err
    assert "300 updates" in err and "\nCRITICAL" not in err, err
    again = subprocess.run(
        [NANWATCH, "run", "--", NANWATCH, "runs"], text=True,
        capture_output=True, env=shell.environment)
    runs = [line.split()[1] for line in again.stdout.splitlines()[1:]]
    assert runs == ["mine"], again.stdout


def test_hooks_without_a_name_have_the_name_that_run_gives(shell):
    named = HOOKS.replace('run="{run}"', "").format(steps=100)
    _, err = end(shell.python(named, options=["--run", "r 1"]))
    assert re.search(r"^r 1 .*closed", err, re.M), err
    _, err = end(shell.python(named, NANWATCH_RUN_ID="outer"))
    assert re.search(r"^outer .*closed", err, re.M), err


def test_c_hooks_are_heard_too(shell):
    _, err = end(shell.begin(BIN / "nanwatch-feed", "--steps", "200",
                             "--rate", "0", "--run", "inc"))
    assert re.search(r"^inc .*200 updates", err, re.M | re.S), err


def test_lines_of_both_outputs_are_whole(shell):
    """Halves of them come in turns."""
    text = PRINTS + """
for step in range(1, 101):
    whole = line(step, False) + "\\n"
    sys.stdout.write(whole[:40]); sys.stdout.flush()
    sys.stderr.write("warning: " + "x" * 50 + "\\n"); sys.stderr.flush()
    time.sleep(0.002)
    sys.stdout.write(whole[40:]); sys.stdout.flush()
"""
    out, err = end(shell.python(text, options=["--no-daemon"]))
    assert out.count("consumed") == 100
    assert err.count("warning: " + "x" * 50 + "\n") == 100
    assert "100 updates" in err or "100 steps" in err, err[-500:]
    assert shell.started() == 0


@pytest.mark.skipif(not ALL, reason="long; under NANWATCH_TEST_ALL=1")
def test_a_log_is_told_while_it_grows_until_hooks_come_late(shell, daemon):
    text = PRINTS + """
import nanwatch
for step in range(1, 141):
    show(step, step)
    time.sleep(0.1)
run = nanwatch.init()
for step in range(500):
    run.step(step, loss=1.0, scale=1024.0, overflow=False, skipped=False)
assert run.flush(15), run.stats
time.sleep(2)
show(141, 160)
"""
    process = shell.python(text, options=["--run", "late"],
                           NANWATCH_ADDRESS=daemon.address)
    known = wait_for(
        "the log's records",
        lambda: daemon.nanwatch("show", "late", check=False).returncode == 0,
        seconds=30)
    assert known and int(summary(daemon, "late")["update_attempts"]) < 150
    end(process)
    # What the hooks tell is an attempt of its own, and nothing is mixed in.
    first, second = (daemon.nanwatch("show", "late", "--attempt", n, "--json")
                     for n in "01")
    assert '"attempts": "500"' in second.stdout, second.stdout
    assert '"attempts": "140"' in first.stdout, first.stdout


def test_a_daemon_that_runs_is_told_and_goes_on(shell, daemon):
    text = PRINTS + "show(1, 150)"
    _, err = end(shell.python(text, options=["--run", "here"],
                              NANWATCH_ADDRESS=daemon.address))
    assert int(summary(daemon, "here")["update_attempts"]) == 150, err
    assert summary(daemon, "here")["state"].endswith("CLOSED")
    assert shell.started() == 0 and daemon.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_signals_are_passed_on(shell, number):
    text = f"""
import signal, sys, time
def heard(number, frame):
    print("heard", number, flush=True)
    sys.exit(5)
signal.signal({int(number)}, heard)
print("ready", flush=True)
while True:  # what comes just before a sleep is heard after it
    time.sleep(0.1)
"""
    process = shell.python(text, options=["--no-daemon"])
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, _ = end(process, 5)
    assert out == f"heard {int(number)}\n"


def test_it_dies_of_the_signal_that_the_program_died_of(shell):
    process = shell.python("import os; os.kill(os.getpid(), 9)",
                           options=["--no-daemon"])
    end(process, -signal.SIGKILL)
    process = shell.python("import time; print(1, flush=True); time.sleep(60)",
                           options=["--no-daemon"])
    assert process.stdout.readline() == "1\n"
    process.terminate()
    end(process, -signal.SIGTERM)


def test_interrupt_at_the_terminal_comes_once(shell):
    """It goes to all of the foreground; passed on, it would come twice."""
    text = """
import signal, time
count = 0
def heard(number, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, heard)
print("ready", flush=True)
end = time.monotonic() + 30
while time.monotonic() < end and not count:
    time.sleep(0.1)
time.sleep(0.5)
print("interrupts:", count, flush=True)
"""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(NANWATCH, [NANWATCH, "run", "--no-daemon", "--",
                             sys.executable, "-c", text], shell.environment)
    said = b""
    with contextlib.suppress(OSError):  # the terminal's end
        while True:
            said += os.read(terminal, 4096)
            if b"ready" in said and b"^C" not in said:
                os.write(terminal, b"\x03")  # which the terminal echoes
    assert b"interrupts: 1" in said, said
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


def test_a_reader_that_goes_ends_the_program(shell):
    process = shell.python("while True: print('x' * 1000)",
                           options=["--no-daemon"])
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) != 0
    assert "BrokenPipe" in process.stderr.read()
    process.stderr.close()
    process.stdin.close()


def test_standard_input_and_a_program_that_is_not_there(shell):
    process = shell.begin("cat", options=["--no-daemon"])
    out, _ = process.communicate("abc\n", timeout=30)
    assert out == "abc\n" and process.returncode == 0
    _, err = end(shell.begin("no-such-program", options=["--no-daemon"]), 127)
    assert "no-such-program: No such file" in err
    _, err = end(shell.begin("/tmp", options=["--no-daemon"]), 126)
    _, err = end(shell.begin("sleep", "3", NANWATCH_DAEMON="/bin/false"))
    assert "/bin/false ended" in err
