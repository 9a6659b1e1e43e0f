"""Real daemons, a real Prometheus, a real Alertmanager, on ports of their own."""

import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(
    os.environ.get("NANWATCH_BIN", ROOT / "build" / "release" / "bin")
)
ALL = bool(os.environ.get("NANWATCH_TEST_ALL"))


def wait_for(what, condition, seconds=60.0, every=0.05, instead=lambda: ""):
    """Polls `condition` until it gives something true, and returns that.
    `instead` says what there is where it does not."""
    end = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        assert time.monotonic() < end, (
            f"not within {seconds} s: {what} {instead()}")
        time.sleep(every)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, headers=None, seconds=10):
    request = urllib.request.Request(url, headers=headers or {})
    with urllib.request.urlopen(request, timeout=seconds) as reply:
        return reply.read().decode()


def get_json(url):
    return json.loads(get(url))


class Daemon:
    """A nanwatchd in a folder of its own."""

    def __init__(self, folder, config=None, environment=None, user=None):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "ingest.sock"
        self.history = self.folder / "history.db"
        self.config = self.folder / "nanwatch.yaml"
        self.log = self.folder / "nanwatchd.log"
        if config is not None:
            self.config.write_text(config)
        self.environment = {**os.environ, **(environment or {})}
        # Of root's tests: as whom it runs. The folder is that user's then.
        self.user = user
        self.wrapper = []  # the command that starts it, if it is another
        self.process = None
        self.http = None

    @property
    def address(self):
        return f"unix:{self.socket}"

    def start(self, wait=True, extra=()):
        arguments = [
            *self.wrapper, str(BIN / "nanwatchd"), "--socket", str(self.socket),
            "--history", str(self.history), "--listen", "127.0.0.1:0",
            *extra,
        ]
        if self.config.exists():
            arguments += ["--config", str(self.config)]
        at = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                arguments, stderr=log, stdout=log, env=self.environment,
                user=self.user, group=self.user,
                extra_groups=None if self.user is None else [],
            )
        if wait:
            # After the replay of what was there before.
            self.http = wait_for("the daemon says where it listens",
                                 lambda: self._http_after(at), seconds=60)
            wait_for("ready", self._ready)
        return self

    def _http_after(self, at):
        assert self.process.poll() is None, self.log.read_text()
        found = re.findall(r"http=(https?://\S+)",
                           self.log.read_bytes()[at:].decode())
        return found[-1] if found else None

    def _ready(self):
        with contextlib.suppress(OSError):
            return "ready" in get(self.http + "/-/ready").lower() or True
        return False

    def stop(self, number=signal.SIGTERM, seconds=10):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(seconds)
        return self.process.returncode if self.process else None

    def kill(self):
        return self.stop(signal.SIGKILL)

    def nanwatch(self, *arguments, check=True):
        done = subprocess.run(
            [str(BIN / "nanwatch"), "--address", self.address, *arguments],
            capture_output=True, text=True, timeout=60,
        )
        if check:
            assert done.returncode in (0, 1, 2), done.stderr
        return done

    def show(self, run, *more):
        return json.loads(self.nanwatch("show", run, "--json", *more).stdout)

    def metrics(self):
        return get(self.http + "/metrics")

    def metric(self, name):
        """The sum of all series of `name`."""
        values = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", self.metrics(), re.M)
        assert values, f"no metric {name}"
        return sum(float(v) for v in values)


def counted(daemon, name, **labels):
    """One series; 0 when it is not there."""
    wanted = "".join(f'(?=[^}}]*{k}="{v}")' for k, v in labels.items())
    found = re.findall(rf"^{name}(?:{{{wanted}[^}}]*}})? (\S+)$",
                       daemon.metrics(), re.M)
    return sum(float(v) for v in found)


def refusals(daemon, code):
    return counted(daemon, "nanwatch_ingest_refusals_total", code=code)


def limit_hits(daemon, limit):
    return counted(daemon, "nanwatch_limit_hits_total", limit=limit)


def summary(daemon, run, *more):
    return daemon.show(run, *more)["summary"]


def refused_start(folder, *arguments, config=None):
    """What a daemon says that refuses to start."""
    it = Daemon(folder, config=config)
    it.start(wait=False, extra=arguments)
    assert it.process.wait(10) != 0
    return it.log.read_text()


@pytest.fixture
def folder():
    """Short, since a unix socket's path has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        yield pathlib.Path(name)


@pytest.fixture
def usual_places():
    """Root's own socket and history, which no setting moves: of one test of
    this machine at a time."""
    path = pathlib.Path(tempfile.gettempdir()) / "nanwatch-usual-places.lock"
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def daemon(folder):
    it = Daemon(folder).start()
    yield it
    it.kill()


@pytest.fixture(scope="module")
def house():
    """One daemon for all that must not harm it."""
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        it = Daemon(name).start()
        yield it
        assert it.process.poll() is None
        it.kill()


def feed(address, *arguments, wait=True):
    command = [str(BIN / "nanwatch-feed"), "--address", address, *arguments]
    if not wait:
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def word2vec(address, *arguments, check=True):
    done = subprocess.run(
        [str(BIN / "nanwatch-word2vec"), "--address", address, *arguments],
        capture_output=True, text=True, timeout=240,
    )
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


class Webhook:
    """What a chat system would receive."""

    def __init__(self):
        self.bodies = []
        bodies = self.bodies

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                bodies.append(json.loads(self.rfile.read(length)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def webhook():
    it = Webhook()
    yield it
    it.close()


@pytest.fixture
def processes():
    """Starts programs that end with the test."""
    started = []

    def start(*command, **options):
        process = subprocess.Popen(
            [str(c) for c in command], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture
def alertmanager(processes, folder, webhook):
    """A real Alertmanager that notifies `webhook` at once; gives its URL."""
    config = folder / "alertmanager.yml"
    config.write_text(f"""
route:
  receiver: hook
  group_by: [alertname, run_id]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: {webhook.url}
        send_resolved: true
""")
    port = free_port()
    processes(
        "prometheus-alertmanager", f"--config.file={config}",
        f"--storage.path={folder}/am", f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    )
    url = f"http://127.0.0.1:{port}"
    wait_for("Alertmanager is up", lambda: reachable(url + "/-/ready"))
    return url


def reachable(url):
    with contextlib.suppress(OSError):
        get(url)
        return True
    return False
