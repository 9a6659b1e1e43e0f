"""Each step, and incidents, by OTLP to a real OpenTelemetry Collector, which is
built from its Go modules (tests/otel). With --all: the build takes minutes."""

import json
import math
import shutil
import subprocess

import pytest

from conftest import ALL, ROOT, Daemon, feed, free_port, reachable, wait_for
from test_push import pushed, say
from tls_site import HERE, Authority

COLLECTOR = ROOT / "build/otel/collector"

pytestmark = [
    pytest.mark.skipif(not ALL, reason="takes minutes to build: --all"),
    pytest.mark.skipif(not (COLLECTOR.exists() or shutil.which("go")),
                       reason="takes Go 1.26 or newer"),
]


@pytest.fixture(scope="module")
def program():
    if not COLLECTOR.exists():
        COLLECTOR.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "build", "-o", str(COLLECTOR), "."], check=True,
                       cwd=ROOT / "tests/otel")
    return COLLECTOR


class Collector:
    def __init__(self, program, folder, tls=""):
        self.program, self.folder = program, folder
        self.port = free_port()
        self.metrics = free_port()
        self.out = folder / "received.json"
        self.config = folder / "collector.yaml"
        self.config.write_text(f"""
receivers:
  otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{self.port}"{tls}}}}}}}
exporters:
  file: {{path: {self.out}, append: true, flush_interval: 100ms}}
service:
  telemetry:
    metrics:
      readers:
        - pull: {{exporter: {{prometheus: {{host: 127.0.0.1,
            port: {self.metrics}}}}}}}
  pipelines:
    metrics: {{receivers: [otlp], exporters: [file]}}
    logs: {{receivers: [otlp], exporters: [file]}}
""")
        self.process = None

    def start(self):
        with open(self.folder / "collector.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, f"--config=file:{self.config}"], stdout=log,
                stderr=log)
        wait_for("the collector is up", lambda: reachable(
            f"http://127.0.0.1:{self.metrics}/metrics"), seconds=60,
            instead=(self.folder / "collector.log").read_text)
        return self

    def stop(self):
        """In order: its file is whole."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)
            self.process = None

    def lines(self):
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    def points(self, metric, run):
        """(nanoseconds, value or None, attributes) of each data point."""
        return [(int(p["timeUnixNano"]), p.get("asDouble"), attributes(p))
                for line in self.lines()
                for r in line.get("resourceMetrics", [])
                for s in r["scopeMetrics"] for m in s["metrics"]
                if m["name"] == metric for p in m["gauge"]["dataPoints"]
                if attributes(p)["nanwatch.run.id"] == run]

    def records(self, run):
        return [record for line in self.lines()
                for r in line.get("resourceLogs", [])
                for s in r["scopeLogs"] for record in s["logRecords"]
                if attributes(record)["nanwatch.run.id"] == run]


def attributes(of):
    return {a["key"]: next(iter(a["value"].values()))
            for a in of["attributes"]}


def sending(folder, address, more=""):
    place = folder / "d"
    place.mkdir()
    return Daemon(place, config=f"push: {{otlp: {{address: '{address}'"
                                f"{more}}}, labels: {{cluster: blue}}}}\n")


def test_each_step_and_each_incident_is_there(program, folder):
    collector = Collector(program, folder)
    one = sending(folder, f"tcp://127.0.0.1:{collector.port}")
    losses = [2.0 / 3 + i * math.ulp(2.0 / 3) for i in range(40)]
    losses[20] = math.nan
    try:
        collector.start()
        one.start()
        say(one, "exact", losses)
        pushed(one)
        fired = {i["id"] for i in one.show("exact").get("incidents", [])
                 if i["severity"] in ("SEVERITY_WARNING", "SEVERITY_CRITICAL")}
        assert fired
        wait_for("it fired, and is over", lambda: {
            attributes(r)["nanwatch.incident.state"]
            for r in collector.records("exact")} == {"firing", "resolved"})
        collector.stop()
        points = collector.points("nanwatch.step.loss", "exact")
        values = [p[1] for p in points if p[1] is not None]
        assert [float(v) for v in values[:20]] == losses[:20]
        assert values[20] == "NaN"
        assert [float(v) for v in values[21:]] == losses[21:]
        assert [p[0] for p in points] == sorted({p[0] for p in points})
        # The end of the series.
        assert points[-1][1] is None and len(points) == 41
        assert points[0][2] == {"nanwatch.run.id": "exact",
                                "nanwatch.run.attempt": "0",
                                "nanwatch.rank": "0"}
        resource = attributes(next(
            line["resourceMetrics"][0]["resource"]
            for line in collector.lines() if "resourceMetrics" in line))
        assert resource["service.name"] == "nanwatchd"
        assert resource["cluster"] == "blue"
        records = collector.records("exact")
        told = {attributes(r)["nanwatch.incident.id"] for r in records}
        assert told >= fired
        for record in records:
            assert record["eventName"] == "nanwatch.incident"
            assert record["body"]["stringValue"]
            assert record["severityNumber"] in (9, 13, 17)
    finally:
        one.kill()
        collector.stop()


def test_what_a_collector_missed_comes_when_it_is_back(program, folder):
    collector = Collector(program, folder)
    one = sending(folder, f"127.0.0.1:{collector.port}")
    try:
        one.start()
        feed(one.address, "--run", "late", "--steps", "1000", "--rate",
             "500")
        wait_for("it failed", lambda:
                 one.metric("nanwatch_push_failures_total") > 0)
        one.kill()
        one.start()
        collector.start()
        pushed(one, seconds=60)
        collector.stop()
        wait_for("it failed again", lambda: feed(
            one.address, "--run", "later", "--steps", "5", "--rate", "0")
            and one.metric("nanwatch_push_failures_total") > 0)
        one.kill()
        one.start()
        collector.start()
        pushed(one, seconds=60)
        collector.stop()
        numbers = [int(p[1]) for p in
                   collector.points("nanwatch.step.number", "late")
                   if p[1] is not None]
        assert numbers == sorted(set(numbers)) and len(numbers) == 1000
        assert collector.points("nanwatch.step.number", "later")
        assert one.metric("nanwatch_push_dropped_samples_total") == 0
    finally:
        one.kill()
        collector.stop()


def test_over_tls(program, folder):
    authority = Authority(folder)
    certificate, key = authority.sign("server", HERE)
    collector = Collector(program, folder, tls=(
        f", tls: {{cert_file: {certificate}, key_file: {key}}}"))
    one = sending(folder, f"tls://localhost:{collector.port}",
                  f", ca: {folder}/ca.crt")
    try:
        collector.start()
        one.start()
        say(one, "tls", [1.0] * 3, close=False)
        pushed(one)
        assert one.metric("nanwatch_push_samples_total") == 6
    finally:
        one.kill()
        collector.stop()
