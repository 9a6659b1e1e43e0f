"""The table of RESULTS.md that tests/bench/run writes: what it measured, where
and with what."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "RESULTS.md"
BEGIN = "<!-- tests/bench/run --write: begin -->\n"
END = "<!-- tests/bench/run --write: end -->\n"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          cwd=HERE).stdout.strip()


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def versions(*packages):
    """"libgrpc++1.51 1.51.1-3", of what is installed."""
    return [f"{name} {output('dpkg-query', '-W', '-f=${Version}', name)}"
            for name in packages]


def where():
    """The machine, the commit and what it is built with, in one sentence."""
    parts = [
        f"commit {output('git', 'rev-parse', '--short=8', 'HEAD')}",
        f"{processor()}, {os.cpu_count()} cores",
        f"Linux {platform.release()}",
        *versions("g++", "libgrpc++1.51", "libprotobuf32", "libsqlite3-0",
                  "libzstd1"),
        f"load average {os.getloadavg()[2]:.0f} over 15 minutes"]
    return f"{datetime.date.today()}: " + "; ".join(parts) + "."


def table(rows):
    """Markdown of rows of (figure, measured, goal, whether it is met, note)."""
    lines = ["| figure | measured | goal | | |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {measured} | {goal} | {'met' if good else 'short'} "
              f"| {note} |" for name, measured, goal, good, note in rows]
    return "\n".join(lines) + "\n"


def write(rows):
    """Puts the table in the place of the one before."""
    page = PAGE.read_text()
    between = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), re.S)
    fresh = f"{BEGIN}{where()}\n\n{table(rows)}{END}"
    assert between.search(page), f"{PAGE}: no place for the table"
    PAGE.write_text(between.sub(lambda _: fresh, page))
