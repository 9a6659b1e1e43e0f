"""A daemon on a TCP port, with certificates made by openssl, and clients of both
languages that speak with it."""

import hashlib
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys

from clock import Clock
from conftest import BIN, ROOT, Daemon, get_json

def _openssl(*arguments, environment=None):
    subprocess.run(["openssl", *map(str, arguments)], check=True,
                   capture_output=True, timeout=60,
                   env={**os.environ, **(environment or {})})


def replace(target, source):
    """What is in `source` takes the place of `target`, whole at once."""
    new = target.with_suffix(".new")
    new.write_bytes(source.read_bytes())
    new.rename(target)


class Authority:
    """Signs certificates; all is in one folder, files named after whom they
    are of."""

    def __init__(self, folder, name="ca"):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.certificate = self.folder / f"{name}.crt"
        self.key = self.folder / f"{name}.key"
        _openssl("req", "-x509", *self._new_key(self.key), "-out",
                 self.certificate, "-days", 30, "-subj", f"/CN={name}")

    def _new_key(self, path):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-keyout", path)

    def _ago(self, days):
        if days == 0:
            return None
        clock = Clock(self.folder)
        clock.set(-86400 * days)
        return clock.environment

    def sign(self, name, alternative_names, days=30, age=0):
        """(certificate, key), which ends in so many days (below 0: it is over)
        and began `age` days ago."""
        certificate = self.folder / f"{self.name}-{name}.crt"
        key = certificate.with_suffix(".key")
        request = certificate.with_suffix(".csr")
        _openssl("req", *self._new_key(key), "-out", request, "-subj",
                 f"/CN={name}", "-addext",
                 f"subjectAltName={alternative_names}")
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate,
                 "-CAkey", self.key, "-CAcreateserial", "-days", age + days,
                 "-copy_extensions", "copy", "-out", certificate,
                 environment=self._ago(age))
        return certificate, key


HERE = "DNS:localhost,IP:127.0.0.1"
PYTHON = """if True:
    import json, os, sys, time, nanwatch
    run = nanwatch.init(run=sys.argv[1], address=sys.argv[2])
    for step in range(int(sys.argv[3])):
        run.step(step, loss=1.0)
        time.sleep(float(sys.argv[4]))
    run.flush(float(sys.argv[5]))
    stats = run.stats
    print(json.dumps({"acked": stats.acked, "error": stats.error,
                      "reconnects": stats.reconnects}))
    sys.stdout.flush()
    os._exit(0)
"""


class Site:
    """A daemon on a TCP port, its authority, and tokens of users."""

    def __init__(self, folder, client_ca=True, tokens=True):
        self.folder = folder
        self.authority = Authority(folder)
        self.certificate = folder / "server.crt"
        self.key = folder / "server.key"
        self.show(*self.authority.sign("server", HERE))
        self.client_ca = folder / "clients.crt"
        self.client_ca.write_bytes(self.authority.certificate.read_bytes())
        self.tokens = folder / "tokens"
        self.token_files = {}
        self.known = {}
        for name in ("ann", "bob", "chief"):
            self.give(name)
        config = f"""
ingest:
  tcp: "127.0.0.1:0"
  {f"tokens: {self.tokens}" if tokens else ""}
  tls:
    certificate: {self.certificate}
    key: {self.key}
    {f"client_ca: {self.client_ca}" if client_ca else ""}
access: {{admins: [chief]}}
"""
        self.daemon = Daemon(folder, config=config)

    def start(self):
        self.daemon.start()
        said = self.daemon.log.read_text()
        self.port = re.findall(r"tls://127.0.0.1:(\d+)", said)[-1]
        self.address = f"tls://localhost:{self.port}"
        return self

    def show(self, certificate, key):
        """As the server's own."""
        replace(self.key, key)
        replace(self.certificate, certificate)

    def give(self, name):
        """A new token; the file of the user has it, and what the daemon reads
        holds its hash."""
        token = secrets.token_hex(32)
        self.token_files[name] = self.folder / f"{name}.token"
        self.token_files[name].write_text(token + "\n")
        self.known[name] = token
        self._write_known()
        return token

    def take_back(self, name):
        """The user's tokens: there is none any more."""
        del self.known[name]
        self._write_known()

    def _write_known(self):
        new = self.folder / "tokens.new"
        new.write_text("# name, SHA-256\n" + "".join(
            f"{who} {hashlib.sha256(one.encode()).hexdigest()}\n"
            for who, one in self.known.items()))
        new.rename(self.tokens)

    def told(self, **more):
        """The environment of a training."""
        names = {"ca": "NANWATCH_CA", "cert": "NANWATCH_CERT",
                 "key": "NANWATCH_KEY", "token": "NANWATCH_TOKEN_FILE"}
        more.setdefault("ca", self.authority.certificate)
        return {names[key]: str(value) for key, value in more.items()
                if value is not None}


def begin(kind, address, environment, run, steps=5, pause=0.0, wait=5.0):
    environment = {**os.environ, **environment}
    if kind == "cpp":
        return subprocess.Popen(
            [str(BIN / "nanwatch-feed"), "--address", address, "--run", run,
             "--steps", str(steps), "--rate", str(1 / pause if pause else 0),
             "--flush-ms", str(int(wait * 1000)), "--close-ms", "100"],
            stdout=subprocess.PIPE, text=True, env=environment)
    environment["PYTHONPATH"] = str(ROOT / "client_lib/python/src")
    return subprocess.Popen(
        [sys.executable, "-c", PYTHON, run, address, str(steps), str(pause),
         str(wait)], stdout=subprocess.PIPE, text=True, env=environment)


def end(process):
    said, _ = process.communicate(timeout=120)
    return json.loads(said)


def train(*arguments, **options):
    return end(begin(*arguments, **options))


def refused(kind, address, environment, run="never"):
    """Why nothing arrives."""
    for wait in 1.0, 20.0:  # s: a busy machine has not tried once in the first
        outcome = train(kind, address, environment, run, wait=wait)
        assert outcome["acked"] == 0
        if outcome["error"]:
            return outcome["error"]
    raise AssertionError("the client says nothing of it")


def handshake_failed(why):
    return re.search("handshake|certificate|ssl|tls|connect|socket",
                     why.lower())


def offered(site, *flags):
    """What openssl says of a handshake."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{site.port}", "-alpn",
         "h2", *flags], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, errors="replace", timeout=30)
    return done.stdout + done.stderr


def steps_of(site, run):
    listed = get_json(site.daemon.http + "/api/v1/runs")["runs"]
    return sum(r["totals"]["steps"] for r in listed if r["run_id"] == run)
