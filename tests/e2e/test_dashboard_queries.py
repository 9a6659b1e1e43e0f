"""dashboards/grafana on a real Prometheus and a real VictoriaMetrics: every
query of every panel, variable and annotation, as Grafana would ask them."""

import json
import tempfile

import pytest

import exporters
from conftest import ALL, ROOT
from monitored_runs import MUTED, SICK, MonitoredRuns

from ask import choose, interpolate, options_of, queries  # noqa: E402

BOARDS = {path.stem.removeprefix("nanwatch-"): json.loads(path.read_text())
          for path in sorted((ROOT / "dashboards/grafana/json").glob("*.json"))}
OF_A_RUN = ("run", "ranks", "ops")
SOURCES = ("prometheus", "victoria")
# (board, panel, query) that no run here fills, and why.
NOWHERE = {
    ("daemon", "Turned away a second", "C"): "takes 256 MiB/s: test_limits",
    ("run", "Loss scale", "D"): "takes scales of layers: test_layer_scales",
    ("run", "Loss scale", "E"): "takes scales of layers: test_layer_scales",
    ("run", "The scaler", "E"): "takes scales of layers: test_layer_scales",
    ("run", "Where it began", "D"): "takes a cluster: test_pods",
    ("run", "Loss and its benchmark", "B"): "takes a benchmark: test_benchmark",
    ("run", "Loss above its benchmark", "A"): "as B",
    ("run", "Steps compared a second", "A"): "as B",
    ("daemon", "Events a second", "C"): "nothing is 30 days old",
    ("daemon", "Lost and failed", "A"): "takes a full disk: test_history_file",
    ("daemon", "Lost and failed", "B"): "takes a full disk: test_history_file",
    ("daemon", "Lost and failed", "C"): "no history file is set aside",
    ("daemon", "Deliveries", "C"): "notices are given up after hours",
    ("daemon", "Series", "B"): "takes more than 100,000 series",
    **{("daemon", title, query): "takes an upstream: test_relay"
       for title, queries in (("Behind for the upstream", "A"),
                              ("Events behind", "A"), ("The upstream", "ABCD"),
                              ("Sent upstream", "AB"))
       for query in queries},
    **{("daemon", title, query): "takes a store: test_push"
       for title, queries in (("Behind for a store", "A"),
                              ("Samples for stores", "ABCD"))
       for query in queries},
}
# Queries that a healthy run leaves empty, since they show what is wrong.
QUIET_IN_HEALTH = {
    "run": {("What was sick when", "B"), ("Loss", "B"), ("Records a second", "C"), ("The scaler", "C"),
            ("The scaler", "E"), ("Loss scale", "D"), ("Loss scale", "E"),
            ("Loss and its benchmark", "B"), ("Loss above its benchmark", "A"),
            ("Steps compared a second", "A"),
            ("Worst ops", "A"), ("Where it began", "A"),
            ("Where it began", "B"), ("Where it began", "C"),
            ("Where it began", "D")},
    "ranks": set(),
    "ops": {("Worst op", "A"), ("Last bad step was", "A"),
            ("Of ops not named", "A"), ("Top offenders over time", "A"),
            ("Most often bad", "A"),
            ("Bad elements in the newest bad status", "A"),
            ("Op statuses a second", "B"), ("Ops", "A"), ("Ops", "B"),
            ("Ops", "C"), ("Ops", "D")},
}
# Filled when a scrape happens to see the step that overflowed.
SOMETIMES = {("Values that were NaN or infinite", "B")}


@pytest.fixture(scope="module")
def monitored():
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        it = MonitoredRuns(folder, seconds=14)
        try:
            yield it.start()
        finally:
            it.stop()


def filled(monitored, source, board, **given):
    """{(panel, query): its series} of each query of a board."""
    chosen = choose(source, board, monitored.look, **given)
    return {(panel["title"], target["refId"]): source.series(target,
                                                             monitored.look)
            for panel in board["panels"]
            for target in queries(board, panel, chosen, monitored.look)}


def runs_of(name):
    return [{"run_id": run} for run in ("healthy", "many", *SICK)
            ] if name in OF_A_RUN else [{}]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", BOARDS)
def test_every_query_is_answered(monitored, name, source):
    source = getattr(monitored, source)
    empty = None
    for given in runs_of(name):
        found = filled(monitored, source, BOARDS[name], **given)
        now_empty = {key for key, series in found.items() if not series}
        empty = now_empty if empty is None else empty & now_empty
    assert empty == {key[1:] for key in NOWHERE if key[0] == name}


@pytest.mark.parametrize("name", OF_A_RUN)
def test_a_healthy_run_is_shown_whole(monitored, name):
    found = filled(monitored, monitored.prometheus, BOARDS[name],
                   run_id="healthy")
    empty = {key for key, series in found.items() if not series}
    assert empty - SOMETIMES == QUIET_IN_HEALTH[name]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", BOARDS)
def test_variables_have_values_and_annotations_are_answered(monitored, name,
                                                            source):
    source, board = getattr(monitored, source), BOARDS[name]
    chosen = choose(source, board, monitored.look, **(
        {"run_id": "collapse"} if name in OF_A_RUN else {}))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            options = options_of(source, board, variable, monitored.look, chosen)
            assert options, variable["name"]
            if variable["name"] == "run_id":
                assert set(options) == {"healthy", "many", *SICK}
    shown = set()
    for each in board["annotations"]["list"]:
        expr = interpolate(each["expr"], board, chosen, monitored.look.words())
        series = source.series({"expr": expr}, monitored.look)
        if any(value > 0 for _, points in series for _, value in points):
            shown.add(each["name"])
    assert shown >= ({"critical", "attempt"} if name in OF_A_RUN else set())


def newest(series):
    """{the one label that tells the series apart: its newest value}"""
    return {next(iter(labels.values()), ""): points[-1][1]
            for labels, points in series}


@pytest.mark.parametrize("run", SICK)
def test_the_first_row_of_a_sick_run_says_with_what(monitored, run):
    board = BOARDS["run"]
    found = filled(monitored, monitored.prometheus, board, run_id=run)
    assert newest(found["Verdict", "A"])[""] >= 2
    assert newest(found["What is sick", "A"])[SICK[run]] >= 2
    assert all(panel["gridPos"]["y"] == 0 for panel in board["panels"]
               if panel["title"] in ("Verdict", "What is sick"))


def test_a_muted_run_stays_sick_and_raises_no_alert(monitored):
    found = filled(monitored, monitored.prometheus, BOARDS["run"],
                   run_id=MUTED)
    assert newest(found["Verdict", "A"])[""] == 3
    muted = newest(found["What was sick when", "B"])
    assert set(muted) == {SICK[MUTED]}
    (_, points), = monitored.prometheus.series({"expr": (
        f'max(nanwatch_condition_unmuted_severity{{run_id="{MUTED}"}})')},
        monitored.look)
    values = [value for _, value in points]
    assert max(values) == 3 and values[-1] == 0


def test_what_is_pushed_links_a_runbook_that_exists(monitored):
    links = {body["alertname"]: body["runbook_url"]
             for body in list(monitored.webhook.bodies)}
    assert len(links) >= 6
    for name, link in links.items():
        assert link == f"https://wiki.example/nanwatch/{name}.md"
        assert (ROOT / f"deploy/runbooks/{name}.md").exists()


def test_a_healthy_run_is_called_healthy(monitored):
    found = filled(monitored, monitored.prometheus, BOARDS["run"],
                   run_id="healthy")
    assert newest(found["Verdict", "A"])[""] == 0
    assert set(newest(found["What is sick", "A"]).values()) == {0}
    assert newest(found["Updates applied", "A"])[""] > 0.9


def test_the_fleet_counts_and_names_the_sick(monitored):
    found = filled(monitored, monitored.prometheus, BOARDS["fleet"])
    critical, warning = (newest(found[title, "A"])[""]
                         for title in ("Critical", "Warning"))
    assert critical + warning == len(SICK) and critical >= 4
    assert newest(found["Healthy", "A"])[""] == 2  # healthy, many
    assert newest(found["Daemons down", "A"])[""] == 0
    sick_with = {labels["run_id"]: labels["condition"] for labels, _ in
                 found["Runs, worst first", "B"]}
    assert set(sick_with) >= set(SICK)


def test_the_ops_board_names_the_op_that_is_always_bad(monitored):
    found = filled(monitored, monitored.prometheus, BOARDS["ops"],
                   run_id="it's")
    (labels, _), = found["Worst op", "A"]
    assert labels["op"].startswith("loss/")


def test_the_ranks_board_names_the_rank_that_differs(monitored):
    found = filled(monitored, monitored.prometheus, BOARDS["ranks"],
                   run_id="disagrees")
    assert newest(found["Scales differ by", "A"])[""] == 2
    sick = {rank for rank, value in newest(found["Ranks, worst first", "A"]
                                           ).items() if value >= 2}
    assert "2" in sick


@pytest.mark.parametrize("source", SOURCES)
def test_the_devices_board_puts_a_sick_rank_beside_its_device(monitored, source):
    found = filled(monitored, getattr(monitored, source), BOARDS["devices"])

    def beside(query):
        return {(labels["run_id"], labels["rank"], labels["host"]): points[-1][1]
                for labels, points in found[
                    "Ranks and their devices, sickest first", query]}

    codes, double, single, heat = map(beside, "BCDE")
    rank = ("disagrees", "2", "node-2")
    assert (codes[rank], double[rank], single[rank], heat[rank]) == (
        exporters.XID, 2, 7, 88)
    # An NPU, by the host that is scraped and its number.
    on_npu = ("drifts", "1", "node-1")
    assert (codes[on_npu], double[on_npu], heat[on_npu]) == (
        exporters.NPU_ERROR, 1, 52)
    assert set(codes) == {rank, on_npu}
    assert ("disagrees", "3", "node-3") not in double, "cannot count"
    assert heat["disagrees", "0", "node-0"] == 61
    assert newest(found["On a device with errors", "A"])[""] == 2
    assert newest(found["Hottest device", "A"])[""] == 88
    codes_over_time = {labels["rank"] for labels, _ in
                       found["Xid and error codes", "A"]
                       if labels["run_id"] == "disagrees"}
    assert codes_over_time == {"2"}


@pytest.mark.skipif(not ALL, reason="needs python3-matplotlib")
@pytest.mark.parametrize("name", BOARDS)
def test_a_board_can_be_drawn(monitored, name, tmp_path):
    from picture import draw
    source, path = monitored.prometheus, tmp_path / "board.png"
    chosen = choose(source, BOARDS[name], monitored.look, **(
        {"run_id": "collapse"} if name in OF_A_RUN else {}))
    draw(source, BOARDS[name], chosen, monitored.look, path)
    assert path.stat().st_size > 20_000
