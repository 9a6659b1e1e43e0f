"""Draws a dashboard out of what a data source answers, about as Grafana does.

To look at, not to compare by pixel: legends, axes and colours are near enough to
see what is empty, crowded, unreadable or out of scale. Needs matplotlib.
"""

import datetime
import math
import textwrap

import matplotlib

matplotlib.use("Agg")

from ask import interpolate, legend, queries  # noqa: E402
from matplotlib import dates, patches, pyplot, ticker  # noqa: E402

COLUMN, ROW, DPI = 0.68, 0.36, 72  # inches of a grid cell, dots an inch
PAGE, CARD, INK, FAINT = "#111217", "#181b1f", "#ccccdc", "#6e7280"
COLORS = {"green": "#73bf69", "blue": "#5794f2", "orange": "#ff9830",
          "red": "#f2495c", "purple": "#b877d9", "text": INK,
          "transparent": CARD, "dark-green": "#37872d"}
CLASSIC = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2",
           "#b877d9", "#96d98d", "#ffa6b0", "#c0d8ff")


def number(value, decimals=None):
    if decimals is None:
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return f"{value:,.{decimals}f}"


def scaled(value, factor, units, unit_space=""):
    size = 0
    while abs(value) >= factor and size + 1 < len(units):
        value, size = value / factor, size + 1
    return f"{value:.3g}{unit_space}{units[size]}"


def shown(value, field):
    """A value as Grafana writes it in the field's unit."""
    for mapping in field.get("mappings", []):
        text = mapping["options"].get(f"{value:.12g}", {}).get("text")
        if text:
            return text
    unit, decimals = field.get("unit", "none"), field.get("decimals")
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if unit == "percentunit":
        return number(100 * value, decimals) + "%"
    if unit in ("s",):
        for size, name in ((86400, "days"), (3600, "hours"), (60, "mins")):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return number(value, decimals) + " s"
    if unit in ("bytes", "Bps"):
        size = scaled(value, 1024, ("B", "KiB", "MiB", "GiB"), " ")
        return size + ("/s" if unit == "Bps" else "")
    if unit in ("short", "sishort"):
        return scaled(value, 1000, ("", " K", " Mil", " Bil"))
    if unit == "locale":
        return f"{value:,.{decimals or 0}f}"
    if unit == "dateTimeFromNow":
        ago = datetime.datetime.now().timestamp() - value / 1000
        return f"{ago:.0f} seconds ago"
    if unit.startswith("suffix:"):
        return number(value, decimals) + unit[7:]
    return number(value, decimals)


def color_of(value, field):
    for mapping in field.get("mappings", []):
        name = mapping["options"].get(f"{value:.12g}", {}).get("color")
        if name:
            return COLORS[name]
    name = "text"
    for step in field["thresholds"]["steps"]:
        if step["value"] is None or value >= step["value"]:
            name = step["color"]
    return COLORS[name]


def on(background):
    """The colour of text there."""
    return "#ffffff" if background == COLORS["dark-green"] else PAGE


def field_of(panel, name, ref=""):
    """The defaults with the overrides that take this field."""
    config = panel["fieldConfig"]
    field = {**config["defaults"],
             "custom": dict(config["defaults"].get("custom", {}))}
    for override in config["overrides"]:
        matcher = override["matcher"]
        if matcher["options"] != (name if matcher["id"] == "byName" else ref):
            continue
        for each in override["properties"]:
            if each["id"].startswith("custom."):
                field["custom"][each["id"][7:]] = each["value"]
            else:
                field[each["id"]] = each["value"]
    return field


def named(answers):
    """[(name, refId, labels, points)] of a panel's answers."""
    return [(legend(target, labels), target["refId"], labels, points)
            for target, series in answers for labels, points in series]


def draw_stat(axes, panel, answers):
    axes.axis("off")
    found = named(answers)
    options, count = panel["options"], max(len(found), 1)
    across = count if count <= 4 else math.ceil(count / 2)
    down = math.ceil(count / across)
    if not found:
        axes.text(0.5, 0.45, panel["fieldConfig"]["defaults"].get("noValue", "-"),
                  color=FAINT, ha="center", va="center", fontsize=15)
    for i, (name, ref, _, points) in enumerate(found):
        field = field_of(panel, name, ref)
        value = points[-1][1]
        color, x, y = color_of(value, field), i % across, i // across
        left, bottom = x / across, 1 - (y + 1) / down
        ink = color
        if options["colorMode"] == "background":
            axes.add_patch(patches.Rectangle(
                (left + 0.004, bottom + 0.02), 1 / across - 0.008,
                1 / down - 0.04, color=color, transform=axes.transAxes))
            ink = on(color)
        text = name if options["textMode"] == "name" else shown(value, field)
        width = COLUMN * panel["gridPos"]["w"] / across
        size = min(22, 120 * width / max(len(text), 3) * 0.75,
                   60 if down == 1 else 14)
        both = options["textMode"] == "value_and_name"
        axes.text(left + 0.5 / across, bottom + (0.36 if both else 0.5) / down,
                  text, color=ink, ha="center", va="center", fontsize=size,
                  fontweight="bold")
        if both:
            axes.text(left + 0.5 / across, bottom + 0.78 / down, name,
                      color=ink if ink != color else INK, ha="center",
                      va="center", fontsize=min(9, 110 * width / len(name)))


def times(points):
    return [datetime.datetime.fromtimestamp(t) for t, _ in points]


def with_gaps(points, step):
    """NaN where a sample is missing, so that the line breaks."""
    out = []
    for t, v in points:
        if out and t - out[-1][0] > 1.5 * step:
            out.append((out[-1][0] + step, math.nan))
        out.append((t, v if math.isfinite(v) else math.nan))
    return out


def regions(axes, annotations, look):
    for each, series in annotations:
        color = COLORS[each["iconColor"]]
        for _, points in series:
            if each["useValueForTime"]:
                at = {v / 1000 for _, v in points}
                runs = [[t, t] for t in at if look.start <= t <= look.end]
            else:
                runs = []
                for t, v in points:
                    if v <= 0:
                        continue
                    if runs and t - runs[-1][1] <= 1.01 * look.step:
                        runs[-1][1] = t
                    else:
                        runs.append([t, t])
            for begin, end in runs:
                begin, end = map(datetime.datetime.fromtimestamp, (begin, end))
                axes.axvline(begin, color=color, lw=0.8, ls=":")
                if end > begin:
                    axes.axvspan(begin, end, color=color, alpha=0.07, lw=0)


def draw_lines(axes, panel, answers, look, annotations):
    style_axes(axes, look)
    base = panel["fieldConfig"]["defaults"]
    custom = base["custom"]
    scale = custom["scaleDistribution"]
    if scale["type"] == "log":
        axes.set_yscale("log", base=scale["log"], nonpositive="mask")
    stacked = custom["stacking"]["mode"] == "normal"
    floor, drawn = {}, {}
    for i, (name, ref, _, points) in enumerate(named(answers)):
        field = field_of(panel, name, ref)
        mine = field["custom"]
        color = (COLORS.get(field["color"].get("fixedColor"))
                 or CLASSIC[i % len(CLASSIC)])
        points = with_gaps(points, look.step)
        x, y = times(points), [v for _, v in points]
        if stacked:
            low = [floor.get(t, 0.0) for t, _ in points]
            y = [a + b for a, b in zip(y, low)]
            floor.update({t: v for (t, _), v in zip(points, y)
                          if not math.isnan(v)})
        if mine["drawStyle"] == "points":
            axes.plot(x, y, "o", color=color, ms=4, label=name)
        elif mine["drawStyle"] == "bars":
            axes.bar(x, [v - b for v, b in zip(y, low)] if stacked else y,
                     bottom=low if stacked else 0, color=color, alpha=0.7,
                     width=look.step / 86400 * 0.8, label=name)
        else:
            dash = mine.get("lineStyle", {}).get("fill") == "dash"
            axes.plot(x, y, color=color, lw=1.2, ls="--" if dash else "-",
                      label=name)
            if mine["fillOpacity"] and "fillBelowTo" not in mine:
                low = low if stacked else 0
                axes.fill_between(x, low, y, color=color,
                                  alpha=mine["fillOpacity"] / 100, lw=0)
        drawn[name] = (x, y, color)
        if mine.get("fillBelowTo") in drawn or any(
                field_of(panel, n)["custom"].get("fillBelowTo") == name
                for n in drawn):
            (x1, y1, _), (_, y2, c) = drawn[name], next(iter(drawn.values()))
            if len(y1) == len(y2):
                axes.fill_between(x1, y1, y2, color=c, alpha=0.15, lw=0)
    if custom["thresholdsStyle"]["mode"] == "line":
        for step in base["thresholds"]["steps"][1:]:
            axes.axhline(step["value"], color=COLORS["red"], lw=0.8)
    regions(axes, annotations, look)
    if "min" in base and scale["type"] != "log":
        axes.set_ylim(bottom=base["min"])
    if "max" in base:
        axes.set_ylim(top=base["max"] * 1.02)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(
        lambda value, _: shown(value, {**base, "mappings": []})))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    if base.get("decimals") == 0 and scale["type"] != "log":
        axes.yaxis.set_major_locator(ticker.MaxNLocator(5, integer=True))
    if not drawn:
        axes.text(0.5, 0.5, panel["fieldConfig"]["defaults"].get(
            "noValue", "No data"), color=FAINT, ha="center", va="center",
                  transform=axes.transAxes)
        return
    many = len(drawn)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.1), frameon=False,
                labelcolor=INK, fontsize=6.5, ncol=2 if many > 3 else 1 if max(
                    map(len, drawn)) > 30 else 3, handlelength=1.2,
                columnspacing=1)


def style_axes(axes, look):
    axes.set_facecolor(CARD)
    axes.grid(color="#26292f", lw=0.6)
    axes.tick_params(colors=FAINT, labelsize=7, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlim(*map(datetime.datetime.fromtimestamp, (look.start, look.end)))
    axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M:%S"))
    axes.xaxis.set_major_locator(ticker.MaxNLocator(5))


def draw_timeline(axes, panel, answers, look):
    style_axes(axes, look)
    axes.grid(False)
    found = named(answers)
    for i, (name, ref, _, points) in enumerate(reversed(found)):
        field = field_of(panel, name, ref)
        for t, value in points:
            axes.barh(i, look.step / 86400 * 1.02, left=dates.date2num(
                datetime.datetime.fromtimestamp(t)), color=color_of(value, field),
                height=0.82)
    axes.set_yticks(range(len(found)),
                    [name[:28] for name, *_ in reversed(found)])
    axes.xaxis_date()
    if not found:
        axes.text(0.5, 0.5, panel["fieldConfig"]["defaults"].get(
            "noValue", "No data"), color=FAINT, ha="center", va="center",
                  transform=axes.transAxes)


def draw_ranking(axes, panel, answers):
    axes.axis("off")
    found = sorted(named(answers), key=lambda each: -each[3][-1][1])[:14]
    top = max([each[3][-1][1] for each in found], default=1) or 1
    if not found:
        axes.text(0.5, 0.5, panel["fieldConfig"]["defaults"].get("noValue", "-"),
                  color=FAINT, ha="center", va="center", fontsize=14)
    for i, (name, ref, _, points) in enumerate(found):
        field, value = field_of(panel, name, ref), points[-1][1]
        y = 1 - (i + 1) / max(len(found), 6)
        high = 0.7 / max(len(found), 6)
        axes.add_patch(patches.Rectangle((0.42, y), 0.44 * value / top, high,
                                         color=color_of(value, field)))
        axes.text(0.41, y + high / 2, name[-34:], color=INK, fontsize=7,
                  ha="right", va="center")
        axes.text(0.87, y + high / 2, shown(value, field), color=INK, fontsize=7,
                  va="center")


def rows_of(panel, answers):
    """What merge and organize make of the answers: columns, and rows."""
    merged = []
    keys = set.intersection(*({k for labels, _ in series for k in labels}
                              for _, series in answers if series), {"*"} | {
        k for _, series in answers for labels, _ in series for k in labels})
    value = "Value" if len(answers) == 1 else "Value #{}"
    for target, series in answers:
        for labels, points in series:
            row = {**labels, value.format(target["refId"]): points[-1][1]}
            for other in merged:
                if all(other.get(k) == row.get(k) for k in keys) and all(
                        other.get(k, v) == v for k, v in row.items()):
                    other.update(row)
                    break
            else:
                merged.append(row)
    organize = panel["transformations"][1]["options"]
    order = organize["indexByName"]
    columns = sorted({c for row in merged for c in row}
                     - set(organize["excludeByName"]),
                     key=lambda c: (order.get(c, 99), c))
    renamed = organize["renameByName"]
    rows = [{renamed.get(c, c): row[c] for c in columns if c in row}
            for row in merged]
    for each in panel["options"]["sortBy"]:
        rows.sort(key=lambda row: -(row.get(each["displayName"]) or 0))
    return [renamed.get(c, c) for c in columns], rows


def draw_table(axes, panel, answers):
    axes.axis("off")
    columns, rows = rows_of(panel, answers)
    most = round(panel["gridPos"]["h"] * 1.15)
    widths = [max([len(c)] + [len(cell(panel, c, row)[0]) for row in rows[:most]])
              + 2 for c in columns]
    total, y = sum(widths) or 1, 1 - 1 / (most + 1)
    for line in [None, *rows[:most]]:
        x = 0.0
        for name, width in zip(columns, widths):
            text, ink, back = (name, FAINT, None) if line is None else cell(
                panel, name, line)
            if back:
                axes.add_patch(patches.Rectangle(
                    (x / total, y), width / total, 0.9 / (most + 1), color=back))
            axes.text((x + 0.6) / total, y + 0.4 / (most + 1), text, color=ink,
                      fontsize=7.5, va="center")
            x += width
        y -= 1 / (most + 1)
    if len(rows) > most:
        axes.text(1, 0, f"{len(rows) - most} more", color=FAINT, fontsize=7,
                  ha="right")


def cell(panel, name, row):
    value, field = row.get(name), field_of(panel, name)
    if value is None:
        return "", INK, None
    if isinstance(value, str):
        return value[:40], COLORS["blue"] if field.get("links") else INK, None
    if field["custom"].get("cellOptions", {}).get("type") == "color-background":
        back = color_of(value, field)
        return shown(value, field), on(back), back
    return shown(value, field), INK, None


def draw(source, board, chosen, look, path):
    panels = board["panels"]
    high = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels)
    width, height = 24 * COLUMN, high * ROW + 0.5
    figure = pyplot.figure(figsize=(width, height), facecolor=PAGE)
    run = chosen.get("run_id")
    figure.text(0.005, 1 - 0.3 / height, board["title"] + (
        f"     run: {run}" if run else ""), color=INK, fontsize=12)
    annotations = []
    for each in board["annotations"]["list"]:
        expr = interpolate(each["expr"], board, chosen, look.words())
        annotations.append((each, source.series({"expr": expr}, look)))
    for panel in panels:
        at = panel["gridPos"]
        top = 1 - (0.5 + at["y"] * ROW) / height
        box = (at["x"] / 24, top - at["h"] * ROW / height, at["w"] / 24,
               at["h"] * ROW / height)
        if panel["type"] == "row":
            figure.text(0.005, box[1] + 0.1 / height, "v  " + panel["title"],
                        color=INK, fontsize=10)
            continue
        one(figure, box, panel, source, board, chosen, look, annotations)
    figure.savefig(path, dpi=DPI, facecolor=PAGE)
    pyplot.close(figure)


def one(figure, box, panel, source, board, chosen, look, annotations):
    width, height = figure.get_size_inches()
    x, y, w, h = box
    figure.patches.append(patches.FancyBboxPatch(
        (x + 0.03 / width, y + 0.03 / height), w - 0.06 / width,
        h - 0.06 / height, boxstyle="square,pad=0", transform=figure.transFigure,
        facecolor=CARD, edgecolor="#26292f", lw=0.7, zorder=-1))
    title = textwrap.shorten(panel["title"], int(w * 160), placeholder="...")
    figure.text(x + 0.09 / width, y + h - 0.2 / height, title, color=INK,
                fontsize=8.5, fontweight="bold")
    answers = [(target, source.series(target, look))
               for target in queries(board, panel, chosen, look)]
    kind = panel["type"]
    plot = kind in ("timeseries", "state-timeline")
    left = 0.12 if not plot else 0.65 if kind == "timeseries" else 1.5
    low = 0.1 if not plot else 0.3 if kind != "timeseries" else 0.75
    axes = figure.add_axes((x + left / width, y + low / height,
                            w - (left + 0.12) / width,
                            h - (low + 0.33) / height))
    {"stat": lambda: draw_stat(axes, panel, answers),
     "bargauge": lambda: draw_ranking(axes, panel, answers),
     "table": lambda: draw_table(axes, panel, answers),
     "state-timeline": lambda: draw_timeline(axes, panel, answers, look),
     "timeseries": lambda: draw_lines(axes, panel, answers, look, annotations),
     }[kind]()
