"""The page that draws where daemons run: what it says is started, with the
paths and addresses of a test in the place of its own."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess

import pytest

from conftest import BIN, ROOT, Daemon, free_port, wait_for
from relays import forwarded, totals
from tls_site import Authority, HERE

PAGE = (ROOT / "docs/TOPOLOGIES.md").read_text()
SH = dict(re.findall(r"```sh (\w+)\n(.*?)```", PAGE, re.S))
YAML = dict(re.findall(r"```yaml (\w+)\n(.*?)```", PAGE, re.S))
TOKENS = {"host-a": "a" * 64, "host-b": "b" * 64}


class Place:
    """Stands for the hosts of the page: a folder, a port, certificates."""

    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        self.swaps = {
            "/etc/nanwatch/": f"{folder}/", "0.0.0.0:9766": f"127.0.0.1:{port}",
            "judge:9766": f"localhost:{port}",
        }

    def fit(self, text):
        for old, new in self.swaps.items():
            text = text.replace(old, new)
        return text

    def certify(self):
        authority = Authority(self.folder)
        for source, name in zip((authority.certificate,
                                 *authority.sign("judge", HERE)),
                                ("ca.crt", "server.crt", "server.key")):
            if source.name != name:
                (self.folder / name).write_bytes(source.read_bytes())
        (self.folder / "tokens").write_text("".join(
            f"{who} {hashlib.sha256(token.encode()).hexdigest()}\n"
            for who, token in TOKENS.items()))
        (self.folder / "token").write_text(TOKENS["host-a"] + "\n")


def daemon_of(place, line, name, config=None):
    """The daemon that the line starts."""
    words = shlex.split(line)
    assert words[0] == "nanwatchd"
    own = place.folder / name
    own.mkdir()
    it = Daemon(own, config=None if config is None else place.fit(config))
    extra = [word.replace("/run/nanwatch", str(own))
             for word in words[1:] if not word.endswith(".yaml")]
    if "--config" in extra:
        extra.remove("--config")
    return it.start(extra=extra)


def train(place, line, daemon, run, *more):
    """The training of the line: its own settings, ours for what it trains."""
    settings = {}
    words = shlex.split(place.fit(line))
    while "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        settings[key] = value.replace("unix:/run/nanwatch/ingest.sock",
                                      daemon.address)
    assert words == ["python", "train.py"]
    done = subprocess.run(
        [str(BIN / "nanwatch-feed"), "--run", run, "--steps", "50", "--rate",
         "0", *more], env={**os.environ, **settings}, capture_output=True,
        text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["sidecar", "node"])
def test_a_daemon_beside_its_trainings(folder, name):
    start, training = SH[name].strip().splitlines()
    place = Place(folder, 0)
    daemon = daemon_of(place, start, name)
    try:
        train(place, training, daemon, "beside", "--ranks", "8")
        assert totals(daemon, "beside") == [(0, 400)]
    finally:
        daemon.kill()


def test_one_daemon_a_job(folder):
    place = Place(folder, free_port())
    place.certify()
    start, training = SH["job"].strip().splitlines()
    daemon = daemon_of(place, start, "job", YAML["job"])
    try:
        for rank in "0", "1":
            train(place, training, daemon, "over-tls", "--world", "2",
                  "--first-rank", rank)
        assert totals(daemon, "over-tls") == [(0, 100)]
        assert daemon.show("over-tls")["summary"]["owner"] == "host-a"
    finally:
        daemon.kill()


def test_relays(folder):
    place = Place(folder, free_port())
    place.certify()
    up_line, relay_line, training = SH["relay"].strip().splitlines()
    up = daemon_of(place, up_line, "up", YAML["upstream"])
    relays = [daemon_of(place, relay_line, name, YAML["relay"])
              for name in ("a", "b")]
    try:
        for rank, one in enumerate(relays):
            train(place, training, one, "relayed", "--world", "2",
                  "--first-rank", str(rank))
        forwarded(*relays)
        assert totals(up, "relayed") == [(0, 100)]
        wait_for("both ranks are there", lambda: len(
            up.show("relayed")["ranks"]) == 2)
    finally:
        for one in (up, *relays):
            one.kill()
