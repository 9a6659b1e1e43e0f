"""The name of a run that nobody named: the script's, and when it began."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping

_MOST = 40  # characters of the script's name


def name_run(
    session: int, now: float, environment: Mapping[str, str], script: str
) -> str:
    """ "train-20261127-0341-7c3e": the last part keeps two runs of one minute
    apart."""
    clock = time.strftime("%Y%m%d-%H%M", time.localtime(now))
    return f"{_stem(environment, script)}-{clock}-{session & 0xFFFF:04x}"


def _stem(environment: Mapping[str, str], script: str) -> str:
    # Of a notebook, where its server says it.
    path = environment.get("JPY_SESSION_NAME") or script
    folder, name = os.path.split(path)
    if name == "__main__.py":
        name = os.path.basename(folder)
    stem = os.path.splitext(name)[0]
    if stem == "ipykernel_launcher":
        stem = "notebook"
    if stem in ("", "-c", "-"):
        stem = "python"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-")[:_MOST] or "run"


def script_of_program() -> str:
    return sys.argv[0] if getattr(sys, "argv", None) else ""
