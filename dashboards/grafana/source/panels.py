"""A dashboard in a few lines a panel, as Grafana's classic JSON.

Standard library only. Words in capitals stand for label matchers (MATCHERS);
a panel says what it shows, what is normal and what to do otherwise, and which
alerts are about it; place and id follow from the order.
"""

import json
import re

RUNBOOKS = "https://nanwatch.example/runbooks"
# doublequote, since a run id may hold what means something in a regex, or ' .
MATCHERS = {
    "JOB": 'job=~"$job"',
    "DAEMON": 'job=~"$job", instance=~"$instance"',
    "RUN": 'job=~"$job", run_id=${run_id:doublequote}',
    "RANK": 'job=~"$job", run_id=${run_id:doublequote}, rank=~"$rank"',
}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
GREEN, BLUE, ORANGE, RED = "green", "blue", "orange", "red"
GREY = "text"
CALM = "dark-green"  # green as a background: what is sick stands out
# nanwatch_*_severity.
SEVERITY = {0: ("healthy", CALM), 1: ("note", BLUE), 2: ("WARNING", ORANGE),
            3: ("CRITICAL", RED)}
# nanwatch_condition_severity: of what was not collected nothing is found.
CONDITION = {**SEVERITY, 0: ("nothing", CALM)}
RUN_LINK = {
    "title": "Open this run",
    "url": "/d/nanwatch-run?var-datasource=${datasource}&var-job=$__all"
           "&var-run_id=${__value.text:percentencode}&${__url_time_range}",
}


def expand(text):
    """The words of MATCHERS inside braces become matchers."""
    def matchers(found):
        return re.sub(r"\b(" + "|".join(MATCHERS) + r")\b",
                      lambda word: MATCHERS[word[1]], found[0])
    return " ".join(re.sub(r"\{[^{}]*\}", matchers, text).split())


def q(expr, legend="", **more):
    """A query over time; `now()` makes one of the newest values."""
    return {"expr": expand(expr), "legendFormat": legend or "__auto",
            "range": True, "instant": False, **more}


def now(expr, legend="", **more):
    return q(expr, legend, range=False, instant=True, **more)


def column(expr):
    """Of a table: labels are columns, and so is the value."""
    return now(expr, format="table")


def mapping(texts):
    return [{"type": "value", "options": {
        str(value): {"text": text, "color": color, "index": i}
        for i, (value, (text, color)) in enumerate(texts.items())}}]


def steps(*pairs):
    """From a base colour on: steps("green", (0.5, "orange"), (1, "red"))."""
    base, *rest = pairs
    return {"mode": "absolute", "steps": [
        {"color": base, "value": None},
        *({"color": color, "value": value} for value, color in rest)]}


PLAIN = steps(GREEN)
BY_SEVERITY = steps(CALM, (1, BLUE), (2, ORANGE), (3, RED))


def override(matcher, options, **properties):
    """Of the fields that `matcher` takes; "custom_x" is the property custom.x."""
    return {"matcher": {"id": matcher, "options": options}, "properties": [
        {"id": name.replace("custom_", "custom.", 1), "value": value}
        for name, value in properties.items()]}


def series(name, **properties):
    return override("byName", name, **properties)


def color(name):
    return {"mode": "fixed", "fixedColor": name}


def marks(name, its_color=RED):
    """A series drawn as points only."""
    return series(name, custom_drawStyle="points", custom_pointSize=7,
                  custom_showPoints="always", color=color(its_color))


def dashed(name, its_color=GREY):
    return series(name, custom_lineStyle={"fill": "dash", "dash": [8, 6]},
                  custom_lineWidth=1, color=color(its_color))


def link(title, url):
    return {"title": title, "type": "link", "url": url, "icon": "external link",
            "tooltip": title, "tags": [], "asDropdown": False,
            "targetBlank": True, "includeVars": False, "keepTime": False}


def panel(kind, title, queries, unit, says, normal, do, *, width, alerts=(),
          texts=None, thresholds=PLAIN, palette="thresholds", decimals=None,
          bottom=None, top=None, none=None, custom=None, overrides=(),
          options=None, links=(), transformations=()):
    """`bottom` and `top` are those of the unit, such as 0 and 1 of a share."""
    defaults = {"unit": unit, "thresholds": thresholds,
                "mappings": mapping(texts) if texts else [],
                "color": {"mode": palette}, "custom": custom or {}}
    for name, value in (("decimals", decimals), ("min", bottom), ("max", top),
                        ("noValue", none), ("links", list(links) or None)):
        if value is not None:
            defaults[name] = value
    queries = [queries] if isinstance(queries, dict) else list(queries)
    out = {
        "type": kind,
        "title": title,
        "description": description(says, normal, do, alerts),
        "datasource": DATASOURCE,
        "targets": [{"refId": chr(ord("A") + i), "datasource": DATASOURCE,
                     "editorMode": "code", **query}
                    for i, query in enumerate(queries)],
        "fieldConfig": {"defaults": defaults, "overrides": list(overrides)},
        "options": options or {},
        "links": [link(f"Runbook: {name}", f"{RUNBOOKS}/{name}.md")
                  for name in alerts],
        "width": width,
    }
    if transformations:
        out["transformations"] = list(transformations)
    return out


def description(says, normal, do, alerts):
    text = f"{says}\n\n**Normal:** {normal}\n\n**Otherwise:** {do}"
    if alerts:
        text += "\n\n**Alerts:** " + ", ".join(
            f"[{name}]({RUNBOOKS}/{name}.md)" for name in alerts)
    return text


def stat(title, query, unit, *words, names=False, width=4, filled=False,
         thresholds=PLAIN, **more):
    """One number, or one a series with its name."""
    if filled:
        thresholds = {**thresholds, "steps": [
            {**each, "color": CALM if each["color"] == GREEN else each["color"]}
            for each in thresholds["steps"]]}
    return panel("stat", title, query, unit, *words, width=width, options={
        "colorMode": "background" if filled else "value",
        "graphMode": "none",
        "justifyMode": "center" if names else "auto",
        "orientation": "auto",
        "textMode": {False: "value", True: "value_and_name",
                     "only": "name"}[names],
        "wideLayout": True,
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "",
                          "values": False},
    }, thresholds=thresholds, **more)


def lines(title, queries, unit, *words, log=None, fill=0, stack=False,
          bars=False, width=8, limit=None, legend="list", **more):
    """Over time. `log` is the base of the axis; `limit` (thresholds) is drawn."""
    custom = {
        "drawStyle": "bars" if bars else "line",
        "lineInterpolation": "linear",
        "lineWidth": 1,
        "fillOpacity": 70 if bars else fill,
        "showPoints": "never",
        "spanNulls": False,
        "axisPlacement": "auto",
        "axisBorderShow": False,
        "scaleDistribution": {"type": "log", "log": log} if log else
                             {"type": "linear"},
        "stacking": {"mode": "normal" if stack else "none", "group": "A"},
        "thresholdsStyle": {"mode": "line" if limit else "off"},
    }
    return panel(
        "timeseries", title, queries, unit, *words, width=width,
        palette="palette-classic", thresholds=limit or PLAIN, custom=custom,
        options={"legend": {"displayMode": legend, "placement": "bottom",
                            "showLegend": True,
                            "calcs": ["lastNotNull", "max"]
                            if legend == "table" else []},
                 "tooltip": {"mode": "multi", "sort": "desc"}},
        **more)


def timeline(title, query, *words, width=24, texts=SEVERITY, **more):
    """What state when, a row a series."""
    return panel(
        "state-timeline", title, query, "none", *words, width=width,
        texts=texts, palette="thresholds",
        thresholds=BY_SEVERITY,
        custom={"lineWidth": 0, "fillOpacity": 85},
        options={"mergeValues": True, "showValue": "never", "alignValue": "left",
                 "rowHeight": 0.85,
                 "legend": {"displayMode": "list", "placement": "bottom",
                            "showLegend": False, "calcs": []},
                 "tooltip": {"mode": "single", "sort": "none"}}, **more)


def ranking(title, query, unit, *words, width=8, **more):
    """Bars beside names, the longest first."""
    return panel(
        "bargauge", title, query, unit, *words, width=width,
        options={"displayMode": "gradient", "orientation": "horizontal",
                 "showUnfilled": True, "valueMode": "color",
                 "namePlacement": "auto", "sizing": "auto", "minVizHeight": 16,
                 "minVizWidth": 8, "maxVizHeight": 300,
                 "reduceOptions": {"calcs": ["lastNotNull"], "fields": "",
                                   "values": False}}, **more)


def table(title, columns, *words, labels=None, sort=None, width=24, **more):
    """Of `columns` each is a query and its field's properties. Without a query
    it is a label (`labels` has its name where the column has another), without
    properties it brings labels only. A row is a set of the labels that all
    queries have in common."""
    queries, overrides, hidden = [], [], {"Time": True}
    renamed = dict(labels or {})
    for name, (expr, properties) in columns.items():
        if expr is not None:
            ref = chr(ord("A") + len(queries))
            queries.append(column(expr))
            if properties is None:
                hidden[f"Value #{ref}"] = True
                continue
            renamed[f"Value #{ref}"] = name
        if properties:
            overrides.append(series(name, **properties))
    shown = {new: old for old, new in renamed.items()}
    order = {shown.get(name, name): i for i, name in enumerate(columns)}
    return panel(
        "table", title, queries, "short", *words, width=width,
        custom={"align": "auto", "cellOptions": {"type": "auto"},
                "filterable": True, "inspect": False},
        overrides=overrides,
        options={"showHeader": True, "cellHeight": "sm", "sortBy": [
            {"displayName": sort, "desc": True}] if sort else []},
        transformations=[
            {"id": "merge", "options": {}},
            {"id": "organize", "options": {
                "excludeByName": hidden, "includeByName": {},
                "indexByName": order, "renameByName": renamed}}], **more)


# ------------------------------------------------------------------ variables

def variable(name, label, query, *, many=False, all_value=".+", hidden=False):
    query = expand(query)
    out = {
        "name": name, "label": label, "type": "query", "hide": 2 * hidden,
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": "variable", "qryType": 5},
        "refresh": 2, "sort": 7, "regex": "", "multi": many,
        "includeAll": many, "options": [], "skipUrlSync": False,
    }
    if many:
        out["allValue"] = all_value
        out["current"] = {"selected": True, "text": "All", "value": "$__all"}
    return out


SOURCE = {
    "name": "datasource", "label": "Data source", "type": "datasource",
    "query": "prometheus", "hide": 0, "refresh": 1, "regex": "",
    "multi": False, "includeAll": False, "options": [], "skipUrlSync": False,
}
JOBS = variable("job", "job", "label_values(nanwatch_build_info, job)",
                many=True)
RUNS = variable("run_id", "run", "label_values(nanwatch_run_info{JOB}, run_id)")
# The daemon that watches the run, for the link to its page.
PAGE = variable("instance", "instance",
                "label_values(nanwatch_run_info{RUN}, instance)", hidden=True)


# ---------------------------------------------------------------- annotations

def annotation(name, its_color, expr, title, text, at_value=False):
    return {"name": name, "datasource": DATASOURCE, "enable": True,
            "hide": False, "iconColor": its_color, "expr": expand(expr),
            "step": "", "titleFormat": title, "textFormat": text,
            "tagKeys": "condition", "useValueForTime": at_value}


# Values above 0 that follow one another are one region.
INCIDENTS = (
    annotation("critical", RED, "max by (condition) "
               "(nanwatch_condition_severity{RUN}) == 3",
               "CRITICAL: {{condition}}", "The daemon's sentence: nanwatch page"),
    annotation("warning", ORANGE, "max by (condition) "
               "(nanwatch_condition_severity{RUN}) == 2",
               "WARNING: {{condition}}", "The daemon's sentence: nanwatch page"),
    annotation("attempt", BLUE, "max by (run_id) "
               "(nanwatch_run_opened_timestamp_seconds{RUN}) * 1000",
               "The run, or its next attempt, began", "{{run_id}}",
               at_value=True),
    annotation("stop", "purple", "max by (run_id) "
               "(nanwatch_stop_requested{RUN}) > 0",
               "Somebody asked the run to stop", "{{run_id}}"),
)


# ---------------------------------------------------------------------- board

BOARDS = {"title": "nanwatch", "type": "dashboards", "tags": ["nanwatch"],
          "asDropdown": False, "includeVars": True, "keepTime": True,
          "targetBlank": False, "icon": "external link", "tooltip": "",
          "url": ""}
RUN_PAGE = link("nanwatch page", "http://${instance}/"
                "?run=${run_id:percentencode}")


def board(uid, title, says, variables, rows, *, links=(), annotations=(),
          refresh="30s", since="now-1h"):
    """`rows` are headings and (height, panels), from the top down."""
    panels, y = [], 0
    for row in rows:
        if isinstance(row, str):
            panels.append({"type": "row", "title": row, "collapsed": False,
                           "gridPos": {"h": 1, "w": 24, "x": 0, "y": y},
                           "panels": []})
            y += 1
            continue
        height, members = row
        x = 0
        for each in members:
            width = each.pop("width")
            panels.append({**each, "gridPos": {"h": height, "w": width, "x": x,
                                               "y": y}})
            x += width
        y += height
    for i, each in enumerate(panels, 1):
        each["id"] = i
    return {
        "id": None, "uid": uid, "title": f"nanwatch / {title}",
        "description": says, "tags": ["nanwatch"], "editable": False,
        "graphTooltip": 1, "schemaVersion": 39, "version": 1,
        "timezone": "browser", "refresh": refresh, "fiscalYearStartMonth": 0,
        "liveNow": False, "weekStart": "",
        "time": {"from": since, "to": "now"}, "timepicker": {},
        "templating": {"list": [SOURCE, *variables]},
        "annotations": {"list": list(annotations)},
        "links": [BOARDS, *links, link("Runbooks", f"{RUNBOOKS}/README.md")],
        "panels": panels,
    }


def text_of(it):
    return json.dumps(it, indent=2, ensure_ascii=False) + "\n"
