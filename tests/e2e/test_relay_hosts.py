"""Three hosts, each a network namespace: two with the ranks of a job, one that
judges it over TLS, and lines between them that are slow, stall and are cut."""

import json
import os
import random
import subprocess
import time

import pytest

from conftest import ALL, Daemon, feed, wait_for
from relays import forwarded, incidents, totals
from slow_line import SlowLine
from tls_site import Site

JOBS = int(os.environ.get("NANWATCH_JOBS", 12 if ALL else 3))
STEPS = 240


def no_namespaces():
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    name = f"nw{os.getpid()}t"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True)
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return made.returncode and "no network namespaces can be made here"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Hosts:
    """Namespaces on one bridge, on which this process is the first."""

    def __init__(self, number):
        self.tag = f"nw{os.getpid() % 10000}"
        self.net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self.names = [f"{self.tag}h{i}" for i in range(number)]
        ip("link", "add", self.tag, "type", "bridge")
        ip("addr", "add", f"{self.net}.1/24", "dev", self.tag)
        ip("link", "set", self.tag, "up")
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("link", "add", f"{self.tag}v{i}", "type", "veth", "peer", "name",
               "eth0", "netns", name)
            ip("link", "set", f"{self.tag}v{i}", "master", self.tag, "up")
            ip("-n", name, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
            for link in "eth0", "lo":
                ip("-n", name, "link", "set", link, "up")

    def address(self, i):
        return f"{self.net}.{i + 2}"

    def inside(self, i):
        return ["ip", "netns", "exec", self.names[i]]

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", self.tag], capture_output=True)


class Job:
    """Something that a training of two ranks may do; the same for each seed."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.run = f"job-{seed}"
        self.same = chance.choice([(), ("--overflow-every", "9")])
        self.each = [chance.choice([(), ("--nan-loss-at", "60")]),
                     chance.choice([(), ("--scale", "512"),
                                    ("--nan-loss-at", "90")])]

    def begin(self, daemons):
        return [feed(one.address, "--run", self.run, "--world", "2",
                     "--first-rank", str(rank), "--steps", str(STEPS), "--rate",
                     "60", "--flush-ms", "60000", *self.same, *self.each[rank],
                     wait=False)
                for rank, one in enumerate(daemons)]


def found(daemon, run):
    """Rules, and since which steps; ids follow from those. From which step on
    ranks are compared is chance: that at which the second one was there."""
    return [(rule, None if "rank" in rule else step)
            for rule, step, _ in incidents(daemon, run)]


def end(begun):
    for one in begun:
        told = json.loads(one.communicate(timeout=120)[0])
        assert told["flushed"] and told["acked"] == STEPS, told


@pytest.mark.skipif(bool(no_namespaces()), reason=str(no_namespaces()))
def test_three_hosts_are_as_one_daemon(folder):
    seed = int(os.environ.get("NANWATCH_SEED", time.time_ns() % 100000))
    print(f"seed {seed} (NANWATCH_SEED)")
    chance = random.Random(seed)
    hosts = Hosts(3)
    started, lines = [], []
    try:
        place = folder / "up"
        place.mkdir()
        site = Site(place)
        site.show(*site.authority.sign(
            "hosts", f"IP:{hosts.net}.1,IP:{hosts.address(0)}"))
        up = site.daemon
        up.config.write_text(up.config.read_text().replace(
            "127.0.0.1:0", f"{hosts.address(0)}:9766").replace(
            "admins: [chief]", "relays: [ann]"))
        up.wrapper = hosts.inside(0)
        alone = Daemon(folder, config="")
        relays = []
        for i in 1, 2:
            lines.append(SlowLine((f"{hosts.net}.1", 9766 + i),
                                  (hosts.address(0), 9766)))
            own = folder / f"host{i}"
            own.mkdir()
            relays.append(Daemon(own, config=f"""
upstream:
  address: tls://{hosts.net}.1:{9766 + i}
  ca: {site.authority.certificate}
  token_file: {site.token_files["ann"]}
"""))
            relays[-1].wrapper = hosts.inside(i)
        for i, one in enumerate([up, *relays]):
            started.append(one)
            open_to = f"\nweb: {{insecure: true, allowed_hosts: ['{hosts.address(i)}']}}\n"
            one.config.write_text(one.config.read_text() + open_to)
            one.start(extra=("--listen", f"{hosts.address(i)}:9765"))
        started.append(alone.start())
        jobs = [Job(seed * 1000 + i) for i in range(JOBS)]
        begun = [one for job in jobs for one in job.begin(relays)]
        begun += [one for job in jobs for one in job.begin([alone, alone])]
        until = time.monotonic() + STEPS / 60
        # Chance alone might cut no line that is in use.
        for one, line in zip(relays, lines):
            wait_for("the upstream is there",
                     lambda one=one: one.metric("nanwatch_relay_connected"))
            line.cut()
        while time.monotonic() < until:
            line = chance.choice(lines)
            what = chance.choice(["delay", "stall", "cut", "down"])
            if what == "delay":
                line.delay = chance.choice([0, 0.02, 0.1])
            elif what == "cut":
                line.cut()
            else:
                setattr(line, "stalled" if what == "stall" else "down", True)
                if what == "down":
                    line.cut()
                time.sleep(chance.uniform(0.1, 1.0))
                line.stalled = line.down = False
            time.sleep(chance.uniform(0.05, 0.3))
        for line in lines:
            line.delay = 0
        end(begun)
        forwarded(*relays)
        for job in jobs:
            assert totals(up, job.run) == [(0, 2 * STEPS)], job.run
            same = found(alone, job.run)
            wait_for("the same incidents",
                     lambda job=job, same=same: found(up, job.run) == same,
                     instead=lambda job=job, same=same:
                     f"{job.same} {job.each}: {same} {found(up, job.run)}")
        assert sum(one.metric("nanwatch_relay_reconnects_total")
                   for one in relays) > 0
    finally:
        for one in started:
            one.kill()
        for line in lines:
            line.close()
        hosts.close()
