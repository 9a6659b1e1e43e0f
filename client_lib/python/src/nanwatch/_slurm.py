"""Why a process of a Slurm job ends, where a signal does not say it: at the end
of the job's time Slurm sends the one that scancel sends, too."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Slurm looks at time limits each 30 s (slurm.conf, OverTimeLimit), so it never
# ends a job before; clocks of a cluster differ by less than this.
_SECONDS_BEFORE = 2.0


def why_ended(environment: Mapping[str, str], now: float) -> str:
    """Of a SIGTERM at `now`, in seconds since 1970; empty: not known."""
    job = environment.get("SLURM_JOB_ID", "")
    if not re.fullmatch(r"[0-9]{1,10}", job):
        return ""
    end = environment.get("SLURM_JOB_END_TIME", "")  # from 23.02 on
    # Before that of deploy/slurm/task_prolog, "JOB:SECONDS": a job that another
    # one submits inherits that one's.
    of, _, noted = environment.get("NANWATCH_SLURM_END", "").partition(":")
    if of == job:
        end = noted
    if not re.fullmatch(r"[0-9]{1,12}", end):
        return f"in Slurm job {job}"
    if now >= int(end) - _SECONDS_BEFORE:
        return f"the time limit of Slurm job {job}"
    # Cancelled, requeued or preempted; by a launcher, since another worker
    # failed; or by sbatch --signal. Nobody says which.
    return f"{_span(int(end) - now)} before the time limit of Slurm job {job}"


def _span(seconds: float) -> str:
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{round(seconds / unit)} {name}"
    return f"{round(seconds)} s"
