"""How cost grows with the work, drawn into growth.png beside this file: CPU a
record over ranks, CPU a status over ops a step, memory over ranks, a restart over
the steps that its history holds, the page's picture of a run over its steps.
Nothing is asserted.

growth.py [PICTURE], with python3-matplotlib."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import matplotlib  # noqa: E402

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pages  # noqa: E402
from conftest import BIN, Daemon  # noqa: E402
from peers import used  # noqa: E402

RECORDS = 1_000_000  # of each point, about
OPENS = 8  # connections at most


def load(daemon, *arguments):
    return subprocess.run(
        [str(BIN / "nanwatch-bench-load"), "--address", daemon.address,
         *map(str, arguments)], check=True, capture_output=True, text=True)


def fresh(folder, history=True):
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    return Daemon(place).start(
        extra=() if history else ("--history", "off"))


def connections(ranks):
    many = min(OPENS, ranks)
    return many, ranks // many


def cpu_over_ranks(folder, ranks):
    """us of CPU a record of `ranks` ranks that take turns."""
    daemon = fresh(folder, history=False)
    many, sessions = connections(ranks)
    batches = max(RECORDS // 100 // many // sessions, 1) * sessions
    before = used(daemon.process.pid)
    load(daemon, "--connections", many, "--sessions", sessions,
         "--batches", batches)
    taken = used(daemon.process.pid) - before
    daemon.kill()
    return taken / (many * batches * 100) * 1e6


def cpu_over_ops(folder, ops):
    """us of CPU a status, `ops` of them a step."""
    daemon = fresh(folder, history=False)
    before = used(daemon.process.pid)
    load(daemon, "--kind", "ops", "--rows", ops, "--batches", 5_000_000 // ops)
    taken = used(daemon.process.pid) - before
    daemon.kill()
    return taken / (5_000_000 // ops * ops) * 1e6


def memory_over_ranks(folder, ranks):
    """MB of the daemon's own, history on."""
    daemon = fresh(folder)
    many, sessions = connections(ranks)
    load(daemon, "--connections", many, "--sessions", sessions,
         "--batches", 10 * sessions, "--hold-ms", 0)
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    daemon.kill()
    return next(int(line.split()[1]) / 1024 for line in status.split("\n")
                if line.startswith("RssAnon"))


def restart_and_page_over_steps(folder, steps):
    """(s of CPU until it is ready again, ms of the API's picture)."""
    daemon = fresh(folder)
    load(daemon, "--batches", steps // 100, "--window", 1024)
    daemon.kill()
    daemon.start()
    restart = used(daemon.process.pid)
    path, _ = pages.only_run(daemon.http)
    picture = pages.answer_ms(daemon.http, path, times=5)
    daemon.kill()
    return restart, picture


def measure(folder):
    ranks = [1, 8, 64, 512, 4096]
    ops = [10, 100, 1000, 4000]
    steps = [10_000, 100_000, 1_000_000, 4_000_000]
    of_steps = [restart_and_page_over_steps(folder, n) for n in steps]
    return {
        "CPU a record, us, over ranks":
            (ranks, [cpu_over_ranks(folder, n) for n in ranks]),
        "CPU an op status, us, over ops a step":
            (ops, [cpu_over_ops(folder, n) for n in ops]),
        "memory of its own, MB, over ranks":
            (ranks, [memory_over_ranks(folder, n) for n in ranks]),
        "CPU of a restart, s, over steps":
            (steps, [restart for restart, _ in of_steps]),
        "the page's picture, ms, over steps":
            (steps, [picture for _, picture in of_steps]),
    }


def draw(curves, path):
    figure, axes = plt.subplots(1, len(curves), figsize=(4 * len(curves), 3.2))
    for axis, (title, (x, y)) in zip(axes, curves.items()):
        axis.plot(x, y, marker="o")
        axis.set_xscale("log")
        axis.set_ylim(0, 1.3 * max(y))
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
        for at, value in zip(x, y):
            axis.annotate(f"{value:.3g}", (at, value), fontsize=8,
                          textcoords="offset points", xytext=(0, 6),
                          ha="center")
    figure.suptitle(f"nanwatchd, {time.strftime('%Y-%m-%d')}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    picture = (sys.argv[1] if len(sys.argv) > 1
               else pathlib.Path(__file__).with_name("growth.png"))
    with tempfile.TemporaryDirectory(prefix="nwg-") as folder:
        curves = measure(folder)
    for title, points in curves.items():
        print(title, json.dumps([round(value, 3) for value in points[1]]))
    draw(curves, picture)


if __name__ == "__main__":
    main()
