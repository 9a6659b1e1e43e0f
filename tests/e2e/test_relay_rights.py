"""A relay over TLS: who may speak for the owners of runs, and what the upstream
asks of a training."""

import getpass
import json
import os
import signal
import subprocess
import sys

from conftest import ROOT, feed, wait_for
from relays import forwarded, relay, totals
from tls_site import Site

TRAINING = """if True:
    import sys, time, nanwatch
    run = nanwatch.init(run=sys.argv[1], address=sys.argv[2])
    for step in range(4000):
        run.step(step, loss=1.0)
        if run.should_stop:
            print("stopped: " + run.should_stop, flush=True)
            break
        time.sleep(0.01)
    run.close()
"""


def site_of(folder, relays):
    place = folder / "site"
    place.mkdir()
    site = Site(place)
    config = site.daemon.config
    config.write_text(config.read_text().replace(
        "access: {admins: [chief]}",
        f"access: {{admins: [chief], relays: {json.dumps(relays)}}}"))
    return site.start()


def relay_to(site, folder, name, who):
    return relay(folder, name, site.address,
                 f"ca: {site.authority.certificate}, "
                 f"token_file: {site.token_files[who]}").start()


def owner_of(daemon, run):
    return daemon.show(run)["summary"].get("owner")


def test_the_owner_comes_with_the_run(folder):
    site = site_of(folder, ["ann"])
    one = relay_to(site, folder, "a", "ann")
    try:
        feed(one.address, "--run", "owned", "--steps", "50", "--rate", "0")
        forwarded(one)
        assert totals(site.daemon, "owned") == [(0, 50)]
        mine = owner_of(one, "owned")
        assert mine and mine != "ann"
        assert owner_of(site.daemon, "owned") == mine
    finally:
        site.daemon.kill()
        one.kill()


def test_who_is_no_relay_waits_until_he_is(folder):
    site = site_of(folder, [])
    one = relay_to(site, folder, "a", "bob")
    try:
        feed(one.address, "--run", "early", "--steps", "50", "--rate", "0")
        wait_for("it says why", lambda: "bob may not relay: add it to "
                 "access.relays" in one.log.read_text())
        assert totals(site.daemon, "early") == []
        assert totals(one, "early") == [(0, 50)]
        assert one.metric("nanwatch_relay_connected") == 0
        config = site.daemon.config
        config.write_text(config.read_text().replace(
            "relays: []", "relays: [bob]"))
        site.daemon.process.send_signal(signal.SIGHUP)
        forwarded(one)
        assert totals(site.daemon, "early") == [(0, 50)]
        # And once he may not any more, nothing of his comes.
        config.write_text(config.read_text().replace(
            "relays: [bob]", "relays: []"))
        site.daemon.process.send_signal(signal.SIGHUP)
        wait_for("it is read again", lambda: site.daemon.log.read_text().count(
            "configuration reloaded") == 2)
        feed(one.address, "--run", "late", "--steps", "50", "--rate", "0")
        wait_for("it is cut", lambda: "bob may not relay any more" in
                 one.log.read_text())
        assert totals(site.daemon, "late") == []
    finally:
        site.daemon.kill()
        one.kill()


def test_a_relay_cannot_take_the_run_of_another_owner(folder):
    """The right is to name owners, not to change what is theirs."""
    site = site_of(folder, ["ann"])
    one = relay_to(site, folder, "a", "ann")
    environment = {**os.environ, **site.told(token=site.token_files["bob"])}
    try:
        done = subprocess.run(
            [sys.executable, "-c",
             "import sys, nanwatch\n"
             "run = nanwatch.init(run='of-bob', address=sys.argv[1])\n"
             "run.step(0, loss=1.0)\nassert run.flush(20)\nrun.close()\n",
             site.address], timeout=60, capture_output=True, text=True,
            env={**environment,
                 "PYTHONPATH": str(ROOT / "client_lib/python/src")})
        assert done.returncode == 0, done.stderr
        assert owner_of(site.daemon, "of-bob") == "bob"
        feed(one.address, "--run", "of-bob", "--steps", "50", "--rate", "0")
        assert getpass.getuser() != "bob"
        wait_for("it is refused", lambda: "belongs to bob" in
                 one.log.read_text())
        assert totals(site.daemon, "of-bob") == [(0, 1)]
    finally:
        site.daemon.kill()
        one.kill()


def test_a_stop_reaches_the_training(folder):
    site = site_of(folder, ["ann"])
    one = relay_to(site, folder, "a", "ann")
    training = subprocess.Popen(
        [sys.executable, "-c", TRAINING, "asked", one.address],
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "client_lib/python/src")})
    try:
        wait_for("it is seen upstream",
                 lambda: totals(site.daemon, "asked") != [])
        site.daemon.nanwatch("stop", "asked", "--reason", "enough of it")
        said, _ = training.communicate(timeout=60)
        assert "stopped: " in said and "enough of it" in said
        forwarded(one)
        assert "enough of it" in one.show("asked")["stop_requested"]
    finally:
        training.kill()
        site.daemon.kill()
        one.kill()
