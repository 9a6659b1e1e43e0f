"""What stands where on the site, and the pages that are made for it alone."""

import re

START = ("PYTORCH", "HUGGING_FACE", "LIGHTNING", "KERAS", "JAX", "DEEPSPEED",
         "MEGATRON", "MINDSPORE", "ASCEND", "PADDLE", "CPP")
FAMILIES = {
    "scale": "Loss scale", "loss": "Loss", "weight": "Weights", "op": "Ops",
    "gradient": "Gradients", "fp8": "FP8", "rank": "Ranks",
    "benchmark": "Benchmark", "telemetry": "Telemetry",
}


def title(path):
    return re.search("^# (.*)$", path.read_text(), re.M)[1]


def named(root, paths):
    return [{title(root / path): path} for path in paths]


def rules(root):
    folder = root / "deploy/runbooks/rules"
    rows = re.findall(r"^\| \d+ \| \[(\w+)\]\((\w+\.md)\) \| (\w+) \|",
                      (folder / "README.md").read_text(), re.M)
    index = "deploy/runbooks/rules"
    return [{"All rules": f"{index}/README.md"}] + [
        {shown: [{name: f"{index}/{file}"} for name, file, family in rows
                 if family == key]}
        for key, shown in FAMILIES.items()]


def causes(root):
    folder = "deploy/runbooks/causes"
    files = sorted(path.name for path in (root / folder).glob("*.md")
                   if path.name != "README.md")
    return [{"All causes": f"{folder}/README.md"}] + named(
        root, [f"{folder}/{name}" for name in files])


def runbooks(root):
    folder = "deploy/runbooks"
    files = sorted(path.name for path in (root / folder).glob("Nanwatch*.md"))
    return [{"All alerts": f"{folder}/README.md"}] + named(
        root, [f"{folder}/{name}" for name in files])


def metrics(root):
    """The page of all metrics, out of the table that the daemon has."""
    text = (root / "daemon/model/metric_names.h").read_text()
    rows = re.findall(r'\{Metric::\w+,\s*"(\w+)",\s*MetricKind::k(\w+),\s*(\w+),'
                      r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}', text)
    expected = int(re.search(r"kMetrics = (\d+)", text)[1])
    if len(rows) != expected:
        raise ValueError(f"read {len(rows)} of {expected} metrics")
    page = ["# Metrics\n\nWhat `/metrics` has, with a series a run or a rank. A "
            "number that nobody collected has no series; it is never 0.\n"]
    for internal, heading in ("false", "Of runs"), ("true", "Of the daemon"):
        page.append(f"\n## {heading}\n\n| metric | kind | meaning |\n|---|---|---|\n")
        for name, kind, about, words in rows:
            if about == internal:
                said = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words))
                said = said.replace('\\"', '"').replace("|", "\\|")
                page.append(f"| `{name}` | {kind.lower()} | {said} |\n")
    return "".join(page)


PYTHON = """# Python API

From the docstrings. [client_lib/python](client_lib/python/README.md) is the page
to begin with.

## nanwatch

::: nanwatch.init

::: nanwatch.Run

::: nanwatch.Stats

::: nanwatch.Scaler

::: nanwatch.Request

## Frameworks
"""
FRAMEWORKS = ("torch", "transformers", "lightning", "accelerate", "deepspeed",
              "megatron", "colossalai", "jax", "keras", "mindspore", "paddle",
              "torch_npu", "ascend_tf", "apex", "tensorboard", "wandb", "mlflow")


def python():
    return PYTHON + "".join(f"\n::: nanwatch.{name}\n" for name in FRAMEWORKS)


def navigation(root):
    start = [f"docs/start/{name}.md" for name in START]
    return [
        {"Start": [
            {"nanwatch": "README.md"}, {"Install": "docs/INSTALL.md"},
            *named(root, [p for p in start if (root / p).exists()])]},
        {"Read a verdict": [
            {"A verdict, line by line": "docs/VERDICT.md"},
            {"Judge a log": "docs/LOGS.md"},
            {"What verdicts are worth": "tests/judge/RESULTS.md"}]},
        {"What it detects": [
            {"Rules": rules(root)}, {"Causes": causes(root)},
            {"Which loss scale": "docs/WHICH_SCALE.md"}]},
        {"Operate": [
            {"Run the daemon": "docs/OPERATE.md"},
            {"Where the daemon runs": "docs/TOPOLOGIES.md"},
            {"Stores of metrics": "docs/STORES.md"},
            {"Kubernetes": "docs/KUBERNETES.md"},
            {"What to give an upstream": "deploy/SIZING.md"},
            {"Slurm": "docs/SLURM.md"}, {"Ray": "docs/RAY.md"},
            {"A fleet": "docs/FLEET.md"},
            {"Alerts": runbooks(root)},
            {"Prometheus": "deploy/prometheus/README.md"},
            {"Grafana": "dashboards/grafana/README.md"},
            {"Webhooks": "daemon/notify/README.md"},
            {"Trackers": "docs/TRACKERS.md"},
            {"Security": "SECURITY.md"}]},
        {"Compare": [{"Two runs": "docs/COMPARE.md"}]},
        {"How it works": [
            {"Design": "daemon/DESIGN.md"}, {"Gaps": "daemon/GAPS.md"},
            {"History file": "daemon/history/FORMAT.md"},
            {"Figures": "tests/bench/RESULTS.md"}]},
        {"Reference": [
            {"Commands": "cli.md"},
            {"Configuration": "deploy/nanwatch.yaml.md"},
            {"HTTP API": "daemon/web/API.md"},
            {"C and C++": "docs/CLIENTS.md"},
            {"Python": "docs/PYTHON.md"}, {"Python API": "python_api.md"},
            {"Metrics": "metrics.md"}, {"Wire": "proto/CHANGES.md"}]},
        {"Contribute": [
            {"Contribute": "CONTRIBUTING.md"}, {"Changes": "CHANGELOG.md"},
            {"Golden files": "tests/golden/README.md"},
            {"Conformance": "tests/conformance/README.md"}]},
    ]


def files(navigation):
    """Every page that the navigation names."""
    for entry in navigation:
        for value in entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from files(value)
