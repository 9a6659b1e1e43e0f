"""Jobs of a real Slurm report to the daemon of their node: what docs/SLURM.md
says, with the paths of a test in the place of its own."""

import json
import os
import re
import sys
import tempfile

import pytest

from conftest import ROOT, Daemon, wait_for
from slurm_site import Slurm

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm is started by root"),
    # Its scheduler takes its time, minutes on a machine that is busy.
    pytest.mark.skipif(not os.environ.get("NANWATCH_TEST_ALL"),
                       reason="slow; under NANWATCH_TEST_ALL=1")]

PAGE = (ROOT / "docs/SLURM.md").read_text()
CONF = re.search(r"```ini\n(.*?)```", PAGE, re.S)[1]
BATCH = re.search(r"```sh job\n(.*?)```", PAGE, re.S)[1]
TRAINING = """
import sys, time
import nanwatch
with nanwatch.init() as run:
    for i in range(int(sys.argv[1])):
        run.step(i, loss=2 * 0.999**i)
        time.sleep(0.02)
"""
ENDLESS = 100_000
# A site's own prolog before ours: that job's time is over in some seconds,
# where the shortest that sbatch takes is a minute.
SHORT = """#!/bin/sh
if [ "$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%j)" = short ]; then
  scontrol update jobid="$SLURM_JOB_ID" EndTime=now+5seconds
fi
"""


@pytest.fixture(scope="module")
def site():
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        daemon = Daemon(name)
        slurm = Slurm(name, daemon)
        try:
            daemon.start()
            slurm.start(CONF)
            prolog = slurm.folder / "nanwatch/prolog"
            prolog.write_text(SHORT + prolog.read_text())
            (slurm.folder / "train.py").write_text(TRAINING)
            slurm.daemon = daemon
            yield slurm
        finally:
            slurm.stop()
            daemon.kill()


@pytest.fixture(scope="module")
def jobs(site):
    """All of them at once, by what becomes of each."""

    def submit(name, steps, *options, srun="srun "):
        script = site.folder / f"{name}.sh"
        command = (f"env PYTHONPATH={ROOT}/client_lib/python/src "
                   f"{sys.executable} train.py {steps}")
        assert BATCH.count("srun python train.py") == 1
        script.write_text(BATCH.replace("srun python train.py", srun + command))
        return site.submit(script, *options, f"--job-name={name}")

    return {
        "trains": submit("my training", 20),
        "sweep": submit("sweep", 20, "--array=0-1", "--ntasks=1"),
        "short": submit("short", ENDLESS, "--time=10", "--ntasks=1"),
        "cancelled": submit("cancelled", ENDLESS, "--time=10", "--ntasks=1"),
        "alone": submit("alone", ENDLESS, "--ntasks=1", srun="exec "),
        "requeued": submit("requeued", ENDLESS, "--time=10", "--ntasks=1"),
    }


def summary(site, run, *more):
    """Empty: there is no such run, or it is none of those yet."""
    shown = site.daemon.nanwatch("show", run, "--json", *more, check=False)
    return json.loads(shown.stdout)["summary"] if shown.stdout else {}


def closed(site, run, attempt=0):
    """Its summary, once it has ended."""
    def it():
        found = summary(site, run, "--attempt", str(attempt))
        return found if found.get("state") == "LIFE_STATE_CLOSED" else None
    return wait_for(f"{run} has ended", it, seconds=90, every=0.5,
                    instead=site.said)


def trains(site, run, attempt=0):
    return wait_for(
        f"{run} trains", lambda: summary(site, run, "--attempt", str(attempt)),
        seconds=60, every=0.5, instead=site.said)


def test_a_job_is_a_run_and_a_task_a_rank(site, jobs):
    run = closed(site, f"slurm-{jobs['trains']}.0")
    assert run["job"] == "my training"
    assert run["end_reason"] == "all ranks closed"


def test_each_task_of_an_array_is_a_run(site, jobs):
    array = jobs["sweep"]

    def numbers():
        """{job: task}. Both have the array's number until they begin."""
        lines = site.ask("squeue", "--noheader", "--array", "--states=all",
                         f"--jobs={array}", "--format=%A %K").split("\n")
        return dict(line.split() for line in lines)

    wait_for("each task has a number", lambda: len(numbers()) == 2, seconds=60)
    for job, task in numbers().items():
        run = closed(site, f"slurm-{job}.0")
        assert run["job"] == f"sweep {array}_{task}"
        assert run["end_reason"] == "all ranks closed"


def test_a_job_that_another_one_submits_has_its_own_name(site, jobs):
    """It inherits the environment of that one, which is a task of an array."""
    assert jobs["trains"]
    parent, child = site.folder / "parent.sh", site.folder / "child"
    parent.write_text(
        f"#!/bin/sh\nsbatch --parsable --job-name=child --output={child}.out "
        f"'{site.folder}/my training.sh' > {child}.new\n"
        f"mv {child}.new {child}.id\n")
    site.submit(parent, "--array=3", "--time=20")
    wait_for("the child is queued", (site.folder / "child.id").exists,
             seconds=60, instead=site.said)
    job = (site.folder / "child.id").read_text().strip()
    assert closed(site, f"slurm-{job}.0")["job"] == "child"


def test_a_job_that_is_requeued_goes_on_as_the_next_attempt(site, jobs):
    job = jobs["requeued"]
    trains(site, f"slurm-{job}.0")
    site.ask("scontrol", "requeue", job)
    run = closed(site, f"slurm-{job}.0")
    assert re.fullmatch(
        rf"ended by SIGTERM: \d+ min before the time limit of Slurm job {job} "
        r"at step \d+", run["end_reason"])
    # Slurm waits two minutes.
    wait_for("it is queued", lambda: site.state(job) == "PENDING", seconds=60)
    site.ask("scontrol", "update", f"jobid={job}", "StartTime=now")
    again = trains(site, f"slurm-{job}.0", attempt=1)
    assert (again["attempt"], again["job"]) == (1, "requeued")
    site.ask("scancel", job)


def test_a_job_that_is_cancelled(site, jobs):
    job = jobs["cancelled"]
    trains(site, f"slurm-{job}.0")
    site.ask("scancel", job)
    run = closed(site, f"slurm-{job}.0")
    assert re.fullmatch(
        rf"ended by SIGTERM: \d+ min before the time limit of Slurm job {job} "
        r"at step \d+", run["end_reason"])


def test_a_job_without_steps_and_without_a_limit(site, jobs):
    """Its end says less: nobody knows when its time would have been over."""
    job = jobs["alone"]
    assert trains(site, f"slurm-{job}")["job"] == "alone"
    site.ask("scancel", job)
    run = closed(site, f"slurm-{job}")
    assert run["end_reason"].startswith(
        f"ended by SIGTERM: in Slurm job {job} at step ")


def test_a_job_whose_time_is_over(site, jobs):
    job = jobs["short"]
    run = closed(site, f"slurm-{job}.0")
    assert run["end_reason"].startswith(
        f"ended by SIGTERM: the time limit of Slurm job {job} at step ")
    # Until its processes are gone Slurm says that it completes.
    wait_for("its time is over", lambda: site.state(job) == "TIMEOUT",
             seconds=60, instead=site.said)
    shown = site.daemon.nanwatch("show", f"slurm-{job}.0").stdout
    assert f"the time limit of Slurm job {job}" in shown


def test_the_epilog_leaves_nothing(site, jobs):
    notes = site.folder / "notes"
    closed(site, f"slurm-{jobs['short']}.0")
    wait_for("notes go with their jobs", lambda: not list(notes.iterdir()),
             seconds=60, instead=site.said)
