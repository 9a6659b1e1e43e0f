"""Whose a run is: real users on one socket of a real daemon."""

import grp
import json
import os
import pwd
import signal
import subprocess
import sys

import pytest

from conftest import BIN, ROOT, Daemon, feed, free_port, get_json, refusals
from conftest import refused_start, summary, wait_for
from raw_client import Raw, opening, steps

ANN, BOB, CHIEF = "daemon", "nobody", "games"  # accounts of every Debian


def why_not():
    if os.geteuid() != 0:
        return "only root can speak as several users"
    for name in (ANN, BOB, CHIEF):
        try:
            pwd.getpwnam(name)
        except KeyError:
            return f"this machine has no account {name}"
    asked = subprocess.run([str(BIN / "nanwatch"), "version"], user=BOB,
                           group=pwd.getpwnam(BOB).pw_gid, extra_groups=[],
                           capture_output=True)
    return "" if asked.returncode == 0 else (
        "other users may not run what was built here")


@pytest.fixture(autouse=True)
def several_users():
    why = why_not()
    if why:
        pytest.skip(why)


def as_user(name):
    account = pwd.getpwnam(name)
    return {"user": account.pw_uid, "group": account.pw_gid,
            "extra_groups": [], "cwd": "/",
            "env": {**os.environ, "HOME": "/nonexistent"}}


CONFIG = f"""
ingest: {{socket_mode: "0666"}}
access: {{admins: [{CHIEF}]}}
"""


@pytest.fixture(params=[None, 12345], ids=["root", "service"])
def shared(folder, request):
    """A daemon that every user may reach: root's, or a service's."""
    folder.chmod(0o711)
    it = Daemon(folder, config=CONFIG, user=request.param)
    if request.param is not None:
        os.chown(folder, request.param, request.param)
        it.config.chmod(0o644)
    yield it.start()
    it.kill()


def client(daemon, user):
    """A C++ gRPC client on whose stream anything can be said."""
    return Raw(daemon.address, **as_user(user))


def nanwatch(daemon, user, *words):
    return subprocess.run(
        [str(BIN / "nanwatch"), "--address", daemon.address, *words],
        capture_output=True, text=True, timeout=60, **as_user(user))


def reload(daemon, access, taken=True):
    """Writes the section, sends HUP, waits until it is read."""
    name = "nanwatch_config_last_reload_success_timestamp_seconds"
    before = daemon.metric(name)
    daemon.config.write_text(f"""
ingest: {{socket_mode: "0666"}}
access: {{{access}}}
""")
    daemon.process.send_signal(signal.SIGHUP)
    wait_for("the reload", lambda: daemon.metric(
        "nanwatch_config_last_reload_successful") == taken and (
            not taken or daemon.metric(name) > before))


def denied(refusal):
    assert refusal["code"] == "REFUSAL_CODE_PERMISSION_DENIED", refusal
    assert f"belongs to {ANN}" in refusal["message"]
    assert BOB in refusal["message"] and "admin" in refusal["message"]
    return True


def test_another_user_changes_nothing_of_a_run(shared):
    with client(shared, ANN) as ann, client(shared, BOB) as bob:
        ann.opened(11, "job", world=2)
        ann.say(steps(11, 1))
        ann.acked(1)
        # A rank; Ann's own session, whose id he found; another attempt.
        for words in (opening(22, "job", rank=1, world=2),
                      opening(11, "job", world=2),
                      opening(22, "job", world=2, more="attempt: 5")):
            bob.say(words)
            assert denied(bob.hear("refusal"))
        assert refusals(shared, "permission_denied") == 3, "openings"
        # His stream has heard of Ann's session; it is not his for that.
        for words in ("close { session: 11 sequence: 2 }",
                      steps(11, 2, first=10)):
            bob.say(words)
            assert denied(bob.hear("refusal"))
        for words in (["stop", "job", "--reason", "x"], ["mute", "job"],
                      ["ack", "job"], ["bench", "clear", "job"]):
            said = nanwatch(shared, BOB, *words)
            assert said.returncode not in (0, 1, 2), words
            assert f"belongs to {ANN}" in said.stderr
            assert "access.admins" in said.stderr
        # He sees it, and Ann's records still arrive.
        seen = json.loads(nanwatch(shared, BOB, "show", "job", "--json").stdout)
        assert seen["summary"]["owner"] == ANN
        assert "stop_requested" not in seen
        assert ANN in nanwatch(shared, BOB, "runs").stdout
        assert ANN in nanwatch(shared, BOB, "show", "job").stdout
        ann.say(steps(11, 2, first=10))
        ann.acked(2)
        shown = summary(shared, "job")
        assert int(shown["steps"]) == 20 and int(shown["ranks_open"]) == 1
        assert int(shown.get("attempt", 0)) == 0
        listed = get_json(shared.http + "/api/v1/runs")["runs"]
        assert [r["owner"] for r in listed] == [ANN]


def test_the_owner_an_admin_and_root_change_it(shared):
    with client(shared, ANN) as ann:
        ann.opened(11, "job", world=3)
        for user in (ANN, CHIEF, "root"):
            said = nanwatch(shared, user, "ack", "job", "--by", "x")
            assert said.returncode == 0, said.stderr
            said = nanwatch(shared, user, "bench", "clear", "job")
            assert said.returncode == 0, said.stderr
        with client(shared, CHIEF) as chief:
            chief.opened(33, "job", rank=1, world=3)
        with client(shared, ANN) as again:
            again.opened(44, "job", rank=2, world=3)
            said = nanwatch(shared, CHIEF, "stop", "job", "--reason", "enough")
            assert said.returncode == 0, said.stderr
            assert "enough" in again.hear("request")["stop"]["reason"]
    assert summary(shared, "job")["owner"] == ANN


def test_a_run_stays_its_owners_over_a_restart(shared):
    with client(shared, ANN) as ann:
        ann.opened(11, "open")
        ann.say(steps(11, 1))
        ann.acked(1)
        ann.opened(12, "over")
        ann.say("close { session: 12 sequence: 1 }")
        ann.acked(1)
        shared.kill()
    shared.start()
    with client(shared, BOB) as bob:
        for words in (opening(11, "open"), opening(22, "open"),
                      opening(23, "over")):
            bob.say(words)
            assert denied(bob.hear("refusal"))
    with client(shared, CHIEF) as chief:
        assert int(chief.opened(24, "over")["attempt"]) == 1
    with client(shared, ANN) as ann:
        back = ann.opened(11, "open")
        assert int(back.get("attempt", 0)) == 0
        assert int(back["heldSequence"]) == 1
        ann.say(steps(11, 2, first=10))
        ann.acked(2)
        assert int(ann.opened(25, "over")["attempt"]) == 2
    for run in ("open", "over"):
        assert summary(shared, run)["owner"] == ANN


def test_the_clients_say_whose_it_is(shared):
    with client(shared, ANN) as ann:
        ann.opened(11, "job")
        program = """if True:
            import sys, nanwatch
            run = nanwatch.init(run="job", address=sys.argv[1])
            run.step(0, loss=1.0)
            assert not run.flush(2)
            print(run.stats.error)
        """
        options = as_user(BOB)
        options["env"]["PYTHONPATH"] = str(ROOT / "client_lib/python/src")
        said = subprocess.run(
            [sys.executable, "-c", program, shared.address],
            capture_output=True, text=True, timeout=60, **options)
        assert f"belongs to {ANN}" in said.stdout, said
        done = subprocess.run(
            [str(BIN / "nanwatch-feed"), "--address", shared.address, "--run",
             "job", "--steps", "5", "--flush-ms", "1000", "--close-ms", "100"],
            capture_output=True, text=True, timeout=60, **as_user(BOB))
        assert json.loads(done.stdout)["acked"] == 0
        # A run of his own.
        done = subprocess.run(
            [str(BIN / "nanwatch-feed"), "--address", shared.address, "--run",
             "his", "--steps", "5"],
            capture_output=True, text=True, timeout=60, **as_user(BOB))
        assert json.loads(done.stdout)["acked"] == 5
    assert summary(shared, "his")["owner"] == BOB


def test_nobody_is_who_he_says(shared):
    """The daemon names the owner, whatever the client does."""
    with client(shared, BOB) as bob:
        bob.opened(11, "job", more='owner: "root"')
        assert summary(shared, "job")["owner"] == BOB


def test_a_descriptor_is_its_callers_as_long_as_the_call_lasts(shared):
    """Users come and go on the numbers that others had."""
    for i in range(20):
        user = (ANN, BOB)[i % 2]
        with client(shared, user) as one:
            one.opened(100 + i, f"job-{i}")
            one.end()
    listed = {r["run_id"]: r["owner"]
              for r in get_json(shared.http + "/api/v1/runs")["runs"]}
    assert listed == {f"job-{i}": (ANN, BOB)[i % 2] for i in range(20)}


def test_the_page_of_a_service_changes_nothing_of_others(folder):
    folder.chmod(0o711)
    os.chown(folder, 12345, 12345)
    daemon = Daemon(folder, config=CONFIG, user=12345)
    daemon.config.chmod(0o644)
    daemon.start()
    try:
        feed(daemon.address, "--run", "job", "--steps", "50",
             "--nan-loss-at", "10")
        incident = wait_for("an incident", lambda: get_json(
            daemon.http + "/api/v1/runs/job").get("incidents"))[0]["id"]
        done = subprocess.run(
            ["curl", "-s", "-o", "/dev/stdout", "-w", "%{http_code}",
             "-H", "X-Nanwatch: annotate", "-H",
             "Content-Type: application/json", "-d",
             json.dumps({"kind": "mute", "incident": incident, "by": "root"}),
             daemon.http + "/api/v1/runs/job/annotations"],
            capture_output=True, text=True, timeout=20)
        assert done.stdout.endswith("403"), done.stdout
        assert "belongs to root" in done.stdout
    finally:
        daemon.kill()


def test_on_the_loopback_port_the_kernel_says_who_it_is(folder):
    """Nobody is asked for a password: root's run is muted by root alone."""
    folder.chmod(0o711)
    daemon = Daemon(folder).start()
    try:
        feed(daemon.address, "--run", "job", "--steps", "50",
             "--nan-loss-at", "10")
        incident = wait_for("an incident", lambda: get_json(
            daemon.http + "/api/v1/runs/job").get("incidents"))[0]["id"]

        def mute(**user):
            return subprocess.run(
                ["curl", "-s", "-w", "%{http_code}", "-H",
                 "X-Nanwatch: annotate", "-H", "Content-Type: application/json",
                 "-d", json.dumps({"kind": "mute", "incident": incident}),
                 daemon.http + "/api/v1/runs/job/annotations"],
                capture_output=True, text=True, timeout=20, **user).stdout

        said = mute(**as_user(BOB))
        assert said.endswith("403") and "belongs to root" in said, said
        assert mute().endswith("200")
    finally:
        daemon.kill()


def test_who_may_is_read_again_on_hup(shared):
    """On a stream that is open, and for groups."""
    group = grp.getgrgid(pwd.getpwnam(CHIEF).pw_gid).gr_name
    with client(shared, ANN) as ann, client(shared, BOB) as bob:
        ann.opened(11, "job", world=3)
        bob.say(opening(22, "job", rank=1, world=3))
        assert denied(bob.hear("refusal"))
        reload(shared, f"admins: [{BOB}]")
        bob.opened(22, "job", rank=1, world=3)
        assert nanwatch(shared, CHIEF, "ack", "job").returncode != 0
        reload(shared, f"admin_groups: [{group}]")
        bob.say(steps(22, 1))
        assert denied(bob.hear("refusal"))
        assert nanwatch(shared, CHIEF, "ack", "job").returncode == 0
        # What is not taken is said, and leaves all as it was.
        reload(shared, "read: owner", taken=False)
        assert nanwatch(shared, BOB, "show", "job").returncode == 0


def test_a_run_without_an_owner_is_everybodys(folder):
    """As one of a history from before owners were kept, over a restart."""
    folder.chmod(0o711)
    tcp = f"127.0.0.1:{free_port()}"
    daemon = Daemon(folder, config=f"""
ingest: {{socket_mode: "0666", tcp: "{tcp}", tcp_anonymous: true}}
access: {{read: everyone}}
""").start()
    try:
        with Raw(tcp, **as_user(ANN)) as nobody:
            nobody.opened(11, "open", world=2)
            nobody.opened(12, "over")
            nobody.say("close { session: 12 sequence: 1 }")
            nobody.acked(1)
        daemon.kill()
        daemon.start()
        for run in ("open", "over"):
            assert summary(daemon, run)["owner"] == ""
        with client(daemon, BOB) as bob:
            assert "attempt" not in bob.opened(21, "open", rank=1, world=2)
            assert nanwatch(daemon, BOB, "ack", "open").returncode == 0
            assert summary(daemon, "open")["owner"] == ""
            assert int(bob.opened(22, "over")["attempt"]) == 1
            assert summary(daemon, "over")["owner"] == BOB
        with client(daemon, ANN) as ann:
            ann.say(opening(31, "over"))
            assert "belongs to " + BOB in ann.hear("refusal")["message"]
    finally:
        daemon.kill()


def test_only_who_is_listed_connects(folder):
    folder.chmod(0o711)
    group = grp.getgrgid(pwd.getpwnam(CHIEF).pw_gid).gr_name
    daemon = Daemon(folder, config=f"""
ingest: {{socket_mode: "0666"}}
access: {{users: [{ANN}], groups: [{group}]}}
""").start()
    try:
        for user, comes in ((ANN, True), (CHIEF, True), ("root", True),
                            (BOB, False)):
            said = nanwatch(daemon, user, "runs")
            assert (said.returncode == 0) == comes, (user, said)
        for _ in range(5):
            nanwatch(daemon, BOB, "runs")
        assert refusals(daemon, "unauthenticated") >= 6
        # Not a line for each.
        log = daemon.log.read_text()
        assert log.count("refused a caller") == 1 and "access.users" in log
    finally:
        daemon.kill()


def test_owners_alone_read_only_without_http(folder):
    said = refused_start(folder, config="access: {read: owner}\n")
    assert "access.read" in said and "web.listen" in said
