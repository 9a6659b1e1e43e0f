"""Asks Prometheus or VictoriaMetrics what Grafana would ask for a dashboard."""

import dataclasses
import json
import math
import re
import urllib.error
import urllib.parse
import urllib.request

ALL = "$__all"


class Refused(Exception):
    """The data source did not take a query; says which, and why."""


@dataclasses.dataclass
class Look:
    """The time that is looked at, and what its queries become."""

    start: float  # Unix seconds
    end: float
    scrape: float = 15.0  # seconds, as the data source is configured
    points: int = 100  # a series at most, from the width of a panel

    @property
    def step(self):
        return max(self.scrape, (self.end - self.start) / self.points)

    def words(self):
        interval = round(self.step * 1000)
        scrape = round(self.scrape * 1000)
        span = self.end - self.start
        return {
            "__interval": f"{interval}ms", "__interval_ms": str(interval),
            "__rate_interval": f"{max(interval + scrape, 4 * scrape)}ms",
            "__range": f"{round(span)}s", "__range_s": str(round(span)),
            "__range_ms": str(round(span * 1000)),
        }


def plain(value):
    return value.replace("\\", "\\\\").replace("'", "\\\\'")


def in_regex(value):
    return re.sub(r"[$^*{}\[\]'+?.()|]", lambda c: "\\\\" + c[0],
                  value.replace("\\", "\\\\\\\\"))


def formatted(variable, chosen, style):
    """How a variable's chosen values stand in a query."""
    several = variable.get("multi") or variable.get("includeAll")
    if chosen == ALL:
        return variable.get("allValue") or ".*"
    values = [chosen] if isinstance(chosen, str) else chosen
    if style == "doublequote":
        return ",".join('"' + v.replace('"', '\\"') + '"' for v in values)
    if style:
        raise Refused(f"a format that this does not know: {style}")
    if not several:
        return plain(values[0])
    found = [in_regex(v) for v in values]
    return found[0] if len(found) == 1 else "(" + "|".join(found) + ")"


def interpolate(text, board, chosen, words):
    variables = {v["name"]: v for v in board["templating"]["list"]}

    def one(found):
        name, style = found[1] or found[3], found[2]
        if name in words:
            return words[name]
        if name.isdigit():  # of a label_replace
            return found[0]
        if name not in chosen:
            raise Refused(f"no such variable: {name} in {text}")
        return formatted(variables[name], chosen[name], style)

    return re.sub(r"\$(?:\{(\w+)(?::(\w+))?\}|(\w+))", one, text)


class Source:
    """A data source; it is asked over its HTTP API."""

    def __init__(self, url):
        self.url = url

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{query}",
                                        timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise Refused(f"{parameters}: {error.read().decode()}") from None

    def values_of(self, query, look):
        """What a variable may be: of label_values(METRIC, LABEL)."""
        metric, label = re.fullmatch(r"label_values\((.*), *(\w+)\)",
                                     query).groups()
        return sorted(self.get(f"/api/v1/label/{label}/values",
                               **{"match[]": metric}, start=look.start,
                               end=look.end))

    def series(self, target, look):
        """[(labels, [(time, value)])], NaN left out as Grafana draws it."""
        if target.get("instant"):
            found = self.get("/api/v1/query", query=target["expr"],
                             time=look.end)["result"]
        else:
            found = self.get("/api/v1/query_range", query=target["expr"],
                             start=look.start, end=look.end,
                             step=look.step)["result"]
        out = []
        for each in found:
            points = each.get("values") or [each["value"]]
            points = [(float(t), float(v)) for t, v in points]
            points = [(t, v) for t, v in points if not math.isnan(v)]
            if points:
                out.append((each["metric"], points))
        return out


def choose(source, board, look, **given):
    """Values of all variables, as if the dashboard was opened by a link that
    gives some: of the others All, or the first."""
    chosen = {}
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "datasource":
            chosen[name] = "prometheus"
        elif name in given:
            chosen[name] = given[name]
        elif variable["includeAll"]:
            chosen[name] = ALL
        else:
            options = options_of(source, board, variable, look, chosen)
            chosen[name] = options[0] if options else ""
    return chosen


def options_of(source, board, variable, look, chosen):
    query = interpolate(variable["query"]["query"], board, chosen, look.words())
    return source.values_of(query, look)


def queries(board, panel, chosen, look):
    """The panel's targets with everything filled in."""
    return [{**target, "expr": interpolate(target["expr"], board, chosen,
                                           look.words())}
            for target in panel.get("targets", [])]


def legend(target, labels):
    text = target.get("legendFormat", "__auto")
    if text == "__auto":
        return ", ".join(f"{k}={v}" for k, v in sorted(labels.items())
                         if k != "__name__") or "value"
    return re.sub(r"\{\{\s*(\w+)\s*\}\}",
                  lambda name: labels.get(name[1], ""), text)
