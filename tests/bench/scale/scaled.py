"""One job of so many ranks behind relays, and what its upstream takes.

A relay is a real nanwatchd, to which played clients speak, or it is played: then
a program says what a real one said (relay.zst, which record.py makes), over a TLS
connection of its own."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "e2e"))

import relays  # noqa: E402
import tls_site  # noqa: E402
from conftest import BIN, get, get_json, wait_for  # noqa: E402

RANKS_A_RELAY = 8  # of the recording
STEPS = 200        # of each rank, there
RUN = "job"
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    return sum(int(f) for f in fields.split()[11:13]) / TICK


def status_bytes(pid, *names):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1]) * 1024
                 for name in names)


def memory(pid):
    """Bytes that are resident, and that were at most."""
    return status_bytes(pid, "VmRSS", "VmHWM")


def own_memory(pid):
    """Bytes that are resident and no file's."""
    return status_bytes(pid, "RssAnon")[0]


def wire_bytes(port):
    """(came, went) over the connections that are open at this port, as TCP counts
    them: with what TLS and HTTP/2 add."""
    said = subprocess.run(["ss", "-tinOH", f"sport = :{port}"], check=True,
                          capture_output=True, text=True).stdout
    return tuple(sum(map(int, re.findall(rf"\b{word}:(\d+)", said)))
                 for word in ("bytes_received", "bytes_sent"))


def unpacked(folder):
    path = pathlib.Path(folder) / "recording"
    if not path.exists():
        packed = (HERE / "relay.zst").read_bytes()
        path.write_bytes(zstandard.ZstdDecompressor().decompress(
            packed, max_output_size=1 << 28))
    return path


class Upstream(tls_site.Site):
    """Over TLS; its relays have a token."""

    def __init__(self, folder):
        super().__init__(folder, client_ca=False)
        said = self.daemon.config.read_text()
        self.daemon.config.write_text(said.replace(
            "access: {", "access: {relays: [ann], "))

    def relay(self, name):
        return relays.relay(self.folder, name, self.address,
                            f"ca: {self.authority.certificate}, token_file: "
                            f"{self.token_files['ann']}")


class Played:
    """The program that plays relays, or the clients of one."""

    def __init__(self, recording, address, *arguments):
        self.process = subprocess.Popen(
            [str(BIN / "nanwatch-play-relays"), str(recording), "--address",
             address, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = {}
        self.heard = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            one = json.loads(line)
            with self.heard:
                self.said[one["what"]] = one
                self.heard.notify_all()
        with self.heard:
            self.said["over"] = {}
            self.heard.notify_all()

    def hears(self, what, seconds):
        with self.heard:
            self.heard.wait_for(
                lambda: what in self.said or "over" in self.said, seconds)
            assert what in self.said, (what, self.said, self.process.poll())
            return self.said[what]

    def close(self):
        """Lets the ranks end, and waits for it."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        self.hears("closed", 120)
        assert self.process.wait(20) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


def incidents(daemon):
    with contextlib.suppress(OSError):
        return get_json(f"{daemon.http}/api/v1/runs/{RUN}/incidents")[
            "incidents"]
    return []


def first_critical(daemon, seconds):
    """The incident, and the Unix time at which it could be read."""
    def found():
        return [one for one in incidents(daemon)
                if one["severity"] == "critical"]
    one = wait_for("a critical incident", found, seconds, every=0.02)[0]
    return one, time.time()


class Job:
    """`real` relays are daemons, `played` ones are not; each has eight ranks."""

    def __init__(self, folder, real, played, pace, nan_step=180):
        self.folder = pathlib.Path(folder)
        self.ranks = RANKS_A_RELAY * (real + played)
        self.pace = pace
        self.up = Upstream(self.folder)
        self.recording = unpacked(self.folder)
        self.relays = []
        self.players = []
        self.real, self.played = real, played
        # Of the last rank.
        self.nan = ("--nan-rank", self.ranks - 1, "--nan-step", nan_step)
        self.nan_step = nan_step

    def __enter__(self):
        self.up.start()
        self.idle, _ = memory(self.pid)
        self.relays = [self.up.relay(f"relay-{i}").start()
                       for i in range(self.real)]
        return self

    def __exit__(self, *why):
        for one in (*self.players, *self.relays, self.up.daemon):
            one.kill()

    @property
    def pid(self):
        return self.up.daemon.process.pid

    def begin(self):
        for i, relay in enumerate(self.relays):
            self.players.append(Played(
                self.recording, relay.address, "--run", RUN, "--clients",
                "--first-rank",
                RANKS_A_RELAY * i, "--world", self.ranks, "--pace", self.pace,
                *self.nan))
        if self.played:
            self.play(RUN, self.played, self.pace, "--first-rank",
                      RANKS_A_RELAY * self.real, "--world", self.ranks,
                      *self.nan)

    def play(self, run, count, pace, *more):
        """Relays that are played, of the run."""
        self.players.append(Played(
            self.recording, f"localhost:{self.up.port}", "--run", run,
            "--relays", count, "--pace", pace, "--ca",
            self.up.authority.certificate, "--token",
            self.up.token_files["ann"], *more))
        return self.players[-1]

    def measure(self, seconds):
        """What the upstream took, as a dictionary."""
        took = {"ranks": self.ranks, "real": self.real, "played": self.played}
        begun = time.monotonic()
        self.begin()
        for one in self.players:
            one.hears("open", seconds)
        wait_for("all ranks are open upstream", lambda: self.open_ranks()
                 == self.ranks, seconds)
        took["open_s"] = time.monotonic() - begun
        took["open_bytes"], _ = memory(self.pid)
        before, at = cpu_seconds(self.pid), time.monotonic()
        spoilt = self.players[-1].hears("spoilt", seconds)
        incident, read = first_critical(self.up.daemon, seconds)
        took["verdict_s"] = read - spoilt["nan_at"]
        took["incident"] = incident
        held = [one.hears("held", seconds) for one in self.players]
        for relay in self.relays:
            relays.forwarded(relay, seconds=seconds)
        took["cpu_s"] = cpu_seconds(self.pid) - before
        took["wall_s"] = time.monotonic() - at
        took["refusals"] = sum(one["refusals"] for one in held)
        took["reconnects"] = sum(one["reconnects"] for one in held)
        took["came"], took["went"] = wire_bytes(self.up.port)
        begun = time.monotonic()
        metrics = get(self.up.daemon.http + "/metrics", seconds=30)
        took["scrape_s"] = time.monotonic() - begun
        took["series"] = sum(not line.startswith("#")
                             for line in metrics.splitlines())
        took["bytes"], took["most_bytes"] = memory(self.pid)
        took["idle_bytes"] = self.idle
        took["disk"] = sum(
            path.stat().st_size
            for path in self.folder.glob("history.db*"))
        took["shown"] = self.summary()
        return took

    def summary(self):
        return get_json(f"{self.up.daemon.http}/api/v1/runs/{RUN}?ranks=0")

    def open_ranks(self):
        listed = get_json(self.up.daemon.http + "/api/v1/runs")["runs"]
        return sum(run["ranks_open"] for run in listed if run["run_id"] == RUN)

    def close(self):
        for one in self.players:
            one.close()
        for relay in self.relays:
            relays.forwarded(relay)
