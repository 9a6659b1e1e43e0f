"""A real Prometheus and a real VictoriaMetrics that take what is pushed."""

import subprocess
import time
import urllib.parse

from conftest import free_port, get, get_json, reachable, wait_for


class Store:
    """A store in a folder of its own, that can be killed and come back."""

    def __init__(self, folder):
        self.folder = folder / self.NAME
        self.folder.mkdir()
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = None

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log,
                                            stderr=log)
        wait_for(f"{self.NAME} is up",
                 lambda: reachable(self.url + self.READY), seconds=60)
        return self

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    END = None  # how a query shows where a series ends; it does not

    def flush(self):
        """What was taken can be found."""

    def samples(self, metric, run, hours=4, **labels):
        """{the other labels: [(ms, value as text), ...]}"""
        self.flush()
        wanted = "".join(f',{k}="{v}"' for k, v in labels.items())
        query = f'{metric}{{run_id="{run}"{wanted}}}[{hours}h]'
        found = get_json(self.url + "/api/v1/query?" + urllib.parse.urlencode(
            {"query": query, "time": time.time() + 5}))
        return {tuple(sorted((k, v) for k, v in one["metric"].items()
                             if k not in ("__name__", "run_id"))):
                [(round(t * 1000), v) for t, v in one["values"]
                 if v != self.END]
                for one in found["data"]["result"]}

    def count(self, metric, run):
        return sum(len(s) for s in self.samples(metric, run).values())

    def now(self, metric, run):
        """Series that a query of this moment finds."""
        self.flush()
        found = get_json(self.url + "/api/v1/query?" + urllib.parse.urlencode(
            {"query": f'{metric}{{run_id="{run}"}}', "time": time.time() + 1}))
        return len(found["data"]["result"])


class Prometheus(Store):
    NAME = "prometheus"
    READY = "/-/ready"
    WRITE = "/api/v1/write"

    def __init__(self, folder, window=""):
        super().__init__(folder)
        self.config = self.folder / "prometheus.yml"
        self.config.write_text(
            f"storage: {{tsdb: {{out_of_order_time_window: {window}}}}}\n"
            if window else "")

    def command(self):
        return ["prometheus", f"--config.file={self.config}",
                f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address={self.url[7:]}",
                "--web.enable-remote-write-receiver"]

    def refused(self):
        """Answers of 400 to what was written."""
        text = get(self.url + "/metrics")
        return sum(float(line.split()[-1]) for line in text.splitlines()
                   if line.startswith("prometheus_http_requests_total")
                   and 'code="400"' in line and "write" in line)


class VictoriaMetrics(Store):
    NAME = "victoria"
    END = "NaN"  # and no other NaN is kept
    READY = "/health"
    WRITE = "/api/v1/write"

    def flush(self):
        get(self.url + "/internal/force_flush")

    def command(self):
        # It keeps a sample that comes twice, unless it is told otherwise.
        return ["victoria-metrics", f"-storageDataPath={self.folder}/data",
                f"-httpListenAddr={self.url[7:]}", "-search.latencyOffset=0s",
                "-search.disableCache", "-dedup.minScrapeInterval=1ms",
                "-retentionPeriod=10y"]
