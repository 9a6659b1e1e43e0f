"""What people would send steps to instead: VictoriaMetrics, Prometheus' receiver
of remote write, pushgateway. Each takes steps of six numbers that were fp32 in a
training; what counts is the server's CPU a step, and the bytes that it keeps.

peers.py [TURNS]: nanwatchd, durable and judged, and each of them in turns. All
of them keep what came before the next turn begins."""

import contextlib
import ctypes
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import numpy  # noqa: E402
import stores  # noqa: E402
from conftest import BIN, Daemon, free_port, get, wait_for  # noqa: E402

NAMES = ("step", "loss", "loss_scale", "grad_norm", "learning_rate", "overflow")
ROWS = 166  # of six numbers: about a thousand samples a request
BODIES = 64  # sets of numbers, one after another, as nanwatch-bench-load has
STEPS = {"nanwatchd": 2_000_000, "victoria": 100_000, "prometheus": 100_000,
         "pushgateway": 1_000}
SETTLES = 8  # seconds: VictoriaMetrics writes what it took every five


def used(pid):
    """CPU-seconds of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def bytes_under(folder):
    return sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*")
               if file.is_file() and not file.is_symlink())


class Steps:
    """Numbers as nanwatch-bench-load makes them: noise, in fp32."""

    def __init__(self):
        random = numpy.random.default_rng(1)
        noise = random.uniform(-1, 1, (2, BODIES, ROWS))
        self.loss = (2 + 0.1 * noise[0]).astype("f4").astype("f8")
        self.norm = (1 + 0.2 * noise[1]).astype("f4").astype("f8")
        self.rate = float(numpy.float32(1e-3))
        self.next = 0

    def take(self):
        """(the first step, six columns) of a request."""
        body = self.next // ROWS % BODIES
        first, self.next = self.next, self.next + ROWS
        full = numpy.full
        return first, (numpy.arange(first, first + ROWS, dtype="f8"),
                       self.loss[body], full(ROWS, 65536.0), self.norm[body],
                       full(ROWS, self.rate), full(ROWS, 0.0))


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def write_request(first, columns, begun_ms):
    """Prometheus' WriteRequest: a series a number, a millisecond a step."""
    out = []
    for name, column in zip(NAMES, columns):
        labels = b"".join(
            message(1, message(1, key) + message(2, value))
            for key, value in ((b"__name__", f"bench_{name}".encode()),
                               (b"rank", b"0"), (b"run_id", b"peers")))
        samples = b"".join(
            message(2, b"\x09" + struct.pack("<d", value) + b"\x10" +
                    varint(begun_ms + first + row))
            for row, value in enumerate(column))
        out.append(message(1, labels + samples))
    return b"".join(out)


class Snappy:
    """The library that Prometheus' clients compress with."""

    def __init__(self):
        self._library = ctypes.CDLL("libsnappy.so.1")

    def compress(self, plain):
        size = ctypes.c_size_t(
            self._library.snappy_max_compressed_length(len(plain)))
        out = ctypes.create_string_buffer(size.value)
        done = self._library.snappy_compress(
            plain, ctypes.c_size_t(len(plain)), out, ctypes.byref(size))
        if done != 0:
            raise RuntimeError(f"snappy: {done}")
        return out.raw[:size.value]


def post(url, body, headers):
    request = urllib.request.Request(url, body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=30) as reply:
        reply.read()


class RemoteWrite:
    """A store that takes remote write."""

    HEADERS = {"Content-Encoding": "snappy",
               "Content-Type": "application/x-protobuf",
               "X-Prometheus-Remote-Write-Version": "0.1.0"}

    def __init__(self, store):
        self.store = store.start()
        self.name = store.NAME
        self.steps = Steps()
        self.snappy = Snappy()
        self.begun_ms = round(time.time() * 1000) - 3_600_000

    def take(self, steps):
        bodies = [self.snappy.compress(write_request(*self.steps.take(),
                                                     self.begun_ms))
                  for _ in range(steps // ROWS)]
        before = used(self.store.process.pid)
        for body in bodies:
            post(self.store.url + self.store.WRITE, body, self.HEADERS)
        time.sleep(SETTLES)
        taken = used(self.store.process.pid) - before
        return taken / (len(bodies) * ROWS)

    def close(self):
        self.store.kill()


class Pushgateway:
    """Six gauges a push, as its clients send them."""

    name = "pushgateway"

    def __init__(self):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("pushgateway is up", lambda: stores.reachable(
            f"{self.url}/-/ready"), seconds=30)
        self.steps = Steps()

    def take(self, steps):
        bodies = []
        while len(bodies) < steps:
            _, columns = self.steps.take()
            for row in zip(*columns):
                bodies.append("".join(
                    f"# TYPE bench_{name} gauge\nbench_{name} {value!r}\n"
                    for name, value in zip(NAMES, map(float, row))).encode())
        before = used(self.process.pid)
        for body in bodies[:steps]:
            post(f"{self.url}/metrics/job/peers/rank/0", body, {})
        return (used(self.process.pid) - before) / steps

    def close(self):
        self.process.kill()
        self.process.wait()


class Nanwatchd:
    """Durable and judged; each turn is a run of its own."""

    name = "nanwatchd"

    def __init__(self, folder):
        self.daemon = Daemon(folder).start()
        self.sent = 0

    def take(self, steps):
        before = used(self.daemon.process.pid)
        batches = steps // ROWS
        subprocess.run(
            [str(BIN / "nanwatch-bench-load"), "--address", self.daemon.address,
             "--rows", str(ROWS), "--batches", str(batches), "--fp32",
             "--window", "1024"], check=True, stdout=subprocess.DEVNULL)
        time.sleep(SETTLES)
        self.sent += batches * ROWS
        return (used(self.daemon.process.pid) - before) / (batches * ROWS)

    def close(self):
        self.daemon.stop()


def costs(folder, turns=3):
    """{name: CPU-seconds a step, of each turn}, in turns."""
    folder = pathlib.Path(folder)
    with contextlib.ExitStack() as stack:
        peers = []
        for make in (lambda: Nanwatchd(folder),
                     lambda: RemoteWrite(stores.VictoriaMetrics(folder)),
                     lambda: RemoteWrite(stores.Prometheus(folder)),
                     Pushgateway):
            peers.append(make())
            stack.callback(peers[-1].close)
        taken = {peer.name: [] for peer in peers}
        for turn in range(turns + 1):
            for peer in peers:
                cost = peer.take(STEPS[peer.name])
                if turn > 0:  # what is made at first use is there
                    taken[peer.name].append(cost)
    return taken


def kept_bytes(folder, steps=1_000_000):
    """(nanwatchd's bytes a step, VictoriaMetrics' after its merge)."""
    folder = pathlib.Path(folder)
    ours = Nanwatchd(folder)
    ours.take(steps)
    ours.close()
    history = sum(file.stat().st_size for file in folder.glob("*.db*"))
    store = RemoteWrite(stores.VictoriaMetrics(folder))
    try:
        store.take(steps)
        get(f"{store.store.url}/internal/force_flush")
        get(f"{store.store.url}/internal/force_merge", seconds=120)
        time.sleep(SETTLES)
        theirs = bytes_under(store.store.folder / "data" / "data")
    finally:
        store.close()
    return history / ours.sent, theirs / store.steps.next


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\\n",
         "victoria-metrics", "prometheus", "prometheus-pushgateway"],
        check=True, capture_output=True, text=True).stdout, end="")
    with tempfile.TemporaryDirectory(prefix="nwp-") as folder:
        taken = costs(folder, turns)
    ours = taken["nanwatchd"]
    print(f"{'CPU of the server a step of six numbers':<42}{'us':>10}"
          f"{'x nanwatchd, median (least, most)':>40}")
    for name, each in taken.items():
        ratios = [one / own for one, own in zip(each, ours)]
        print(f"{name:<42}{statistics.median(each) * 1e6:>10.2f}"
              f"{statistics.median(ratios):>20.1f} ({min(ratios):.1f}, "
              f"{max(ratios):.1f})")
    with tempfile.TemporaryDirectory(prefix="nwp-") as folder:
        history, theirs = kept_bytes(folder)
    print(f"bytes kept a step: {history:.1f} by nanwatchd, {theirs:.1f} by "
          f"VictoriaMetrics after its merge ({history / theirs:.2f} x)")


if __name__ == "__main__":
    main()
