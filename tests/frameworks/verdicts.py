"""What the daemon says of a run, as tests ask for it."""

import json
import re


class Verdict:
    def __init__(self, daemon, run):
        shown = daemon.nanwatch("diagnose", run, "--json")
        said = json.loads(shown.stdout)
        self.text = daemon.nanwatch("show", run, "--all").stdout
        self.summary = said["summary"]
        self.causes = said.get("causes", [])
        self.incidents = said.get("incidents", [])
        self.headline = self.summary["headline"]
        self.steps = int(self.summary["steps"])
        self.info = said["info"]

    @property
    def worst(self):
        """"critical", "warning", "info"; "" where nothing was found."""
        worst = self.summary.get("worst", "")
        worst = worst.replace("SEVERITY_", "").lower()
        return "" if worst in ("unspecified", "none") else worst

    @property
    def cause(self):
        return self.causes[0]["cause"] if self.causes else ""

    @property
    def origin(self):
        return self.causes[0].get("origin", {}) if self.causes else {}

    @property
    def step(self):
        return int(self.causes[0].get("step", -1)) if self.causes else -1

    def bad_ops(self):
        """(op, slot) to the first bad step, as `show` lists them."""
        found = re.findall(
            r"^  (\S+) +(\w+) +[\d,]+ times?, steps? (\d+)", self.text, re.M)
        return {(op, slot): int(step) for op, slot, step in found}

    def __repr__(self):
        return (f"{self.worst or 'healthy'}: {self.headline}\n{self.cause} "
                f"{self.origin} step {self.step}\n{self.text}")
