"""Are the dashboards of the types that Grafana publishes (npm: @grafana/schema)?

Writes each as a TypeScript literal and lets the compiler look: unknown names,
missing ones, wrong types and values outside an enum are errors. Options and
custom fields of panels are looked at by their panel's own type.

usage: tests/lint/grafana_types.py    (needs npm; fetches 30 MB once, into
${XDG_CACHE_HOME:-~/.cache}/nanwatch/grafana_types)
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("@grafana/schema@13.2.3", "typescript@5.9.3")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                     or pathlib.Path.home() / ".cache")
FOLDER = CACHE / "nanwatch/grafana_types"
PANELS = {"stat": "Stat", "timeseries": "TimeSeries", "table": "Table",
          "state-timeline": "StateTimeline", "bargauge": "BarGauge"}
# What classic JSON has and the types leave to a plugin, or write as its default.
ANNOTATION = ("expr", "step", "titleFormat", "textFormat", "tagKeys",
              "useValueForTime")
# Enums as the texts and numbers that JSON has; a threshold's base is null.
HEAD = """\
import type * as g from '@grafana/schema';
type Json<T> = T extends string ? `${T}` :
  T extends number ? (number extends T ? number : `${T}` extends
    `${infer N extends number}` ? N : never) :
  T extends boolean | null | undefined ? T :
  T extends Array<infer U> ? Json<U>[] :
  T extends object ? {[K in keyof T]: Json<T[K]>} : T;
type Steps = {mode: 'absolute' | 'percentage',
              steps: {color: string, value: number | null}[]};
type Defaults = Omit<Json<g.FieldConfig>, 'thresholds' | 'custom'> &
  {thresholds?: Steps, custom?: unknown};
type Panel = Omit<Json<g.Panel>, 'fieldConfig' | 'options'> & {options?: unknown,
  fieldConfig: {defaults: Defaults, overrides: Json<g.FieldConfigSource>['overrides']}};
type Board = Omit<Json<g.Dashboard>, 'panels'> & {
  panels: (Panel | Json<g.RowPanel>)[]};
"""


def module(kind):
    name = PANELS[kind]
    return (f"@grafana/schema/dist/esm/raw/composable/{name.lower()}/panelcfg/x/"
            f"{name}PanelCfg_types.gen")


def literal(name, kind, value):
    return f"export const {name}: {kind} = {json.dumps(value, indent=1)};\n"


def program(boards):
    out = [HEAD]
    for kind, name in PANELS.items():
        out.append(f"import type * as {name} from '{module(kind)}';\n")
    for i, board in enumerate(boards):
        for each in board["annotations"]["list"]:
            assert each["expr"]
            for plugins_own in ANNOTATION:
                each.pop(plugins_own)
        for panel in board["panels"]:
            if panel["type"] == "row":
                continue
            name = f"b{i}p{panel['id']}"
            of = PANELS[panel["type"]]
            custom = panel["fieldConfig"]["defaults"]["custom"]
            out.append(literal(f"{name}o", f"Partial<Json<{of}.Options>>",
                               panel["options"]))
            if of not in ("Stat", "BarGauge"):
                out.append(literal(f"{name}c", "Partial<Json<"
                                   f"{of}.FieldConfig>>", custom))
            else:
                assert custom == {}
        out.append(literal(f"b{i}", "Board", board))
    return "".join(out)


def fetched():
    if not (FOLDER / "node_modules/typescript/bin/tsc").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "package.json").write_text('{"private": true}\n')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund",
                        "--ignore-scripts", "--prefix", FOLDER, *PACKAGES],
                       check=True)
    return FOLDER


def complaints(boards):
    """What the compiler says; nothing when all is well."""
    folder = fetched()
    (folder / "boards.ts").write_text(program(boards))
    done = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict",
         "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler",
         "--target", "es2022", "boards.ts"],
        cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


def read_boards():
    return [json.loads(path.read_text()) for path in
            sorted((ROOT / "dashboards/grafana/json").glob("*.json"))]


if __name__ == "__main__":
    said = complaints(read_boards())
    print(said, end="")
    sys.exit(bool(said))
