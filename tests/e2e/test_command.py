"""The nanwatch command, as a person would use it."""

import contextlib
import ctypes
import datetime
import fcntl
import json
import os
import pty
import pwd
import re
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import termios

from conftest import BIN, ROOT, Daemon, feed, get_json, wait_for, word2vec


def test_each_program_says_its_own_version_and_revision():
    text = (ROOT / "client_lib/python/src/nanwatch/_version.py").read_text()
    version = re.search(r'^VERSION = "(.*)"', text, re.M)[1]
    for program in ("nanwatch", "nanwatchd"):
        said = subprocess.run([str(BIN / program), "--version"],
                              capture_output=True, text=True, timeout=10)
        assert said.returncode == 0
        match = re.fullmatch(rf"{program}/{re.escape(version)}, revision "
                             r"([0-9a-f]{12})(\+changes)?\n", said.stdout)
        assert match, said.stdout
        known = subprocess.run(
            ["git", "-C", ROOT, "cat-file", "-t", match[1]],
            capture_output=True, text=True)
        assert known.stdout == "commit\n", said.stdout


def test_runs_show_and_diagnose(daemon):
    assert "No run" in daemon.nanwatch("runs").stdout
    feed(daemon.address, "--run", "calm", "--steps", "500", "--rate", "0")
    assert "calm" in daemon.nanwatch("runs").stdout
    shown = daemon.nanwatch("show", "calm").stdout
    assert "step 499" in shown
    done = daemon.nanwatch("diagnose", "calm")
    assert done.returncode == 0 and "calm" in done.stdout


def test_an_unknown_run_and_a_missing_daemon_are_sentences(daemon, folder):
    done = daemon.nanwatch("show", "nobody", check=False)
    assert done.returncode not in (0, 1, 2)
    assert "nobody" in done.stderr
    address = ("--address", f"unix:{folder}/none")
    for words in ((*address, "runs"), ("runs", *address)):
        done = subprocess.run([str(BIN / "nanwatch"), *words],
                              capture_output=True, text=True, timeout=30)
        assert done.returncode not in (0, 1, 2)
        assert "nanwatchd" in done.stderr


def test_stop_reaches_the_training(daemon):
    import threading

    result = {}

    def train():
        result["done"] = word2vec(
            daemon.address, "--scenario", "cure", "--run", "stopped",
            "--steps", "1000000", check=False)

    thread = threading.Thread(target=train)
    thread.start()
    wait_for("the run appears",
             lambda: "stopped" in daemon.nanwatch("runs").stdout)
    daemon.nanwatch("stop", "stopped", "--reason", "seen enough")
    thread.join(60)
    assert not thread.is_alive()
    assert "seen enough" in result["done"].stdout


def test_mute_and_acknowledge(daemon):
    word2vec(daemon.address, "--scenario", "padding", "--run", "noisy",
             "--steps", "400")
    run = daemon.show("noisy")
    incident = run["incidents"][0]["id"]
    assert re.fullmatch("[0-9a-f]{16}", incident)
    daemon.nanwatch("ack", "noisy", "--incident", incident, "--by", "ann")
    acked = daemon.show("noisy")["incidents"]
    # Whom she calls herself, and as whom the kernel knows her.
    account = pwd.getpwuid(os.geteuid()).pw_name
    assert any(i.get("acknowledged_by") == f"ann ({account})" for i in acked)
    daemon.nanwatch("mute", "noisy", "--reason", "known")


def test_export_and_replay_find_the_same(daemon, folder):
    word2vec(daemon.address, "--scenario", "padding", "--run", "kept",
             "--steps", "600")
    path = folder / "kept.nanwatch"
    daemon.nanwatch("export", "kept", "--output", str(path))
    assert path.stat().st_size > 0
    for source in (path, daemon.history):
        done = subprocess.run([str(BIN / "nanwatch"), "replay", str(source)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "kept" in done.stdout
        assert "with the same findings and sentences" in done.stdout


def replay(path):
    return subprocess.run([str(BIN / "nanwatch"), "replay", str(path)],
                          capture_output=True, text=True, timeout=60)


def decoded(path):
    """All bytes of a history: of the file itself, and of its zstd frames."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    found = [path.read_bytes()]
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [name for (name,) in database.execute(
        "select name from sqlite_master where type = 'table'")]
    frames = 0
    for table in tables:
        for row in database.execute(f"select * from {table}"):
            for cell in row:
                if not isinstance(cell, bytes):
                    found.append(str(cell).encode())
                elif cell[:4] == b"\x28\xb5\x2f\xfd":
                    size = zstd.ZSTD_getFrameContentSize(
                        cell, ctypes.c_size_t(len(cell)))
                    assert size < 1 << 30
                    plain = ctypes.create_string_buffer(max(size, 1))
                    got = zstd.ZSTD_decompress(
                        plain, ctypes.c_size_t(size), cell,
                        ctypes.c_size_t(len(cell)))
                    assert got == size
                    found.append(plain.raw[:size])
                    frames += 1
                else:
                    found.append(cell)
    assert frames > 1
    return b"\0".join(found)


def test_a_replay_shows_a_run_id_as_the_other_commands_do(daemon, folder):
    run = "two\nlines\x1b[31m" + "x" * 300
    feed(daemon.address, "--run", run, "--steps", "5", "--rate", "0")
    export = folder / "odd.nwx"
    daemon.nanwatch("export", run, "--output", str(export))
    said = replay(export).stdout
    assert "\x1b" not in said
    line = re.search(r"^two.*$", said, re.M)[0]
    assert line.startswith("two?lines?[31mxxx")
    assert "...  attempt 0: " in line.replace(" attempt", "  attempt"), line
    assert len(line) < 200


def test_hashed_names_stand_in_no_byte_of_an_export(daemon, folder):
    word2vec(daemon.address, "--scenario", "padding", "--run", "secret-run",
             "--job", "secret-job", "--steps", "600")
    daemon.nanwatch("mute", "secret-run", "--for", "2h", "--by", "secret-ann",
                    "--reason", "secret-reason")
    names = [b"secret-run", b"secret-job", b"secret-ann", b"secret-reason",
             b"Ascend 910A", b"emulated", b"nce/", b"scenario", b"padding"]
    host = socket.gethostname().encode()
    if len(host) > 5:  # shorter ones stand in any bytes
        names.append(host)
    clear, hashed = folder / "clear.nanwatch", folder / "hashed.nanwatch"
    daemon.nanwatch("export", "secret-run", "--output", str(clear))
    daemon.nanwatch("export", "secret-run", "--hash-names", "--output",
                    str(hashed))
    there, gone = decoded(clear), decoded(hashed)
    for name in names:
        assert name in there, name
        assert name not in gone, name
    again = replay(hashed)
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_replay_of_something_else_says_what_to_do(daemon, folder):
    done = replay("/etc/passwd")
    assert done.returncode == 3
    assert "nanwatch export" in done.stderr and "nanwatch check" in done.stderr
    word2vec(daemon.address, "--scenario", "padding", "--run", "cut",
             "--steps", "600")
    whole, cut = folder / "whole.nanwatch", folder / "cut.nanwatch"
    daemon.nanwatch("export", "cut", "--output", str(whole))
    cut.write_bytes(whole.read_bytes()[:whole.stat().st_size // 2])
    done = replay(cut)
    assert done.returncode != 0
    assert "export the run again" in done.stderr, done.stdout + done.stderr


def test_an_export_that_fails_leaves_nothing_behind(folder):
    daemon = Daemon(folder)
    daemon.start(extra=("--history", "off"))
    try:
        feed(daemon.address, "--run", "gone", "--steps", "10")
        before = set(folder.iterdir())
        for _ in range(2):
            done = daemon.nanwatch("export", "gone", "-o",
                                   str(folder / "gone.db"), check=False)
            assert done.returncode == 3
            assert "keeps no history" in done.stderr, done.stderr
            assert set(folder.iterdir()) == before
    finally:
        daemon.kill()


def test_mistakes_on_the_command_line_are_named(daemon):
    for words, said in (
            (["foo"], "no command foo"),
            (["foo", "--x"], "no command foo"),
            ([], "name a command"),
            (["show", "f", "--attempt", "-1"], "whole number from 0"),
            (["mute", "f", "--for", "5"], "its unit"),
            (["mute", "f", "--rule", "9999"], "no rule 9999"),
            (["mute", "f", "--rule", "bogus"], "no rule bogus"),
            (["mute", "f", "--rule", ""], "got an empty text"),
            (["mute", "f", "--by", b"\xff"], "'?' is not UTF-8"),
            (["show", b"bad\xff"], "'bad?' is not UTF-8"),
            (["show", ""], "it is empty: `nanwatch runs` lists the runs"),
            (["diagnose", "a" * 100_000], "a name of 100000 bytes"),
            (["--address", "foo", "runs"], "'foo' is no address"),
            (["--address", "127.0.0.1:99999", "runs"], "port of 1 to 65535"),
            (["export", "f", "-o", "-"], "name a file"),
            (["ack", "f", "--incident", "0" * 16],
             f"run f has no incident {'0' * 16}: `nanwatch diagnose f`"),
            (["ack", "f", "--incident", ""], "16 hexadecimal digits"),
            (["diagnose", "f", "--brief", "--json"], "excludes")):
        done = subprocess.run([str(BIN / "nanwatch"), *words],
                              capture_output=True, text=True, timeout=10)
        assert done.returncode == 4, words
        assert said in done.stderr, done.stderr
        assert max(map(len, done.stderr.splitlines())) < 200


def test_output_that_is_lost_is_no_success(daemon):
    for words in (["version"], ["runs"], ["runs", "--json"], ["explain"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [str(BIN / "nanwatch"), "--address", daemon.address, *words],
                stdout=full, stderr=subprocess.PIPE, text=True, timeout=10)
        assert done.returncode == 3, words
        assert "could not be written: No space left" in done.stderr, words


def test_a_file_that_is_not_there_is_no_empty_one(folder):
    done = subprocess.run([str(BIN / "nanwatch"), "check", folder / "none.log"],
                          capture_output=True, text=True, timeout=10)
    assert done.returncode == 3
    assert "No such file" in done.stderr
    assert "empty" not in done.stdout
    done = subprocess.run([str(BIN / "nanwatch"), "check-config",
                           folder / "none.yaml"],
                          capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    assert "No such file" in done.stderr


def test_the_environment_takes_what_the_client_takes(daemon):
    for address in (str(daemon.socket), f"unix:{daemon.socket}"):
        done = subprocess.run(
            [str(BIN / "nanwatch"), "runs"], capture_output=True, text=True,
            timeout=30, env={**os.environ, "NANWATCH_ADDRESS": address})
        assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [str(BIN / "nanwatch"), "--address", str(daemon.socket), "runs"],
        capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


def test_a_rule_is_muted_by_its_number(daemon):
    feed(daemon.address, "--run", "loud", "--steps", "50", "--rate", "0")
    name = subprocess.run([str(BIN / "nanwatch"), "explain", "7"],
                          capture_output=True, text=True).stdout
    said = daemon.nanwatch("mute", "loud", "--rule", "7").stdout
    assert re.search(r"rule (\w+) of run", said).group(1) in name
    said = daemon.nanwatch("unmute", "loud", "--rule", "7").stdout
    assert re.search(r"rule (\w+) of run", said).group(1) in name


@contextlib.contextmanager
def watching(daemon, run, rows, columns):
    """`watch` in a terminal of this size; the next picture, in lines, of each
    call."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))
    watch = subprocess.Popen(
        [str(BIN / "nanwatch"), "--address", daemon.address, "watch", run],
        stdin=its, stdout=its, stderr=its)
    os.close(its)
    said = b""

    def picture():
        nonlocal said
        while b"\x1b[J" not in said:
            assert select.select([ours], [], [], 20)[0], said
            said += os.read(ours, 1 << 16)
        frame, _, said = said.partition(b"\x1b[J")
        text = frame.decode().partition("\x1b[H")[2]
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\n")

    try:
        yield picture
    finally:
        watch.send_signal(signal.SIGINT)
        watch.wait(10)
        os.close(ours)


def screen(daemon, run, rows, columns):
    with watching(daemon, run, rows, columns) as picture:
        return picture()


def last_line(picture):
    return [line for line in picture() if line.strip()][-1]


def test_watch_waits_for_a_daemon_that_restarts(folder):
    daemon = Daemon(folder).start()
    feeding = feed(daemon.address, "--run", "long", "--steps", "1000000",
                   "--rate", "500", wait=False)
    try:
        wait_for("it is there",
                 lambda: "long" in daemon.nanwatch("runs").stdout)
        with watching(daemon, "long", 24, 120) as picture:
            assert "^C ends this view" in last_line(picture)
            daemon.kill()
            wait_for("it says so",
                     lambda: "waiting: no daemon listens at"
                     in last_line(picture))
            daemon.start()
            wait_for("it goes on",
                     lambda: "^C ends this view" in last_line(picture))
    finally:
        feeding.kill()
        feeding.wait(10)
        daemon.stop()


def test_watch_says_what_to_do_in_a_terminal_of_any_size(daemon):
    training = subprocess.Popen(
        [str(BIN / "nanwatch-word2vec"), "--address", daemon.address,
         "--scenario", "padding", "--run", "sick", "--steps", "10000000",
         "--step-delay-ms", "2"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for("it is found",
                 lambda: "sick" in daemon.nanwatch("runs").stdout
                 and daemon.show("sick")["causes"])
        for rows, columns in ((24, 80), (40, 120), (12, 50)):
            lines = screen(daemon, "sick", rows, columns)
            assert len(lines) <= rows
            assert all(len(line.rstrip("\r")) <= columns for line in lines)
            assert any(line.startswith("  -> ") for line in lines), lines
            assert any(re.match("WARNING|CRITICAL|INFO", line)
                       for line in lines), lines
    finally:
        training.kill()
        training.wait(10)


def test_a_mute_says_until_when(daemon):
    feed(daemon.address, "--run", "loud", "--steps", "50", "--rate", "0")
    said = daemon.nanwatch("mute", "loud", "--for", "2h").stdout
    until = re.search(r"until (\S+ \S+) UTC", said)
    left = datetime.datetime.strptime(
        until.group(1), "%Y-%m-%d %H:%M:%S") - datetime.datetime.utcnow()
    assert 7000 < left.total_seconds() <= 7201, said


def test_http_api(daemon):
    feed(daemon.address, "--run", "api", "--steps", "5000", "--rate", "0",
         "--nan-loss-at", "3000")
    runs = get_json(daemon.http + "/api/v1/runs")
    assert "api" in json.dumps(runs)

    def steps():
        reply = get_json(daemon.http + "/api/v1/runs/api/steps?points=100")
        return reply if "NaN" in json.dumps(reply) or "nan" in json.dumps(
            reply) else None

    # One bad step among thousands stays visible in a hundred points.
    wait_for("the NaN is in the picture", steps)
