"""From a collapsing run to a firing and a resolved alert, with real parts."""

import json

from conftest import (BIN, Daemon, feed, get, get_json, free_port, reachable,
                      wait_for, word2vec)


def alerts_of(webhook, run, status):
    return [
        alert
        for body in list(webhook.bodies)
        for alert in body.get("alerts", [])
        if alert["labels"].get("run_id") == run and alert["status"] == status
    ]


def test_alertmanager_fires_and_resolves(folder, alertmanager, webhook):
    daemon = Daemon(folder, config=f"""
notify:
  alertmanager:
    urls: [{alertmanager}]
""").start()
    try:
        word2vec(daemon.address, "--scenario", "padding", "--run", "sick")
        fired = wait_for("the alert fires",
                         lambda: alerts_of(webhook, "sick", "firing"))
        assert any(a["labels"]["severity"] == "critical" for a in fired)
        assert all("rank" not in a["labels"] for a in fired)
        assert all(a["annotations"]["summary"] for a in fired)
        # The training has ended, and with it everything that fired.
        wait_for("the alert resolves",
                 lambda: alerts_of(webhook, "sick", "resolved"), 60)
    finally:
        daemon.kill()


def test_a_mute_resolves_the_alert_and_an_unmute_fires_it_again(
        folder, alertmanager, webhook):
    daemon = Daemon(folder, config=f"""
notify:
  alertmanager:
    urls: [{alertmanager}]
""").start()
    trainer = None
    try:
        trainer = feed(daemon.address, "--run", "known", "--steps", "100000",
                       "--rate", "100", "--nan-loss-at", "50", wait=False)
        wait_for("the alert fires",
                 lambda: alerts_of(webhook, "known", "firing"))
        daemon.nanwatch("mute", "known", "--reason", "we know")
        # At once, and not after the 35 s for which any other is held.
        over = wait_for("the alert resolves",
                        lambda: alerts_of(webhook, "known", "resolved"), 15)
        assert {a["annotations"]["resolved_reason"] for a in over} == {"muted"}
        active = get_json(alertmanager + "/api/v2/alerts?active=true")
        assert not [a for a in active if a["labels"]["run_id"] == "known"]
        # Here it still fires, marked.
        shown = daemon.show("known")["incidents"]
        assert [i for i in shown if i.get("muted")
                and i["state"] == "ALERT_STATE_FIRING"]
        fired = len(alerts_of(webhook, "known", "firing"))
        daemon.nanwatch("unmute", "known")
        wait_for("the alert fires again", lambda: len(
            alerts_of(webhook, "known", "firing")) > fired, 15)
    finally:
        if trainer:
            trainer.kill()
            trainer.wait()
        daemon.kill()


def test_one_trouble_is_one_call(folder, processes, webhook):
    """A warning that turns critical within milliseconds, with its cause."""
    daemon = Daemon(folder, config=f"""
notify:
  webhook:
    urls: [{webhook.url}]
""").start()
    try:
        processes(BIN / "nanwatch-word2vec", "--address", daemon.address,
                  "--scenario", "padding", "--run", "once", "--steps",
                  "100000", "--step-delay-ms", "2", "--quiet")
        body = wait_for("the webhook is called", lambda: webhook.bodies[:1])[0]
        wait_for("it goes on", lambda: get_json(
            daemon.http + "/api/v1/runs/once")["last_step"] > 1000)
        assert [b["status"] for b in webhook.bodies] == ["firing"]
        assert body["severity"] == "critical" and body["op"] == "loss/Log"
        assert body["description"].startswith(
            f"Began at step {body['step']} in op loss/Log (output), rank 0 (")
        assert "Affected, too: op loss/TransData_1 (input)." in (
            body["description"])
    finally:
        daemon.kill()


def test_webhook_gets_the_sentence(folder, webhook):
    daemon = Daemon(folder, config=f"""
notify:
  webhook:
    urls: [{webhook.url}]
""").start()
    try:
        word2vec(daemon.address, "--scenario", "nan", "--run", "hooked",
                 check=False)
        body = wait_for("the webhook is called", lambda: webhook.bodies[:1])[0]
        assert "hooked" in json.dumps(body)
    finally:
        daemon.kill()


def test_prometheus_scrapes_and_sees_the_run_go(folder, processes):
    daemon = Daemon(folder, config="engine:\n  ended_run_leaves_after: 3s\n")
    daemon.start()
    port = free_port()
    config = folder / "prometheus.yml"
    config.write_text(f"""
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: nanwatch
    static_configs: [{{targets: ["{daemon.http.removeprefix('http://')}"]}}]
""")
    processes("prometheus", f"--config.file={config}",
              f"--storage.tsdb.path={folder}/tsdb",
              f"--web.listen-address=127.0.0.1:{port}")
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for("Prometheus is up", lambda: reachable(url + "/-/ready"))

        def query(text):
            return get_json(
                f"{url}/api/v1/query?query={text}")["data"]["result"]

        wait_for("Prometheus scrapes", lambda: [
            r for r in query("up") if r["value"][1] == "1"])
        feed(daemon.address, "--run", "scraped", "--steps", "200",
             "--rate", "200")
        scale = wait_for("the loss scale is in Prometheus",
                         lambda: query('nanwatch_loss_scale{run_id="scraped"}'))
        assert float(scale[0]["value"][1]) == 1024
        wait_for("the ended run goes stale",
                 lambda: not query('nanwatch_loss_scale{run_id="scraped"}'), 30)
    finally:
        daemon.kill()


def test_metrics_are_what_promtool_and_the_strict_parser_accept(daemon):
    import subprocess

    word2vec(daemon.address, "--scenario", "padding", "--run",
             'odd "name"\\ with ünïcode', "--steps", "300")
    done = subprocess.run(["promtool", "check", "metrics"], text=True,
                          input=daemon.metrics(), capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    from prometheus_client.openmetrics import parser

    text = get(daemon.http + "/metrics",
               {"Accept": "application/openmetrics-text; version=1.0.0"})
    families = list(parser.text_string_to_metric_families(text))
    names = {f.name for f in families}
    assert "nanwatch_loss_scale" in names
    labels = [s.labels.get("run_id") for f in families for s in f.samples]
    assert 'odd "name"\\ with ünïcode' in labels
