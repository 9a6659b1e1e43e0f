"""A daemon that watches one healthy run and one of each pathology, scraped by a
real Prometheus and a real VictoriaMetrics: what dashboards are shown with."""

import contextlib
import pathlib
import subprocess
import sys
import time

from conftest import (BIN, ROOT, Daemon, Webhook, free_port, get_json,
                      reachable, wait_for)
from exporters import Exporters
from tls_site import HERE, Authority

sys.path.insert(0, str(ROOT / "dashboards/grafana/source"))

from ask import Look, Source  # noqa: E402

import raw_client  # noqa: E402
import sick_runs  # noqa: E402

SCRAPE = 0.5  # seconds
# Runs by their id, and the family of conditions that is sick in each.
SICK = {kind.__name__.lower(): kind.family
        for kind in sick_runs.Training.__subclasses__() if kind.family}
SICK |= {"it's": "op", "nan": "op", "lost": "telemetry", "rude": "telemetry"}
MUTED = "it's"  # from half time on


class MonitoredRuns:
    def __init__(self, folder, seconds):
        self.folder, self.seconds = pathlib.Path(folder), seconds
        self.started = []
        self.webhook = Webhook()
        self.exporters = Exporters()
        certificate, key = Authority(self.folder).sign("server", HERE)
        self.prometheus = Source(f"http://127.0.0.1:{free_port()}")
        self.victoria = Source(f"http://127.0.0.1:{free_port()}")
        self.daemon = Daemon(self.folder, config=f"""
metrics: {{cardinality: full}}
notify:
  runbooks_url: https://wiki.example/nanwatch
  webhook: {{urls: ["{self.webhook.url}"]}}
  alertmanager: {{urls: ["http://127.0.0.1:{free_port()}"]}}  # is down
audit: {{file: {self.folder}/audit.log}}
ingest:
  tcp: "127.0.0.1:0"
  tls:
    certificate: {certificate}
    key: {key}
    client_ca: {self.folder}/ca.crt
""")

    def start(self):
        self.daemon.start()
        self.look = Look(time.time(), 0, SCRAPE)
        self.scrape()
        self.train()
        return self

    def run(self, *command, **options):
        with open(self.folder / "programs.log", "ab") as log:
            process = subprocess.Popen([str(c) for c in command],
                                       **{"stdout": log, "stderr": log,
                                          **options})
        self.started.append(process)
        return process

    def scrape(self):
        target = self.daemon.http.removeprefix("http://")
        config = self.folder / "scrape.yml"
        # `instance` is the address: the boards' links to the daemon's page.
        config.write_text(f"""
scrape_configs:
  - job_name: nanwatch
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs: [{{targets: ["{target}"]}}]
{self.exporters.scrapes()}""")
        self.run("prometheus", f"--config.file={config}",
                 f"--storage.tsdb.path={self.folder}/tsdb",
                 f"--web.listen-address={self.prometheus.url[7:]}")
        self.run("victoria-metrics", f"-promscrape.config={config}",
                 f"-storageDataPath={self.folder}/vm",
                 f"-httpListenAddr={self.victoria.url[7:]}",
                 "-search.latencyOffset=0s", "-search.disableCache")
        for source, path in ((self.prometheus, "/-/ready"),
                             (self.victoria, "/health")):
            wait_for(f"{source.url} is up", lambda: reachable(source.url + path))

    def train(self):
        """All end after `seconds`, or later."""
        address = self.daemon.address
        runs = self.run(sys.executable, pathlib.Path(sick_runs.__file__),
                        address, self.seconds, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)
        for run, scenario in (("it's", "padding"), ("nan", "nan")):
            poison = ["--poison-step", "300"] if run == "nan" else []
            self.run(BIN / "nanwatch-word2vec", "--address", address,
                     "--scenario", scenario, "--run", run, "--quiet",
                     "--steps", "1000000", "--step-delay-ms", "10", *poison)
        # Above 64 ranks the daemon gives a spread.
        self.run(BIN / "nanwatch-feed", "--address", address, "--run", "many",
                 "--ranks", "70", "--rate", "5", "--steps", "1000000")
        lost = self.run(BIN / "nanwatch-feed", "--address", address, "--run",
                        "lost", "--ranks", "3", "--rate", "50", "--steps",
                        "1000000")
        time.sleep(self.seconds / 2)
        lost.kill()
        self.daemon.nanwatch("mute", MUTED, "--reason", "we know")
        self.be_rude()
        assert runs.stdout.readline() == "said all\n", self.log()
        time.sleep(2 * SCRAPE)
        wait_for("both have a scrape that did not fail", self.ends_seen)

    def ends_seen(self):
        """Where all else is busy a scrape takes too long, and its series end
        there."""
        now = time.time()
        for source in (self.prometheus, self.victoria):
            found = get_json(f"{source.url}/api/v1/query?time={now}&query="
                             "nanwatch_build_info")
            if not found["data"]["result"]:
                return False
        self.look.end = now
        return True

    def be_rude(self):
        """Says one message twice, and then one with too many rows."""
        self.raw = raw_client.Raw(self.daemon.address)
        self.started.append(self.raw.process)
        self.raw.opened(7, "rude")
        once = raw_client.steps(7, 1)
        self.raw.say(once, once, raw_client.steps(7, 2, 10, 4097))
        self.raw.hear("refusal")

    def log(self):
        return (self.folder / "programs.log").read_text()

    def run_ids(self):
        return [run["run_id"] for run in
                get_json(self.daemon.http + "/api/v1/runs")["runs"]]

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait()
            with contextlib.suppress(BrokenPipeError):
                if process.stdin:
                    process.stdin.close()
        self.daemon.kill()
        self.webhook.close()
        self.exporters.close()
