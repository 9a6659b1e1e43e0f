"""Alerts, their tests, their runbooks and metrics: each link holds."""

import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
NANWATCH = pathlib.Path(os.environ.get(
    "NANWATCH_BIN", ROOT / "build/release/bin")) / "nanwatch"
PROMETHEUS = ROOT / "deploy/prometheus"
RUNBOOKS = ROOT / "deploy/runbooks"
BASE = "https://nanwatch.example/runbooks/"
GRAFANA = "https://grafana.example/d/"

GROUPS = yaml.safe_load((PROMETHEUS / "nanwatch.rules.yml").read_text())["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
NAMES = sorted({rule["alert"] for rule in ALERTS})
RECORDS = {rule["record"] for rule in RULES if "record" in rule}
TESTS = {test["name"]: test for test in yaml.safe_load(
    (PROMETHEUS / "nanwatch_test.yml").read_text())["tests"]}
RECORDINGS = TESTS.pop("recordings")
METRICS = set(re.findall(
    r'"(nanwatch_\w+|process_\w+)"',
    (ROOT / "daemon/model/metric_names.h").read_text()))
PAGES = {p.stem: p for p in RUNBOOKS.glob("*.md") if p.stem != "README"}
TEXTS = [*PAGES.values(), RUNBOOKS / "README.md", PROMETHEUS / "README.md"]
FRAMEWORKS = ("PyTorch", "Megatron", "DeepSpeed", "fairseq", "MindSpore",
              "Ascend TF", "Keras", "JAX")


def module(path):
    """A script without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    it = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(path.name, loader))
    it.__file__ = str(path)
    loader.exec_module(it)
    return it


GENERATOR = module(RUNBOOKS / "generate")


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(),
                      re.M | re.S)


def test_each_alert_has_its_page_and_each_page_its_alert():
    assert sorted(PAGES) == NAMES
    index = (RUNBOOKS / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[(\w+)\]\(\1\.md\)", index, re.M)) == NAMES


@pytest.mark.parametrize("rule", ALERTS, ids=lambda r: r["alert"])
def test_an_alert_says_what_people_need(rule):
    said = rule["annotations"]
    assert re.fullmatch(r"Nanwatch([A-Z][a-z0-9]+)+", rule["alert"])
    assert rule["labels"]["severity"] in {"critical", "warning", "none"}
    assert rule["labels"]["source"] == "rules"  # what the inhibition goes by
    assert re.fullmatch(r"[A-Z][^{]*\.", said["summary"]), "static, a sentence"
    assert said["description"].endswith(".")
    assert said["runbook_url"] == f"{BASE}{rule['alert']}.md"
    assert said["dashboard_url"].startswith(GRAFANA)
    assert "keep_firing_for" not in rule  # vmalert 1.79 refuses the whole file


def names_in(text):
    recorded = set(re.findall(r"\b\w+:nanwatch_\w+:\w+", text))
    for name in recorded:
        text = text.replace(name, "")
    return set(re.findall(r"\b(?:nanwatch|process)_\w+", text)), recorded


def test_rules_use_metrics_that_exist():
    for rule in RULES:
        text = rule["expr"] + "".join(rule.get("annotations", {}).values())
        metrics, recorded = names_in(text)
        assert metrics <= METRICS, rule
        assert not recorded, f"a recording is a second's wait: {rule}"


def test_tests_use_metrics_that_exist():
    for test in [*TESTS.values(), RECORDINGS]:
        for series in test["input_series"]:
            name = series["series"].partition("{")[0]
            assert name in METRICS | {"up"}, series


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_pages_name_metrics_that_exist(path):
    metrics, recorded = names_in("".join(blocks(path, "promql")))
    assert metrics <= METRICS
    assert recorded <= RECORDS


def test_queries_of_pages_are_promql(tmp_path):
    """As recording rules, since promtool 2.42 has no other parser for them."""
    queries = [q for path in TEXTS for block in blocks(path, "promql")
               for q in block.splitlines() if q]
    assert len(queries) > 50
    rules = [{"record": f"q:{i}", "expr": q} for i, q in enumerate(queries)]
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "q", "rules": rules}]}))
    done = subprocess.run(["promtool", "check", "rules", str(file)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def commands(text):
    """Each `nanwatch VERB ...`, its comment left out."""
    lines = [line.partition(" #")[0]
             for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
             for line in block.splitlines()]
    lines += re.findall(r"`(nanwatch [^`]*)`",
                        re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [line.strip() for line in lines if line.startswith("nanwatch ")]


@functools.cache
def help_of(*verb):
    done = subprocess.run([NANWATCH, *verb, "--help"], capture_output=True,
                          text=True)
    return done.stdout if done.returncode == 0 else ""


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_commands_of_pages_are_nanwatchs(path):
    verbs = set(re.findall(r"^  (\w[\w-]*) ",
                           help_of().partition("Subcommands:")[2], re.M))
    for command in commands(path.read_text()):
        verb = command.split()[1]
        assert verb in verbs, command
        known = help_of(verb)
        for flag in re.findall(r"(?<=\s)--?[a-z][\w-]*", command):
            assert re.search(rf"(?<![\w-]){flag}\b", known), command
        if verb == "explain" and len(command.split()) == 3:
            rule = command.split()[2]
            assert rule == "RULE" or (RUNBOOKS / f"rules/{rule}.md").exists()


def test_actions_of_alerts_are_nanwatchs():
    for rule in ALERTS:
        action = rule["annotations"].get("action", "nanwatch show")
        assert help_of(action.split()[1]), action


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_parts(name):
    text = PAGES[name].read_text()
    assert text.startswith(f"# {name}\n")
    parts = re.findall(r"^## (.*)$", text, re.M)
    assert parts[:4] == ["Meaning", "Impact", "Diagnosis", "Mitigation"]
    assert blocks(PAGES[name], "promql"), "a query to begin with"
    if name in GENERATOR.FAMILIES:
        mitigation = text.partition("## Mitigation")[2]
        headings = ", ".join(re.findall(r"^### (.*)$", mitigation, re.M))
        assert set(FRAMEWORKS) <= set(headings.split(", "))
        assert any(c.startswith("nanwatch diagnose") for c in commands(text))


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


def test_alerts_of_conditions_have_the_names_of_the_daemons_push():
    """So that a runbook serves both, and Alertmanager can tell them apart."""
    pushed = dict(re.findall(
        r'case Family::k(\w+):\n\s+return "(Nanwatch\w+)"',
        (ROOT / "daemon/notify/alert.cc").read_text()))
    condition = dict(re.findall(
        r'case Family::k(\w+):\n\s+return "(\w+)"',
        (ROOT / "daemon/model/severity.cc").read_text()))
    wanted = {pushed[f]: condition[f] for f in condition}
    assert len(wanted) == 9
    assert GENERATOR.FAMILIES == wanted
    for name, family in wanted.items():
        rules = [r for r in ALERTS if r["alert"] == name]
        assert [r["labels"]["severity"] for r in rules] == ["critical", "warning"]
        assert all(f'condition="{family}"' in r["expr"] for r in rules)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def gone_after(values, interval):
    """When a series is stale for the first time; None: never."""
    at = 0
    for word in values.split():
        if word == "stale":
            return at * interval
        times = re.search(r"x(\d+)$", word)
        # "_x5" are 5 samples, "1x5" are 6.
        at += 1 if not times else int(times[1]) + (not word.startswith("_"))
    return None


def test_each_alert_is_tested():
    assert sorted(TESTS) == NAMES


def test_each_recording_is_tested():
    tested = {step["expr"] for step in RECORDINGS["promql_expr_test"]
              if step["exp_samples"]}
    assert tested == RECORDS


@pytest.mark.parametrize("name", NAMES)
def test_an_alert_is_tested_quiet_firing_and_stale(name):
    test = TESTS[name]
    steps = [(seconds(s["eval_time"]), s["exp_alerts"])
             for s in test["alert_rule_test"]]
    assert steps == sorted(steps, key=lambda step: step[0])
    assert all(s["alertname"] == name for s in test["alert_rule_test"])
    assert any(alerts for _, alerts in steps), "it must fire"
    if name == "NanwatchWatchdog":  # which always fires, with no series at all
        assert all(alerts for _, alerts in steps)
        return
    assert not steps[0][1], "quiet first"
    end, last = steps[-1]
    assert not last, "over in the end"
    for series in test["input_series"]:
        gone = gone_after(series["values"], seconds(test["interval"]))
        assert gone and gone < end, f"stale before the last look: {series}"


def test_severities_of_conditions_are_tested_and_alerts_are_of_runs():
    for name, test in TESTS.items():
        labels = [alert["exp_labels"] for step in test["alert_rule_test"]
                  for alert in step["exp_alerts"]]
        assert not any({"rank", "op", "step"} & set(each) for each in labels)
        if name in GENERATOR.FAMILIES:
            assert {each["severity"] for each in labels} == {"critical",
                                                             "warning"}
            assert len(labels) == len({each["run_id"] for each in labels})


def test_generating_the_runbooks_again_changes_nothing(tmp_path):
    again = tmp_path / "runbooks"
    shutil.copytree(RUNBOOKS, again)
    for made in ("rules", "causes"):  # so that a page of what is no more goes
        shutil.rmtree(again / made)
    GENERATOR.generate(NANWATCH, again)
    paths = {p.relative_to(RUNBOOKS) for p in RUNBOOKS.rglob("*.md")}
    assert {p.relative_to(again) for p in again.rglob("*.md")} == paths
    old = [p for p in paths
           if (RUNBOOKS / p).read_text() != (again / p).read_text()]
    assert not old, f"run deploy/runbooks/generate: {old}"
