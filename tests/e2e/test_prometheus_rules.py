"""deploy/prometheus in a real Prometheus, vmalert and Alertmanager."""

import os
import re
import subprocess
import urllib.parse

import browser
import pytest
import relays

from conftest import (BIN, ROOT, Daemon, free_port, get_json, reachable,
                      wait_for)

DEPLOY = ROOT / "deploy/prometheus"


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, timeout=60, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("command", [
    ("promtool", "check", "rules", "nanwatch.rules.yml"),
    ("promtool", "test", "rules", "nanwatch_test.yml"),
    ("promtool", "check", "config", "prometheus.yml"),
    ("amtool", "check-config", "alertmanager.yml"),
    ("vmalert", "-dryRun", "-rule", "nanwatch.rules.yml"),
], ids=" ".join)
def test_they_are_accepted(command):
    run(*command, cwd=DEPLOY)


def test_the_readme_shows_how_to_make_them_yours(folder):
    """Its command, run as it stands, leaves no address of ours."""
    readme = (DEPLOY / "README.md").read_text()
    script = re.search(r"```sh\n(sed .*?)```", readme, re.S)[1]
    for word in ("nanwatch.rules.yml\n", "nanwatch.rules.yml > "):
        assert word in script
    source = str(DEPLOY / "nanwatch.rules.yml")
    run("bash", "-euc", script.replace(
        "deploy/prometheus/nanwatch.rules.yml", source), cwd=folder)
    mine = (folder / "nanwatch.rules.yml").read_text()
    assert "https://wiki.acme.example/nanwatch/NanwatchLossScale.md" in mine
    assert 'absent(up{job="training/nanwatchd"} == 1)' in mine
    assert "nanwatch.example" not in mine and "grafana.example" not in mine
    assert 'job="nanwatch"' not in mine


def changed(text, **pairs):
    """`text` with each of `pairs` replaced, which must be there."""
    for old, new in pairs.values():
        assert old in text, old
        text = text.replace(old, new)
    return text


class Monitoring:
    """The examples, with the minutes of people cut to the seconds of a test."""

    def __init__(self, folder, processes, webhook):
        self.folder, self.processes = folder, processes
        self.alertmanager = f"http://127.0.0.1:{free_port()}"
        self.prometheus = f"http://127.0.0.1:{free_port()}"
        self.vmalert = f"http://127.0.0.1:{free_port()}"
        config = folder / "alertmanager.yml"
        config.write_text(changed(
            (DEPLOY / "alertmanager.yml").read_text(),
            people=("http://127.0.0.1:9999/", webhook.url),
            wait=("group_wait: 30s", "group_wait: 6s"),
            interval=("group_interval: 5m", "group_interval: 1s")))
        processes("prometheus-alertmanager", f"--config.file={config}",
                  f"--storage.path={folder}/am", "--cluster.listen-address=",
                  f"--web.listen-address={self.alertmanager[7:]}")
        wait_for("Alertmanager is up",
                 lambda: reachable(self.alertmanager + "/-/ready"))

    def start(self, *daemons, **more):
        """`more`: what else of the rules is cut to seconds."""
        rules = self.folder / "nanwatch.rules.yml"
        rules.write_text(changed((DEPLOY / rules.name).read_text(),
                                 latch=("[1m]", "[3s]"), **more))
        targets = ", ".join(d.http.removeprefix("http://") for d in daemons)
        config = self.folder / "prometheus.yml"
        config.write_text(changed(
            (DEPLOY / config.name).read_text(),
            interval=("15s", "1s"), targets=("127.0.0.1:9765", targets),
            alertmanager=("127.0.0.1:9093", self.alertmanager[7:])))
        self.processes("prometheus", f"--config.file={config}",
                       f"--storage.tsdb.path={self.folder}/tsdb",
                       "--web.enable-remote-write-receiver",
                       f"--web.listen-address={self.prometheus[7:]}")
        wait_for("Prometheus is up",
                 lambda: reachable(self.prometheus + "/-/ready"))
        # Alerts of its own go nowhere: they are looked at in its API.
        self.vmalert_process = self.processes("vmalert", "-rule", rules, "-evaluationInterval=1s",
                       f"-datasource.url={self.prometheus}",
                       f"-remoteWrite.url={self.prometheus}",
                       "-notifier.url=http://127.0.0.1:9",
                       f"-httpListenAddr={self.vmalert[7:]}")
        wait_for("Prometheus scrapes all", lambda: len(
            self.query('up{job="nanwatch"} == 1')) == len(daemons))

    def query(self, promql):
        text = urllib.parse.quote(promql)
        return get_json(f"{self.prometheus}/api/v1/query?query={text}"
                        )["data"]["result"]

    def of_vmalert(self, run_id):
        alerts = get_json(self.vmalert + "/api/v1/alerts")["data"]["alerts"]
        return [a for a in alerts if a["labels"].get("run_id") == run_id
                and a["state"] == "firing"]

    def suppressed(self, run_id):
        return [a for a in get_json(self.alertmanager + "/api/v2/alerts")
                if a["labels"].get("run_id") == run_id
                and a["status"]["inhibitedBy"]]


def opened(link):
    """What an alert's link shows in Chromium: the verdict, and the step."""
    with browser.chromium() as chromium:
        page = chromium.new_page()
        heard = []
        page.on("console", lambda line: heard.append(line.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("requestfailed", lambda asked: heard.append(
            f"{asked.url}: {asked.failure}"))
        page.on("response", lambda got: got.status < 400 or heard.append(
            f"{got.url}: {got.status}"))
        page.goto(link)
        try:
            page.wait_for_selector(".chart canvas", timeout=90000)
        except Exception as e:
            e.add_note(f"{heard}\n{page.inner_text('body')}")
            raise
        shown = page.inner_text(".verdict-block")
        step = re.search(r"[?&]step=(\d+)", page.url)
    return shown, step and step[1]


def told(webhook, run_id, status):
    return [alert for body in list(webhook.bodies)
            for alert in body["alerts"] if alert["status"] == status
            and alert["labels"].get("run_id") == run_id]


def test_a_relay_without_its_upstream_is_told_until_it_is_back(
        folder, processes, webhook):
    monitoring = Monitoring(folder, processes, webhook)
    port = free_port()
    judge = relays.upstream(folder, port)
    relay = relays.relay(folder, "a", f"tcp://127.0.0.1:{port}").start()

    def said(status):
        return [alert for body in list(webhook.bodies)
                for alert in body["alerts"] if alert["status"] == status
                and alert["labels"]["alertname"] == "NanwatchRelayBehind"]
    try:
        # An upstream that is away for 2 s; the line of a minute stays.
        monitoring.start(relay, away=("max_over_time(nanwatch_relay_connected[3s"
                                      "]) == 0\n        for: 2m",
                                      "max_over_time(nanwatch_relay_connected[3s"
                                      "]) == 0\n        for: 2s"))
        alert = wait_for("the alert is told", lambda: said("firing"), 40)[0]
        assert alert["labels"]["instance"] == relay.http.removeprefix("http://")
        assert "its upstream has been away" in alert["annotations"]["description"]
        judge.start()
        wait_for("it is over", lambda: said("resolved"), 40)
    finally:
        relay.kill()
        judge.kill()


def test_a_collapsing_run_is_told_once_by_either_path(folder, processes,
                                                      webhook):
    monitoring = Monitoring(folder, processes, webhook)
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    scraped = Daemon(folder / "a").start()
    pushing = Daemon(folder / "b", config=f"""
notify:
  alertmanager: {{urls: [{monitoring.alertmanager}]}}
  external_url: http://gpu7:9765
""").start()
    try:
        monitoring.start(scraped, pushing)
        for daemon, name in ((scraped, "it's"), (pushing, "pushed")):
            processes(BIN / "nanwatch-word2vec", "--address", daemon.address,
                      "--scenario", "padding", "--run", name, "--steps",
                      "100000", "--step-delay-ms", "5")

        by_rules = wait_for("the rules' alert is told",
                            lambda: told(webhook, "it's", "firing"), 30)[0]
        assert by_rules["labels"] == {
            "alertname": "NanwatchOpOverflow", "severity": "critical",
            "condition": "op", "run_id": "it's", "job": "nanwatch",
            "source": "rules"}
        said = by_rules["annotations"]
        # Where it began, as the daemon names it.
        began = next(i for i in get_json(
            scraped.http + "/api/v1/runs/it%27s/incidents")["incidents"]
            if i["family"] == "op" and i["severity"] == "critical")
        assert (said["op"], said["step"], said["rank"]) == (
            began["subject"]["op"], str(began["opened_step"]), "0")
        assert said["op"] == "loss/Log"
        assert (f"it began at step {began['opened_step']}, in op loss/Log, "
                "on rank 0. Worst ranks: 0." in said["description"])
        assert said["daemon"] == scraped.http.removeprefix("http://")
        assert said["runbook_url"].endswith("/NanwatchOpOverflow.md")
        # What it says to do finds the run, as a shell reads it.
        done = subprocess.run(["bash", "-c", said["action"]], text=True,
                              capture_output=True, env={
                                  "PATH": f"{BIN}:{os.environ['PATH']}",
                                  "NANWATCH_ADDRESS": scraped.address})
        assert done.returncode == 2 and "loss/" in done.stdout, done.stderr

        shown, step = opened(said["page_url"])
        assert step == said["step"]
        assert "Critical" in shown and "(loss/Log) overflows" in shown

        # vmalert says the same.
        same = wait_for("vmalert fires", lambda: monitoring.of_vmalert("it's"))
        assert same[0]["labels"]["alertname"] == "NanwatchOpOverflow"
        assert same[0]["annotations"]["op"] == said["op"]
        monitoring.vmalert_process.kill()  # it would flush to the end of time

        # Both paths know of the other run, and only the daemon's is told.
        by_daemon = wait_for("the daemon's alert is told",
                             lambda: told(webhook, "pushed", "firing"))[0]
        shown, step = opened(by_daemon["generatorURL"].replace(
            "http://gpu7:9765", pushing.http))
        assert "(loss/Log) overflows" in shown
        incident = pushing.nanwatch("show", "pushed", "--json")
        assert step in re.findall(r'"opened_step": *"?(\d+)', incident.stdout)
        wait_for("the rules' alert is inhibited",
                 lambda: monitoring.suppressed("pushed"))
        # Muted where the cause is known, it is muted here: what the rules say
        # is no other way to a pager.
        pushing.nanwatch("mute", "pushed", "--reason", "we know")
        wait_for("the daemon's alert resolves",
                 lambda: told(webhook, "pushed", "resolved"))
        assert monitoring.suppressed("pushed")

        # The rules, too, go by what nobody muted.
        scraped.nanwatch("mute", "it's", "--reason", "we know")
        wait_for("the rules' alert resolves, muted",
                 lambda: told(webhook, "it's", "resolved"))
        fired = len(told(webhook, "it's", "firing"))
        scraped.nanwatch("unmute", "it's", "--reason", "we did not")
        wait_for("it fires again",
                 lambda: len(told(webhook, "it's", "firing")) > fired)
        resolved = len(told(webhook, "it's", "resolved"))

        for daemon, name in ((scraped, "it's"), (pushing, "pushed")):
            daemon.nanwatch("stop", name, "--reason", "seen enough")
        wait_for("the rules' alert resolves with its run",
                 lambda: len(told(webhook, "it's", "resolved")) > resolved, 30)
        # What vmalert wrote there, by its name for a group, stays for 5 minutes:
        # nobody is left to say that it is over.
        firing = 'ALERTS{alertstate="firing", condition=~".+", alertgroup=""}'
        wait_for("nothing fires in Prometheus",
                 lambda: not monitoring.query(firing), 30,
                 instead=lambda: monitoring.query(firing))
        assert not [a for a in told(webhook, "pushed", "firing")
                    if "source" in a["labels"]]
    finally:
        scraped.kill()
        pushing.kill()
