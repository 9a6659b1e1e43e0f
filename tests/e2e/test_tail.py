"""nanwatch tail: logs of other programs, judged while they grow."""

import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import BIN, summary, wait_for

NANWATCH = str(BIN / "nanwatch")


def megatron(step, loss, scale=65536.0, skipped=0):
    shown = f" lm loss: {loss:.6E} |" if loss is not None else ""
    return (f" iteration {step:8d}/    2000 | consumed samples: {step * 16:12d}"
            f" | elapsed time per iteration (ms): 912.3 | learning rate: "
            f"1.500E-04 |{shown} loss scale: {scale:.1f} | grad norm: 0.713 | "
            f"number of skipped iterations: {skipped:3d} | number of nan "
            f"iterations:   0 |\n")


def falling(step):
    return 2 + 8 * math.exp(-step / 200) + 0.02 * math.sin(step * 1.7)


def healthy(first, last):
    return "".join(megatron(s, falling(s)) for s in range(first, last + 1))


def broken(first, last):
    """The scale falls to 1, and every step is skipped."""
    return "".join(
        megatron(s, None, max(65536.0 / 2 ** (s - first + 1), 1.0), skipped=1)
        for s in range(first, last + 1))


class Tail:
    """A running `nanwatch tail`; what it says is in two files."""

    def __init__(self, folder, *arguments, daemon=None, stdin=None, alone=True,
                 **options):
        self.out = folder / "tail.out"
        self.err = folder / "tail.err"
        address = ["--address", daemon.address] if daemon else []
        if alone and not daemon:
            arguments = ("--no-daemon", *arguments)
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [NANWATCH, *address, "tail", *map(str, arguments)], stdin=stdin,
                stdout=out, stderr=err, **options)

    def said(self):
        return self.out.read_text() + self.err.read_text()

    def wait_for(self, text, seconds=20):
        wait_for(text, lambda: text in self.said(), seconds)

    def opened(self):
        found = []
        for link in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(link))
        return found

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def tail(folder):
    """Starts tails that end with the test."""
    started = []

    def start(*arguments, **options):
        started.append(Tail(folder, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait(10)


def pipe(text, *arguments, daemon=None, **options):
    address = ["--address", daemon.address] if daemon else []
    alone = [] if daemon else ["--no-daemon"]
    return subprocess.run(
        [NANWATCH, *address, "tail", *alone, *arguments, "-"],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True, timeout=60, **options)


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


# ---------------------------------------------------------------- in a pipe


def spike(first, last):
    return "".join(megatron(s, falling(s) + (4 if 600 <= s < 620 else 0))
                   for s in range(first, last + 1))


@pytest.mark.parametrize("text, status, word", [
    (healthy(1, 300), 0, "HEALTHY"),
    (spike(1, 900), 1, "WARNING"),
    (healthy(1, 300) + broken(301, 400), 2, "CRITICAL"),
    ("Dear diary,\nnothing was trained today.\n", 3, "NOTHING"),
    ("", 3, "NOTHING"),
], ids=["healthy", "warning", "critical", "prose", "empty"])
def test_the_end_of_a_pipe_gives_the_verdict(text, status, word):
    done = pipe(text)
    assert done.returncode == status, done.stdout
    verdict = [line.split() for line in done.stdout.decode().splitlines()
               if line.startswith(word)]
    assert [line[1:3] for line in verdict] == [["standard", "input:"]] or [
        line[1:3] for line in verdict] == [["standard", "input"]]
    assert done.stderr == b""


def test_a_column_that_is_not_there_is_said_once():
    rows = "".join(json.dumps({"it": step, "s": 8, "l": falling(step)}) + "\n"
                   for step in range(1, 301))
    done = pipe(rows, "--map", "step=it,scale=s,loss=nothere")
    told = [line for line in words(done) if "loss=nothere" in line]
    assert len(told) == 1 and "has such a number" in told[0]
    there = pipe(rows, "--map", "step=it,scale=s,loss=l")
    assert not any("--map" in line for line in words(there))


def words(done):
    return [line for line in done.stdout.decode().splitlines()
            if line.startswith("nanwatch: ")]


def test_an_incident_is_told_in_two_lines_with_what_to_do():
    told = words(pipe(healthy(1, 300) + broken(301, 400)))
    assert told[0] == "nanwatch: a log of megatron"
    first, second = told[1:3]
    assert first.startswith("nanwatch: WARNING at step 30")
    assert "likely cause: range overflow. To do: " in second
    assert any("CRITICAL at step 301" in line for line in told)
    assert len(told) < 10 and len(set(told)) == len(told), told


def test_an_incident_that_is_over_is_told_so():
    told = words(pipe(spike(1, 900)))
    [begun] = [i for i, line in enumerate(told) if "WARNING at step 60" in line]
    [over] = [i for i, line in enumerate(told) if "over at step 6" in line]
    assert begun < over and "loss_spike" in told[over], told


def test_a_pipe_passes_every_byte_on():
    """Also those that are no text, and a last line without its end."""
    text = (healthy(1, 50).encode() + bytes(range(256)) * 3000 +
            b"\r 12%|##  |\r 13%|###\x1b[31m" + broken(51, 90).encode()[:-1])
    done = pipe(text, "--tee")
    assert done.stdout == text
    assert b"nanwatch: " in done.stderr and done.returncode == 2


def test_a_pipe_passes_on_at_once(tail):
    """A byte that the training printed is at its reader while it waits."""
    read, write = os.pipe()
    with subprocess.Popen(
            [NANWATCH, "tail", "--no-daemon", "--tee", "-"], stdin=read,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        os.close(read)
        for piece in (b"Epoch", b" 1: ", b"12%", b"\n", b"\x00"):
            os.write(write, piece)
            assert process.stdout.read(len(piece)) == piece
        os.close(write)
        assert process.stdout.read() == b""
        assert process.wait(20) == 3


def test_nobody_reading_ends_it_as_it_ends_tee(folder):
    """And the training behind it hears of it."""
    done = subprocess.run(
        ["bash", "-c", f"yes | {NANWATCH} tail --no-daemon --tee - 2>err | "
         "head -1; echo ${PIPESTATUS[*]}"],
        capture_output=True, text=True, timeout=60, cwd=folder)
    assert done.stdout.splitlines() == ["y", "141 141 0"]
    assert "nothing to judge" in (folder / "err").read_text()


def test_a_full_disk_does_not_end_the_training():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [NANWATCH, "tail", "--no-daemon", "--tee", "-"], stdout=full,
            stderr=subprocess.PIPE, input=healthy(1, 300).encode(), timeout=60)
    assert done.returncode == 0
    assert done.stderr.decode().count("No space left") == 1


def test_a_judge_that_is_stuck_holds_nothing_up():
    """Standard error is full and nobody reads it, so the judge waits. The
    training's output goes on, also beyond what can wait for the judge."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    text = (healthy(1, 100) + broken(101, 200)).encode()
    rounds = 12 * 1024 * 1024 // len(text)
    with subprocess.Popen(
            [NANWATCH, "tail", "--no-daemon", "--tee", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=write) as process:
        os.close(write)
        for _ in range(rounds):
            process.stdin.write(text)
            process.stdin.flush()
            assert process.stdout.read(len(text)) == text
        process.stdin.close()
        with open(read, "rb") as words:  # now somebody does
            said = words.read().decode()
        assert process.wait(20) == 2
    assert "CRITICAL  standard input" in said
    assert "bytes came too fast and were not judged" in said


def test_interrupted_in_a_pipe_it_waits_for_the_last_words(folder):
    """^C goes to the training, too, which still has something to say."""
    training = folder / "train.py"
    training.write_text(
        "import signal, sys\n"
        f"sys.stdout.write({healthy(1, 300)!r}); sys.stdout.flush()\n"
        "try: signal.pause()\n"
        "except KeyboardInterrupt:\n"
        f"    sys.stdout.write({broken(301, 400)!r})\n")
    shell = subprocess.Popen(
        ["bash", "-c", f"{sys.executable} train.py | {NANWATCH} tail "
         "--no-daemon --tee - > out 2> err; echo ${PIPESTATUS[1]} > status"],
        cwd=folder, start_new_session=True)
    wait_for("the training's lines",
             lambda: (folder / "out").exists()
             and (folder / "out").read_text() == healthy(1, 300))
    # To all but the shell, which only waits.
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(shell.pid)],
                              capture_output=True, text=True).stdout.split()
    assert len(children) == 2
    for child in reversed(children):
        os.kill(int(child), signal.SIGINT)
    shell.wait(20)
    assert (folder / "out").read_text() == healthy(1, 300) + broken(301, 400)
    assert (folder / "status").read_text() == "2\n"
    assert "CRITICAL" in (folder / "err").read_text()


def test_a_second_signal_ends_it_though_the_pipe_goes_on(tail):
    one = tail("-", stdin=subprocess.PIPE)
    one.process.stdin.write(healthy(1, 100).encode())
    one.process.stdin.flush()
    one.wait_for("a log of megatron")
    one.process.send_signal(signal.SIGTERM)
    one.wait_for("once more")
    assert one.end() == 0
    assert "HEALTHY" in one.said()


def test_a_large_log_through_a_pipe_is_judged_whole():
    """Faster than it is judged, and nothing goes by."""
    text = "".join(megatron(s, falling(s)) for s in range(1, 2001))
    text = text * 25 + broken(2001, 2100)
    done = pipe(text, "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[-1]["event"] == "verdict"
    assert told[-1]["lines"] == 25 * 2000 + 100
    assert done.returncode == 2


def test_words_for_programs_are_json_lines():
    done = pipe(healthy(1, 300) + broken(301, 400) + healthy(401, 700),
                "--json", "--tee")
    told = [json.loads(line) for line in done.stderr.splitlines()]
    events = [one["event"] for one in told]
    assert events[0] == "note" and events[-1] == "verdict"
    fired = [one for one in told if one["event"] == "fired"
             and one["severity"] == "critical"
             or one["event"] == "changed" and one["severity"] == "critical"]
    assert fired and 300 <= fired[0]["opened_step"] <= 330
    assert fired[0]["summary"] and fired[0]["actions"]
    last = [one for one in told if one.get("id") == fired[0]["id"]][-1]
    assert last["event"] == "resolved" or last["severity"] == "warning"
    assert told[-1]["worst"] == "critical"


# -------------------------------------------------------------------- files


def test_a_file_is_followed_while_it_grows(tail, folder):
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail(log)
    one.wait_for("a log of megatron")
    line = broken(101, 101)
    append(log, healthy(101, 200) + line[:40])
    append(log, line[40:] + broken(102, 160))
    one.wait_for("CRITICAL at step")
    assert one.end() == 2
    last = one.said().splitlines()
    assert any(s.startswith("CRITICAL") and str(log) in s for s in last)


def test_what_stands_in_a_file_is_passed_over_if_told(tail, folder):
    log = folder / "train.log"
    log.write_text(broken(1, 100))
    one = tail("--new-only", "--tee", log)
    wait_for("it has the file", lambda: str(log) in one.opened())
    append(log, healthy(101, 300))
    one.wait_for("a log of megatron")
    wait_for("all lines", lambda: one.out.read_text() == healthy(101, 300))
    assert one.end() == 0


def test_a_file_may_come_later(tail, folder):
    log = folder / "train.log"
    one = tail(log)
    one.wait_for("is not there yet")
    log.write_text(healthy(1, 300))
    one.wait_for("a log of megatron")
    assert one.end() == 0


def test_rotation_by_rename_loses_nothing(tail, folder):
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail("--tee", log)
    one.wait_for("a log of megatron")
    with open(log, "a") as old:
        os.rename(log, folder / "train.log.1")
        # Its writer still has the old one open.
        old.write(healthy(101, 150))
    log.write_text(healthy(151, 200))
    one.wait_for("is another file now")
    append(log, healthy(201, 300))
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 300))
    assert one.end() == 0
    assert "300 steps" in one.said()


def test_a_file_that_is_cut_is_read_from_its_start(tail, folder):
    """copytruncate: by a writer that appends, and the next lines are fewer."""
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail("--tee", log)
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 100))
    shutil.copy(log, folder / "train.log.1")
    os.truncate(log, 0)
    append(log, healthy(101, 150))
    one.wait_for("was cut")
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 150))
    assert one.end() == 0
    assert "150 steps" in one.said()


def test_a_file_that_is_cut_and_grew_beyond_is_noticed(tail, folder):
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail("--tee", log)
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 100))
    one.process.send_signal(signal.SIGSTOP)
    with open(log, "w") as file:
        file.write(healthy(101, 300))
    one.process.send_signal(signal.SIGCONT)
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 300))
    assert one.end() == 0


def test_a_writer_that_goes_on_at_its_old_place_leaves_a_hole(tail, folder):
    log = folder / "train.log"
    with open(log, "w") as writer:
        writer.write(healthy(1, 100))
        writer.flush()
        one = tail("--tee", log)
        wait_for("all lines", lambda: one.out.read_text() == healthy(1, 100))
        os.truncate(log, 0)
        one.wait_for("was cut")
        writer.write(healthy(101, 200))
    wait_for("all lines", lambda: one.out.read_text() == healthy(1, 200))
    assert one.end() == 0
    assert "200 steps" in one.said()


def test_a_line_without_its_end_is_read_after_a_while(tail, folder):
    log = folder / "train.log"
    log.write_text(healthy(1, 299) + megatron(300, math.nan).rstrip("\n"))
    one = tail("--json", "--idle-flush", "0.5", log)
    one.wait_for('"opened_step":300')
    append(log, "\n" + healthy(301, 302))
    assert one.end() == 2
    verdict = json.loads(one.said().splitlines()[-1])
    assert verdict["steps"] == 302 and verdict["worst"] == "critical"


def test_a_slow_log_is_judged_before_it_has_many_lines(tail, folder):
    """One step line in five minutes: nobody waits for eight of them."""
    log = folder / "train.log"
    log.write_text(healthy(1, 2) + megatron(3, math.nan))
    one = tail("--idle-flush", "0.3", log)
    one.wait_for("CRITICAL at step 3")
    assert one.end() == 2


# ---------------------------------------------------------- several, a daemon


def runs(daemon):
    return {run["run_id"]: run for run in json.loads(
        daemon.nanwatch("runs", "--json").stdout).get("runs", [])}


def test_several_files_are_ranks_of_one_run(tail, folder, daemon):
    logs = [folder / f"rank_{rank}.log" for rank in range(4)]
    for rank, log in enumerate(logs):
        log.write_text(healthy(1, 2000))
        if rank == 2:
            append(log, "".join(megatron(s, math.nan)
                                for s in range(2001, 2100)))
        else:
            append(log, healthy(2001, 2099))
    one = tail("--run", "four", "--tee", *reversed(logs), daemon=daemon)
    one.wait_for("as run four")
    one.wait_for("rank 2", 60)
    wait_for("the daemon has the incident", lambda: any(
        i["subject"].get("rank") == 2
        for i in daemon.show("four").get("incidents", [])))
    assert one.end() == 2
    shown = daemon.show("four")
    assert shown["summary"]["world_size"] == 4
    assert len(shown["ranks"]) == 4
    assert int(shown["summary"]["last_step"]) == 2099
    headers = [line for line in one.out.read_text().splitlines()
               if line.startswith("==> ")]
    assert {h.split("/")[-1] for h in headers} == {
        f"rank_{r}.log <==" for r in range(4)}


def scaled(first, last, scale):
    return "".join(f"step={s} loss={falling(s):.4f} loss_scale={scale}\n"
                   for s in range(first, last + 1))


@pytest.mark.parametrize("with_daemon", [False, True])
def test_what_files_hold_already_is_judged_side_by_side(
        tail, folder, daemon, with_daemon):
    """README's example, begun late: each file is more than the engine aligns."""
    logs = [folder / f"rank_{rank}.log" for rank in range(3)]
    for rank, log in enumerate(logs):
        log.write_text(scaled(1, 600, 65536.0) +
                       scaled(601, 1200, 32768.0 if rank == 1 else 65536.0))
    one = tail("--run", "late", *logs, daemon=daemon if with_daemon else None)
    one.wait_for("different loss scales")
    if with_daemon:
        wait_for("all steps", lambda: runs(daemon).get("late", {}).get(
            "last_step") == "1200", 40)
    assert one.end() == 2
    assert "never opened" not in one.said()
    if not with_daemon:
        return
    shown = daemon.show("late")
    assert [r["rule"] for r in shown["incidents"]] == ["scale_rank_mismatch"]
    assert int(shown["incidents"][0]["opened_step"]) == 601


def test_a_rank_that_prints_no_steps_is_not_missing(tail, folder):
    """Megatron-LM's last rank prints the steps, the others banners."""
    logs = [folder / f"rank_{rank}.log" for rank in range(3)]
    for log in logs[:2]:
        log.write_text("> building train dataset\n")
    logs[2].write_text(healthy(1, 500))
    one = tail("--idle-flush", "1", *logs)
    one.wait_for("a log of megatron")
    assert one.end() == 0
    assert "never opened" not in one.said()


def test_a_daemon_is_told_the_run_and_its_incidents(daemon):
    text = healthy(1, 300) + broken(301, 400) + healthy(401, 500)
    done = pipe(text, "--run", "piped", "--tee", daemon=daemon)
    assert done.returncode == 2 and done.stdout.decode() == text
    said = done.stderr.decode()
    assert "as run piped" in said and "nanwatch diagnose piped" in said
    assert "did not take" not in said
    run = runs(daemon)["piped"]
    assert run["job"] == "standard input"
    shown = daemon.show("piped")
    assert int(shown["summary"]["update_attempts"]) == 500
    assert shown["summary"]["worst"].endswith("CRITICAL")
    incidents = shown["incidents"]
    assert any(300 <= int(i["opened_step"]) <= 330 and
               i["worst"].endswith("CRITICAL") for i in incidents), incidents
    assert daemon.nanwatch("diagnose", "piped").returncode == 2


def test_a_daemon_gives_a_run_its_name_and_knows_its_end(tail, folder, daemon):
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail(log, daemon=daemon)
    one.wait_for("nanwatchd gets the records, as run ")
    [name] = runs(daemon)
    assert f"as run {name}" in one.said()
    assert summary(daemon, name)["state"].endswith("OPEN")
    assert one.end() == 0
    assert summary(daemon, name)["state"].endswith("CLOSED")


def test_a_daemon_that_restarts_gets_the_rest(tail, folder, daemon):
    log = folder / "train.log"
    log.write_text(healthy(1, 100))
    one = tail("--run", "twice", log, daemon=daemon)
    one.wait_for("as run twice")
    daemon.stop()
    append(log, healthy(101, 200))
    daemon.start()
    append(log, healthy(201, 300))
    wait_for("all steps", lambda: summary(daemon, "twice").get(
        "last_step") == "300", 40)
    assert int(summary(daemon, "twice")["update_attempts"]) == 300
    assert one.end() == 0


def test_a_daemon_that_is_not_there_changes_no_verdict(folder):
    done = subprocess.run(
        [NANWATCH, "--address", f"unix:{folder}/none.sock", "tail", "-"],
        input=(healthy(1, 300) + broken(301, 400)).encode(),
        capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"no nanwatchd answers at unix:" in done.stdout
    assert b"did not take 400 of 400 records" in done.stdout


def test_without_a_daemon_nobody_is_asked_to_start_one(folder):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("NANWATCH_")}
    done = subprocess.run(
        [NANWATCH, "tail", "-"], input=healthy(1, 300).encode(),
        capture_output=True, timeout=60,
        env={**environment, "XDG_RUNTIME_DIR": str(folder)})
    assert done.returncode == 0 and done.stderr == b""
    assert b"nanwatchd" not in done.stdout


def test_a_launcher_says_which_rank_a_pipe_is(daemon):
    for rank in range(2):
        pipe(healthy(1, 50), daemon=daemon,
             env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2",
                  "NANWATCH_RUN_ID": "launched"})
    assert [int(r.get("rank", 0)) for r in daemon.show("launched")["ranks"]
            ] == [0, 1]


# -------------------------------------------------------------------- usage


@pytest.mark.parametrize("arguments, word", [
    ([], "log"),
    (["-", "x.log"], "alone"),
    (["--rank", "1", "x.log", "y.log"], "--rank"),
    (["--format", "nonsense", "-"], "--list-formats"),
    (["--new-only", "--from-start", "x.log"], "from-start"),
])
def test_wrong_usage_is_told(arguments, word):
    done = subprocess.run([NANWATCH, "tail", *arguments], capture_output=True,
                          text=True, timeout=20, stdin=subprocess.DEVNULL)
    assert done.returncode == 4
    assert word in done.stderr


@pytest.mark.parametrize("head", [
    b"\x1f\x8b\x08" + bytes(100),
    (pathlib.Path(__file__).parent / "tensorboard" / "writers.tfevents"
     ).read_bytes(),
], ids=["gzip", "tensorboard"])
def test_what_is_no_text_is_sent_to_check(head):
    done = pipe(head)
    assert done.returncode == 3 and b"nanwatch check" in done.stdout


def test_a_program_that_gave_up_is_quoted():
    text = healthy(1, 300) + broken(301, 320) + (
        "Exception: Current loss scale already at minimum - cannot decrease "
        "scale anymore. Exiting run.\n")
    done = pipe(text)
    assert "gave up (line 321): " in done.stdout.decode()


def test_ranks_in_one_log_are_ranks_of_one_run(folder, daemon):
    """The daemon names the run, and the second rank joins it."""
    text = "".join(f"step={s} rank={r} loss={falling(s) + r / 10}\n"
                   for s in range(1, 101) for r in range(2))
    done = pipe(text, daemon=daemon)
    assert done.returncode == 0, done.stdout
    assert "no known program's log" in done.stdout.decode()
    [run] = runs(daemon)
    assert len(daemon.show(run)["ranks"]) == 2
