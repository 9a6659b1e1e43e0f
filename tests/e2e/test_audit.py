"""Who did what, from where: the lines of the audit, by what real clients do."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess

import pytest

from conftest import BIN, Daemon, counted, feed, get_json, refused_start
from conftest import wait_for
from test_web_rights import incident
from web_site import ANN, PASSWORD, WebSite

ME = "root" if os.geteuid() == 0 else None


def lines(path):
    with contextlib.suppress(FileNotFoundError):
        return [json.loads(line) for line in path.read_text().splitlines()]
    return []


def line(path, kind, **wanted):
    """The newest of a kind that says all of `wanted`; waits for it."""
    def found():
        return [one for one in lines(path) if one["kind"] == kind and all(
            one.get(key) == value for key, value in wanted.items())]

    return wait_for(f"{kind} {wanted}", found,
                    instead=lambda: path.read_text())[-1]


@pytest.fixture
def audited(folder):
    path = folder / "audit" / "audit.jsonl"
    it = Daemon(folder, config=f"audit: {{file: {path}}}").start()
    it.audit = path
    yield it
    it.kill()


def test_a_session_from_its_opening_to_its_close(audited):
    feed(audited.address, "--run", "job", "--steps", "3", "--rate", "0")
    first = line(audited.audit, "opening", run="job", attempt=0, rank=0)
    assert first["from"].startswith("pid ") and first["time"].endswith("Z")
    assert ME is None or first["who"] == ME
    assert line(audited.audit, "close", run="job", attempt=0, rank=0)
    # The next attempt of a run that was there.
    feed(audited.address, "--run", "job", "--steps", "3", "--rate", "0")
    assert line(audited.audit, "takeover", run="job", attempt=1)
    assert stat.S_IMODE(audited.audit.stat().st_mode) == 0o600
    assert stat.S_IMODE(audited.audit.parent.stat().st_mode) == 0o700
    assert counted(audited, "nanwatch_audit_lines_total") == len(
        lines(audited.audit))


def test_a_session_that_comes_back(audited):
    training = feed(audited.address, "--run", "long", "--steps", "100000",
                    "--rate", "200", wait=False)
    try:
        line(audited.audit, "opening", run="long")
        wait_for("records", lambda: any(
            run["totals"]["steps"] > 20 for run in
            get_json(audited.http + "/api/v1/runs")["runs"]))
        audited.kill()
        audited.start()
        assert line(audited.audit, "resume", run="long", rank=0)
    finally:
        training.kill()
        training.wait()


def test_what_people_say(audited):
    training = feed(audited.address, "--run", "sick", "--steps", "100000",
                    "--rate", "200", "--nan-loss-at", "10", wait=False)
    try:
        wait_for("an incident", lambda: any(
            run["run_id"] == "sick" and run["severity"] == "critical"
            for run in get_json(audited.http + "/api/v1/runs")["runs"]))
        found = get_json(audited.http + "/api/v1/runs/sick")["incidents"][0]
        for words, kind in ((("mute", "sick", "--for", "1h"), "mute"),
                            (("unmute", "sick"), "unmute"),
                            (("ack", "sick", "--incident", found["id"]),
                             "ack"),
                            (("bench", "clear", "sick"), "benchmark"),
                            (("stop", "sick", "--reason", "it is over"), "stop")):
            assert audited.nanwatch(*words).returncode == 0, words
            said = line(audited.audit, kind, run="sick", attempt=0)
            assert said["from"].startswith("pid ")
            assert ME is None or said["who"] == ME
        assert found["id"] in line(audited.audit, "ack")["what"]
    finally:
        training.kill()
        training.wait()


def test_a_reload_and_a_new_file(audited):
    feed(audited.address, "--run", "job", "--steps", "3", "--rate", "0")
    line(audited.audit, "close", run="job")
    before = len(lines(audited.audit))
    moved = audited.audit.with_suffix(".1")
    audited.audit.rename(moved)
    audited.process.send_signal(signal.SIGHUP)
    said = line(audited.audit, "reload", what="taken")
    assert said["from"] == f"pid {os.getpid()}"
    assert ME is None or said["who"] == ME
    assert len(lines(moved)) == before
    assert stat.S_IMODE(audited.audit.stat().st_mode) == 0o600
    audited.config.write_text(audited.config.read_text() + "\nnone: 1\n")
    audited.process.send_signal(signal.SIGHUP)
    wait_for("refused", lambda: any(
        "not taken" in one.get("what", "") for one in lines(audited.audit)))


def test_who_was_refused(folder):
    path = folder / "audit.jsonl"
    site = WebSite(folder, more=f"audit: {{file: {path}}}").start()
    training = site.feed("ann", "of-ann", "--steps", "1000000", "--rate",
                         "200", "--nan-loss-at", "10")
    others = []
    try:
        opened = line(path, "opening", run="of-ann", who="ann")
        assert opened["from"].startswith("127.0.0.1:")
        site.annotate("of-ann", incident(site, "of-ann", ANN))
        assert line(path, "ack", who="ann", run="of-ann")["from"] == "127.0.0.1"
        others.append(site.feed("bob", "of-ann", "--steps", "9"))
        said = line(path, "refusal", who="bob", run="of-ann")
        assert "belongs to ann" in said["what"]
        wrong = folder / "wrong.token"
        wrong.write_text("e" * 64)
        site.token_files["eve"] = wrong
        others.append(site.feed("eve", "never", "--steps", "9"))
        assert "token" in line(path, "refusal", who="")["what"]
        assert site.ask("/metrics", ("ann", "wrong-secret"))[0] == 401
        said = line(path, "refusal", who="ann")
        assert "/metrics" in said["what"] and said["from"] == "127.0.0.1"
        # A name that is none may be a password.
        assert site.ask("/none", (PASSWORD + "1", "x"))[0] == 401
        site.raw(b"GET / HTTP/1.1\r\n\r\n", False)
        wait_for("TLS", lambda: any("TLS" in one.get("what", "")
                                    for one in lines(path)))
        # Names and paths of others are one line each, whatever is in them.
        site.raw(b"GET /%0a{\"kind\":\"stop\"} HTTP/1.1\r\n\r\n")
        wait_for("it", lambda: any("kind" in one.get("what", "")
                                   for one in lines(path)))
        assert not any(one["kind"] == "stop" for one in lines(path))
        text = path.read_text()
        for secret in (PASSWORD, "wrong-secret", "e" * 64, wrong.read_text(),
                       *(f.read_text() for f in site.token_files.values())):
            assert secret not in text
    finally:
        site.daemon.kill()
        for one in (training, *others):
            one.kill()
            one.wait()


def test_a_flood_of_refusals_fills_no_disk(folder):
    path = folder / "audit.jsonl"
    web = (WebSite(folder).file.read_text().partition("basic_auth_users")[2])
    site = WebSite(folder, more=f"audit: {{file: {path}}}",
                   web="basic_auth_users" + web, listen="127.0.0.1:0").start()
    try:
        for _ in range(600):
            assert b"401" in site.raw(b"GET / HTTP/1.0\r\n\r\n", False)
        told = wait_for("a count", lambda: [
            one for one in lines(path) if one["kind"] == "refusals_left_out"])
        refusals = [one for one in lines(path) if one["kind"] == "refusal"]
        assert 100 <= len(refusals) < 400
        assert wait_for("all of them", lambda: len(
            [one for one in lines(path) if one["kind"] == "refusal"]) + sum(
                one["count"] for one in lines(path)
                if one["kind"] == "refusals_left_out") == 600)
        assert told[0]["count"] > 0
    finally:
        site.daemon.kill()


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="no prlimit here")
def test_a_full_disk_stops_nothing(folder):
    """No file may have more than 4 KB, as on a disk that is full."""
    path = folder / "audit.jsonl"
    daemon = Daemon(folder, config=f"audit: {{file: {path}}}")
    daemon.wrapper = ["prlimit", "--fsize=4096"]
    daemon.start(extra=("--history", "off"))
    try:
        for run in range(12):
            feed(daemon.address, "--run", f"job-{run}", "--ranks", "4",
                 "--steps", "3", "--rate", "0")
        wait_for("lines that are lost", lambda: counted(
            daemon, "nanwatch_audit_lost_total") > 10)
        assert path.stat().st_size <= 4096
        assert len(get_json(daemon.http + "/api/v1/runs")["runs"]) == 12
        # There is room again: what was lost is counted in a line.
        path.unlink()
        daemon.process.send_signal(signal.SIGHUP)
        assert line(path, "lines_lost")["count"] > 10
        assert line(path, "reload")
    finally:
        daemon.kill()


JOURNALD = pathlib.Path("/lib/systemd/systemd-journald")
IN_A_JOURNAL = """
mount -t tmpfs none /run || exit 9
mkdir -p /run/systemd/journal /run/log/journal
{journald} 2>/dev/null &
echo $! > {folder}/journald.pid
until [ -S /run/systemd/journal/socket ]; do sleep 0.05; done
exec "$@"
"""


def may_have_a_journal():
    return os.geteuid() == 0 and JOURNALD.exists() and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"],
        capture_output=True).returncode == 0


@pytest.mark.skipif(not may_have_a_journal(), reason="no journald of our own")
def test_the_journal(folder):
    """A real journald in a mount namespace of its own."""
    script = folder / "journal.sh"
    script.write_text(IN_A_JOURNAL.format(journald=JOURNALD, folder=folder))
    daemon = Daemon(folder, config="audit: {journal: true}")
    daemon.wrapper = ["unshare", "-m", "bash", str(script)]
    daemon.start()
    try:
        feed(daemon.address, "--run", "job", "--steps", "3", "--rate", "0")

        def said():
            done = subprocess.run(
                ["nsenter", "-t", str(daemon.process.pid), "-m", "journalctl",
                 "-t", "nanwatchd-audit", "-o", "cat"], capture_output=True,
                text=True, timeout=60)
            kinds = {json.loads(one)["kind"]
                     for one in done.stdout.splitlines()}
            return {"opening", "close"} <= kinds

        wait_for("lines in the journal", said)
        assert counted(daemon, "nanwatch_audit_lost_total") == 0
    finally:
        daemon.kill()
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((folder / "journald.pid").read_text()), signal.SIGTERM)


def test_what_cannot_be_is_said_at_start(folder):
    link = folder / "link.jsonl"
    link.symlink_to("/tmp")
    for audit, told in ((f"file: {link}", "no plain file"),
                        ("file: /proc/none/a", "audit"),
                        ("file: a, journal: true", "exclude")):
        assert told in refused_start(folder, config=f"audit: {{{audit}}}")
    done = subprocess.run(
        [str(BIN / "nanwatchd"), "--config", str(folder / "nanwatch.yaml"),
         "--check-config"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "audit.journal" in done.stderr
