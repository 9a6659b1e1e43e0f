"""Names of metrics: the conventions, and that documents use real names."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = (ROOT / "daemon/model/metric_names.h").read_text()
ROW = re.compile(
    r'\{Metric::k(\w+),\s*"([a-z_:0-9]+)",\s*MetricKind::k(\w+),\s*(true|false),'
    r'\s*((?:"[^"]*"\s*)+)\}', re.S)
METRICS = [m.groups() for m in ROW.finditer(TABLE)]
UNITS = ("_seconds", "_bytes", "_ratio")


def test_the_table_is_read():
    count = int(re.search(r"kMetrics = (\d+)", TABLE).group(1))
    assert len(METRICS) == count


def test_names_are_unique_and_prefixed():
    names = [name for _, name, *_ in METRICS]
    assert len(set(names)) == len(names)
    assert all(n.startswith(("nanwatch_", "process_")) for n in names)


def test_suffixes_say_the_kind():
    for _, name, kind, _, _ in METRICS:
        assert (kind == "Counter") == name.endswith("_total"), name
        assert (kind == "Info") == name.endswith("_info"), name
        assert not name.endswith(("_count", "_sum", "_bucket", "_ms")), name


def test_base_units():
    banned = ("milliseconds", "micros", "kilobytes", "megabytes", "percent")
    for _, name, *_ in METRICS:
        assert not any(word in name for word in banned), name


def test_help_is_a_sentence():
    for _, name, _, _, text in METRICS:
        help_text = "".join(re.findall(r'"([^"]*)"', text))
        assert help_text[0].isupper() or help_text[0].isdigit(), name
        assert help_text.endswith("."), name


def test_documents_and_code_name_only_metrics_that_exist():
    known = {name for _, name, *_ in METRICS}
    families = {n.removesuffix("_total") for n in known}
    wrong = []
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
                 *(ROOT / "daemon").rglob("*.md"),
                 *(ROOT / "deploy").rglob("*.y*ml")]:
        if not path.exists():
            continue
        for name in re.findall(r"\bnanwatch_[a-z_]+(?:_total|_info|_seconds|"
                               r"_degraded|_ratio)\b", path.read_text()):
            if name not in known and name not in families:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong, "\n".join(wrong)
