"""dashboards/grafana: generated, after dashboard-linter's rules and our own, and
linked with alerts, runbooks and metrics in both directions."""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import grafana_types
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAFANA = ROOT / "dashboards/grafana"
BOARDS = {path.stem: json.loads(path.read_text())
          for path in sorted((GRAFANA / "json").glob("*.json"))}
PANELS = [(uid, panel) for uid, board in BOARDS.items()
          for panel in board["panels"] if panel["type"] != "row"]
each_board = pytest.mark.parametrize("uid", BOARDS)
each_panel = pytest.mark.parametrize(
    "uid, panel", PANELS, ids=[f"{uid}-{p['title']}" for uid, p in PANELS])

RUNBOOKS = ROOT / "deploy/runbooks"
LINK = "https://nanwatch.example/runbooks/"
RULES = yaml.safe_load((ROOT / "deploy/prometheus/nanwatch.rules.yml")
                       .read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]
          if "alert" in rule]
HEADER = (ROOT / "daemon/model/metric_names.h").read_text()
METRICS = set(re.findall(r'"((?:nanwatch|process)_\w+)"', HEADER))
COUNTERS = {name for name in METRICS if name.endswith("_total")}
# Metrics that no panel needs, and why. Empty: each is shown somewhere.
NOT_SHOWN = {}
# Counters that are shown as they are, and why.
AS_TOTALS = {
    "nanwatch_op_bad_statuses_total": "which ops, over the whole attempt",
    "nanwatch_rank_overflow_steps_total": "ranks side by side",
    "nanwatch_rank_skipped_steps_total": "ranks side by side",
    "nanwatch_scaler_impossible_transitions_total": "one is worth knowing",
    "nanwatch_condition_detections_total": "of the attempt so far",
    "nanwatch_clock_jumps_total": "one is worth knowing",
    "nanwatch_audit_lines_total": "since the start",
    "nanwatch_audit_left_out_total": "one is worth knowing",
    "nanwatch_audit_lost_total": "one is worth knowing",
}
# Units for which a fixed range is the unit's own.
BOUNDED = {"percentunit"}
# Alerts that need no series of ours: they always fire, or say that none is.
WITHOUT_METRIC = {"NanwatchWatchdog", "NanwatchDaemonDown", "NanwatchAbsent"}


def metrics_in(text):
    return set(re.findall(r"\b(?:nanwatch|process)_[a-z_]+", text)) & METRICS


def exprs(panel):
    return [target["expr"] for target in panel["targets"]]


def queries(board):
    """Every query of a board, those of variables as the selector they are."""
    out = [e for panel in board["panels"] if panel["type"] != "row"
           for e in exprs(panel)]
    out += [each["expr"] for each in board["annotations"]["list"]]
    out += [re.fullmatch(r"label_values\((.*), *\w+\)",
                         v["query"]["query"])[1]
            for v in board["templating"]["list"] if v["type"] == "query"]
    return out


def test_generating_them_again_changes_nothing(tmp_path):
    subprocess.run([sys.executable, GRAFANA / "generate", tmp_path], check=True)
    for path in tmp_path.iterdir():
        assert path.read_text() == (GRAFANA / "json" / path.name).read_text(), (
            "run dashboards/grafana/generate")
    assert {p.name for p in tmp_path.iterdir()} == {
        p.name for p in (GRAFANA / "json").iterdir()}


@each_board
def test_a_board_can_be_provisioned_and_imported(uid):
    board = BOARDS[uid]
    assert board["uid"] == uid and board["id"] is None
    assert board["title"].startswith("nanwatch / ") and board["description"]
    assert board["tags"] == ["nanwatch"] and board["editable"] is False
    assert len(uid) <= 40 and not {"__inputs", "__requires"} & set(board)


@each_board
def test_variables(uid):
    variables = {v["name"]: v for v in BOARDS[uid]["templating"]["list"]}
    source = variables.pop("datasource")
    assert (source["type"], source["query"], source["label"]) == (
        "datasource", "prometheus", "Data source")
    assert variables["job"]["multi"] and variables["job"]["allValue"] == ".+"
    for each in variables.values():
        assert each["type"] == "query" and each["refresh"] == 2, each["name"]
        assert each["datasource"]["uid"] == "${datasource}"
        assert each["label"]
    used = json.dumps([BOARDS[uid][k] for k in ("panels", "links")]
                      + [v["query"] for v in variables.values()])
    for name in variables:
        assert re.search(rf"\$\{{?{name}\b", used), f"nobody uses {name}"


@each_board
def test_ids_are_unique_and_panels_fill_the_grid(uid):
    panels = BOARDS[uid]["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(set(ids)) == len(ids)
    titles = [panel["title"] for panel in panels]
    assert len(set(titles)) == len(titles), "links name panels by their title"
    taken = {}
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24 and at["w"] >= 2 and at["h"] >= 1
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                other = taken.setdefault((x, y), panel["title"])
                assert other == panel["title"], f"{other} under {panel['title']}"
    height = max(y for _, y in taken) + 1
    assert len(taken) == 24 * height, "a gap"


@each_board
def test_the_first_row_is_the_answer(uid):
    """What needs no scrolling: numbers with a colour, of height 4."""
    first = [p for p in BOARDS[uid]["panels"] if p["gridPos"]["y"] == 0]
    assert {p["type"] for p in first} == {"stat"}
    assert any(p["options"]["colorMode"] == "background" or len(
        p["fieldConfig"]["defaults"]["thresholds"]["steps"]) > 1 for p in first)


@each_panel
def test_a_panel_says_what_people_need(uid, panel):
    defaults = panel["fieldConfig"]["defaults"]
    assert panel["title"] and panel["targets"]
    for part in ("\n\n**Normal:** ", "\n\n**Otherwise:** "):
        assert part in panel["description"]
    assert panel["datasource"]["uid"] == "${datasource}"
    assert defaults["unit"]
    if {"min", "max"} <= set(defaults):
        assert defaults["unit"] in BOUNDED, "a hard coded range"
    assert defaults.get("min", 0) == 0 and defaults.get("max", 1) == 1


@each_panel
def test_queries_of_a_panel(uid, panel):
    refs = [target["refId"] for target in panel["targets"]]
    assert len(set(refs)) == len(refs)
    for target in panel["targets"]:
        expr = target["expr"]
        assert target["datasource"]["uid"] == "${datasource}"
        assert target["instant"] != target["range"]
        assert target["instant"] or panel["type"] in ("timeseries",
                                                      "state-timeline")
        for selector in re.findall(
                r"(?:(?:nanwatch|process)_[a-z_]+|\bup)(\{[^{}]*(?:\$\{[^}]*\}"
                r"[^{}]*)*\})?", expr):
            assert 'job=~"$job"' in selector or 'precision=~' in selector, expr
        for function, window in re.findall(
                r"\b(i?rate|increase|delta)\([^\[]*\[([^\]]*)\]", expr):
            fixed = (target["instant"] and window == "10m"
                     or "@ end()" in expr and window == "$__range")
            assert window == "$__rate_interval" or fixed, expr
        if panel["type"] == "timeseries" or (
                panel["type"] == "stat" and len(refs) > 1):
            assert target["legendFormat"] != "__auto", panel["title"]


@each_panel
def test_counters_are_shown_as_rates(uid, panel):
    for expr in exprs(panel):
        rated = re.findall(r"\b(?:rate|increase)\((\w+)", expr)
        bare = set(re.findall(r"\bnanwatch_\w+_total\b", expr)) - set(rated)
        assert bare <= set(AS_TOTALS), expr


def substituted(expr):
    """PromQL as promtool parses it."""
    expr = re.sub(r"\$\{\w+:doublequote\}", '"x"', expr)
    expr = re.sub(r"\$__(rate_)?interval|\$__range", "1m", expr)
    return expr.replace("$", "")


def test_queries_are_promql(tmp_path):
    rules = [{"record": f"q:{i}", "expr": substituted(expr)} for i, expr in
             enumerate(e for board in BOARDS.values() for e in queries(board))]
    assert len(rules) > 150
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "q", "rules": rules}]}))
    for command in (["promtool", "check", "rules", str(file)],
                    ["vmalert", "-dryRun", "-rule", str(file)]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_boards_name_metrics_that_exist():
    for uid, board in BOARDS.items():
        for expr in queries(board):
            names = set(re.findall(r"\b(?:nanwatch|process)_[a-z_]+", expr))
            assert names <= METRICS, f"{uid}: {names - METRICS}"


def test_every_metric_is_shown_or_need_not_be():
    shown = {name for board in BOARDS.values() for expr in queries(board)
             for name in metrics_in(expr)}
    assert METRICS - shown == set(NOT_SHOWN), "show it, or say why not"


@each_board
def test_links_lead_somewhere(uid):
    board = BOARDS[uid]
    # Not inside ${...}: a uid, a path of this repository's runbooks.
    for text in re.findall(r"/d/([\w-]+)", json.dumps(board)):
        assert text in BOARDS
    for page in re.findall(re.escape(LINK) + r"(\w+)\.md", json.dumps(board)):
        assert (RUNBOOKS / f"{page}.md").exists(), page
    kinds = {link["type"]: link for link in board["links"]}
    assert kinds["dashboards"]["tags"] == ["nanwatch"]
    assert kinds["dashboards"]["includeVars"] and kinds["dashboards"]["keepTime"]
    if "run_id" in {v["name"] for v in board["templating"]["list"]}:
        assert any("/?run=${run_id:percentencode}" in link["url"]
                   for link in board["links"]), "the daemon's page"


@each_board
def test_boards_have_the_variables_that_others_link_with(uid):
    """An alert opens nanwatch-run?var-run_id=..., a table's cell too."""
    links = [rule["annotations"]["dashboard_url"] for rule in ALERTS]
    links += re.findall(r'"(/d/[^"]*)"', json.dumps(list(BOARDS.values())))
    names = {v["name"] for v in BOARDS[uid]["templating"]["list"]}
    for link in links:
        if f"/d/{uid}" in link:
            assert set(re.findall(r"[?&]var-(\w+)=", link)) <= names, link


@functools.cache
def panels_about(alert):
    """(uid, panel) of each panel whose text links the alert's runbook."""
    return [(uid, panel) for uid, panel in PANELS
            if f"]({LINK}{alert}.md)" in panel["description"]]


@pytest.mark.parametrize("alert", sorted({rule["alert"] for rule in ALERTS}))
def test_an_alert_a_panel_and_a_runbook_lead_to_one_another(alert):
    about = panels_about(alert)
    assert about, f"no panel is about {alert}"
    rules = [rule for rule in ALERTS if rule["alert"] == alert]
    # The dashboard that the alert opens has a panel about it, which shows a
    # metric that the alert goes by.
    for rule in rules:
        uid = re.search(r"/d/([\w-]+)", rule["annotations"]["dashboard_url"])[1]
        there = [panel for board, panel in about if board == uid]
        assert there, f"{alert} opens {uid}, which has no panel about it"
        wanted = metrics_in(rule["expr"])
        shown = {name for panel in there for expr in exprs(panel)
                 for name in metrics_in(expr)}
        assert wanted & shown or alert in WITHOUT_METRIC, f"{wanted}, {shown}"
    # The runbook names board and panel.
    page = (RUNBOOKS / f"{alert}.md").read_text()
    named = re.search(r"^On the dashboard \*nanwatch / (\w+)\*, panel "
                      r"\*([^*]+)\*\.$", page, re.M)
    assert named, f"{alert}.md names no panel"
    assert any(BOARDS[uid]["title"] == f"nanwatch / {named[1]}"
               and panel["title"] == named[2] for uid, panel in about), named[0]
    # Panels link the runbook where people click, too.
    for _, panel in about:
        assert f"{LINK}{alert}.md" in [link["url"] for link in panel["links"]]


@pytest.mark.parametrize("path", sorted(
    (GRAFANA / "provisioning").rglob("*.yaml")), ids=lambda p: p.parent.name)
def test_provisioning_is_of_version_1(path):
    given = yaml.safe_load(path.read_text())
    assert given["apiVersion"] == 1
    if path.parent.name == "datasources":
        assert [d["type"] for d in given["datasources"]] == ["prometheus"]
    else:
        assert given["providers"][0]["type"] == "file"


@pytest.mark.skipif(not os.environ.get("NANWATCH_TEST_ALL"),
                    reason="fetches Grafana's types and a compiler")
def test_boards_are_of_the_types_that_grafana_publishes():
    boards = grafana_types.read_boards()
    wrong = grafana_types.read_boards()[-1]
    panel = next(p for p in wrong["panels"] if p["type"] == "timeseries")
    panel["fieldConfig"]["defaults"]["custom"]["drawStyle"] = "curve"
    panel["gridpos"] = panel.pop("gridPos")
    said = grafana_types.complaints([wrong])
    assert '"curve"' in said and '"gridpos"' in said
    assert grafana_types.complaints(boards) == ""
