"""Two daemons scraped by a real Prometheus, and by a real vmagent into a real
VictoriaMetrics; a pair of real Alertmanagers. What docs/FLEET.md says is
started, with the addresses of a test in the place of its own."""

import json
import re
import shlex
import sys
import time

import pytest

from conftest import (ROOT, Daemon, feed, free_port, get_json, reachable,
                      wait_for)
from exporters import Exporters
from test_alerting import alerts_of

sys.path.insert(0, str(ROOT / "dashboards/grafana/source"))

from ask import Look, Source, choose, queries  # noqa: E402

PAGE = (ROOT / "docs/FLEET.md").read_text()
SH = dict(re.findall(r"```sh (\w+)\n(.*?)```", PAGE, re.S))
YAML = dict(re.findall(r"```yaml (\w+)\n(.*?)```", PAGE, re.S))
BOARD = json.loads(
    (ROOT / "dashboards/grafana/json/nanwatch-fleet.json").read_text())


class Place:
    """Stands for the hosts of the page: a folder, and ports of this one."""

    def __init__(self, folder):
        self.folder = folder
        self.ports = {name: free_port() for name in
                      ("am-0:9093", "am-1:9093", "am-0:9094", "am-1:9094",
                       "victoria:8428")}
        self.swaps = {name: f"127.0.0.1:{port}"
                      for name, port in self.ports.items()}

    def fit(self, text):
        for old, new in self.swaps.items():
            text = text.replace(old, new)
        return text

    def start(self, processes, line, *more):
        return processes(*shlex.split(self.fit(line)), *more, cwd=self.folder)

    def url(self, name):
        return "http://" + self.swaps[name]


@pytest.fixture
def place(folder):
    it = Place(folder)
    it.daemons = []
    for name in ("a", "b"):
        own = folder / name
        own.mkdir()
        it.daemons.append(Daemon(own, config=it.fit(YAML["daemon"])).start())
    yield it
    for each in it.daemons:
        each.kill()


def write_prometheus(place, exporters):
    one, two = (d.http.removeprefix("http://") for d in place.daemons)
    at = f"127.0.0.1:{exporters.server.server_port}"
    text = YAML["prometheus"]
    for old, new in (
            ("node-1:9765, node-2:9765", f'"{one}", "{two}"'),
            ("scrape_interval: 15s", "scrape_interval: 1s"),
            ("job_name: dcgm", "job_name: dcgm\n    metrics_path: /dcgm"),
            ("job_name: npu", "job_name: npu\n    metrics_path: /npu"),
            ("node-1:9400, node-2:9400", f'"{at}"'),
            ("node-1:8082, node-2:8082", f'"{at}"')):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (place.folder / "prometheus.yml").write_text(place.fit(text))
    (place.folder / "nanwatch.rules.yml").write_text(
        (ROOT / "deploy/prometheus/nanwatch.rules.yml").read_text())


def test_one_fleet_of_several_daemons(place, processes):
    exporters = Exporters()
    write_prometheus(place, exporters)
    prometheus = Source(f"http://127.0.0.1:{free_port()}")
    begun = time.time() - 60
    place.start(processes, SH["prometheus"].strip(),
                f"--storage.tsdb.path={place.folder}/tsdb",
                f"--web.listen-address={prometheus.url[7:]}")
    storage, agent = place.fit(SH["victoria"]).strip().splitlines()
    place.start(processes, storage.replace("/var/lib/victoria-metrics",
                                           f"{place.folder}/vm"),
                f"-httpListenAddr={place.swaps['victoria:8428']}",
                "-search.latencyOffset=0s", "-search.disableCache")
    wait_for("VictoriaMetrics is up",
             lambda: reachable(place.url("victoria:8428") + "/health"))
    place.start(processes, agent, f"-httpListenAddr=127.0.0.1:{free_port()}",
                f"-remoteWrite.tmpDataPath={place.folder}/vmagent",
                "-remoteWrite.flushInterval=200ms")
    # A job over both hosts, and a sick one on the second.
    trainings = [
        feed(daemon.address, "--run", "wide", "--world", "2", "--first-rank",
             str(rank), "--rate", "20", "--steps", "100000", wait=False)
        for rank, daemon in enumerate(place.daemons)]
    trainings.append(feed(
        place.daemons[1].address, "--run", "sick", "--rate", "20", "--steps",
        "100000", "--nan-loss-at", "20", wait=False))
    try:
        for source in prometheus, Source(place.url("victoria:8428")):
            shown = wait_for("both daemons' runs are there",
                             lambda: fleet(source, begun), 60)
            assert shown["Daemons down", "A"] == {"": 0}
            assert shown["Critical", "A"] == {"": 1}
            assert shown["Healthy", "A"] == {"": 1}
            table = shown["Runs, worst first", "A"]
            assert table == {"wide": 0, "sick": 3}, "a row a run"
            ranks = source.get(
                "/api/v1/query", time=time.time(),
                query='count by (run_id) (nanwatch_rank_info{host!=""})')
            assert {each["metric"]["run_id"]: each["value"][1]
                    for each in ranks["result"]} == {"wide": "2", "sick": "1"}
    finally:
        for each in trainings:
            each.kill()
        exporters.close()


def fleet(source, begun):
    """{(panel, query): {run: newest value}}; None until all runs are there."""
    look = Look(begun, time.time(), 1)
    try:
        chosen = choose(source, BOARD, look)
    except IndexError:  # no job yet
        return None
    shown = {}
    for panel in BOARD["panels"]:
        for target in queries(BOARD, panel, chosen, look):
            found = source.series(target, look)
            shown[panel["title"], target["refId"]] = {
                labels.get("run_id", ""): points[-1][1]
                for labels, points in found}
    table = shown.get(("Runs, worst first", "A"), {})
    ready = len(table) == 2 and table.get("sick") == 3
    return shown if ready else None


def peers(url):
    status = get_json(url + "/api/v2/status")["cluster"]
    return len(status.get("peers", [])) if status["status"] == "ready" else 0


def test_two_alertmanagers_tell_a_person_once(place, processes, webhook):
    (place.folder / "alertmanager.yml").write_text(f"""
route:
  receiver: person
  group_by: [run_id]
  group_wait: 0s
  group_interval: 1s
receivers:
  - name: person
    webhook_configs: [{{url: "{webhook.url}", send_resolved: true}}]
""")
    # What waits for the other one is cut to the seconds of a test.
    pair = [place.start(
        processes, line, f"--storage.path={place.folder}/{name}",
        "--cluster.peer-timeout=3s", "--cluster.probe-interval=200ms")
        for name, line in zip(("am-0", "am-1"), SH["pair"].strip().splitlines())]
    urls = [place.url(f"{name}:9093") for name in ("am-0", "am-1")]
    for url in urls:
        wait_for("Alertmanager is up", lambda: reachable(url + "/-/ready"))
        wait_for("the two know each other", lambda: peers(url) == 2, 90)
    first, second = place.daemons
    trainings = [sick(first, "early")]
    try:
        wait_for("a person hears of it",
                 lambda: alerts_of(webhook, "early", "firing"))
        for url in urls:
            wait_for("both know the alert", lambda: any(
                alert["labels"]["run_id"] == "early"
                for alert in get_json(url + "/api/v2/alerts")))
        pair[0].kill()
        # The other one knows what was told: it says the end, and no more.
        first.nanwatch("mute", "early", "--reason", "we know")
        wait_for("a person hears of its end",
                 lambda: alerts_of(webhook, "early", "resolved"), 60)
        trainings.append(sick(second, "late"))
        wait_for("a person hears of the next",
                 lambda: alerts_of(webhook, "late", "firing"), 60)
    finally:
        for each in trainings:
            each.kill()
    told = [(body["status"], *sorted(alert["fingerprint"]
                                     for alert in body["alerts"]))
            for body in list(webhook.bodies)]
    assert len(told) >= 3
    assert len(set(told)) == len(told), "told twice"


def sick(daemon, run):
    """A training that goes on with a loss of NaN."""
    return feed(daemon.address, "--run", run, "--rate", "50", "--steps",
                "100000", "--nan-loss-at", "20", wait=False)
