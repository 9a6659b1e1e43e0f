"""Draws all dashboards as they show a daemon with a healthy run and one of each
pathology, to be looked at.

usage: tests/e2e/dashboard_pictures.py FOLDER [SECONDS]    (default: 60)

Needs what tests/packages and tests/packages_of_all name.
"""

import json
import pathlib
import sys
import tempfile

from conftest import ROOT
from monitored_runs import SICK, MonitoredRuns

from ask import choose  # noqa: E402
from picture import draw  # noqa: E402

SHOWN = {"run": ("healthy", *SICK), "ranks": ("disagrees", "many"),
         "ops": ("it's", "nan"), "fleet": (None,), "daemon": (None,)}


def main(folder, seconds="60"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nw-") as own:
        runs = MonitoredRuns(own, float(seconds))
        try:
            runs.start()
            for name, run_ids in SHOWN.items():
                board = json.loads((ROOT / "dashboards/grafana/json" /
                                    f"nanwatch-{name}.json").read_text())
                for run_id in run_ids:
                    given = {"run_id": run_id} if run_id else {}
                    chosen = choose(runs.prometheus, board, runs.look, **given)
                    path = folder / ("-".join([name, *given.values()]) + ".png")
                    draw(runs.prometheus, board, chosen, runs.look, path)
                    print(path)
        finally:
            runs.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
