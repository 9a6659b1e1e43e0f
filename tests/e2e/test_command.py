"""The nanwatch command, as a person would use it."""

import json
import os
import pwd
import sqlite3
import subprocess

from conftest import BIN, feed, get_json, wait_for, word2vec


def test_each_program_says_its_own_version():
    for program in ("nanwatch", "nanwatchd"):
        said = subprocess.run([str(BIN / program), "--version"],
                              capture_output=True, text=True, timeout=10)
        assert said.returncode == 0
        assert said.stdout.startswith(program + "/"), said.stdout


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
    done = subprocess.run(
        [str(BIN / "nanwatch"), "--address", f"unix:{folder}/none", "runs"],
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
    daemon.nanwatch("ack", "noisy", "--incident", f"{int(incident):016x}",
                    "--by", "ann")
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
    hashed = folder / "hashed.nanwatch"
    daemon.nanwatch("export", "kept", "--hash-names", "--output", str(hashed))
    assert sqlite3.connect(hashed).execute(
        "select count(*) from sqlite_master").fetchone()[0] > 0


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
