"""A Slurm of one node, from Debian's packages: munged, slurmctld and slurmd,
started by hand in a folder of its own, with the scripts of deploy/slurm."""

import os
import pathlib
import shutil
import socket
import subprocess

from conftest import ROOT, free_port, wait_for

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=10
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """`scripts` come from deploy/slurm, with this folder's places in them."""

    def __init__(self, folder, daemon):
        self.folder = pathlib.Path(folder)
        self.swaps = {
            "/run/nanwatch/ingest.sock": str(daemon.socket),
            "/run/nanwatch-slurm": f"{folder}/notes",
            "/etc/slurm": str(folder),
        }
        self.conf = self.folder / "slurm.conf"
        self.environment = {
            **{k: v for k, v in os.environ.items()
               if not k.startswith(("NANWATCH", "SLURM"))},
            "SLURM_CONF": str(self.conf),
        }
        self.started = []

    def fit(self, text):
        for old, new in self.swaps.items():
            text = text.replace(old, new)
        return text

    def start(self, lines):
        """`lines` of slurm.conf are those that a site adds for nanwatch."""
        for name in ("state", "spool", "munge", "nanwatch"):
            (self.folder / name).mkdir(mode=0o700)
        for script in (ROOT / "deploy/slurm").iterdir():
            copy = self.folder / "nanwatch" / script.name
            copy.write_text(self.fit(script.read_text()))
            copy.chmod(0o755)
        self.conf.write_text(self.fit(lines) + CONFIG.format(
            host=socket.gethostname().split(".")[0], ctld=free_port(), slurmd=free_port(),
            folder=self.folder))
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self._run("munged", "--foreground", "--force", f"--key-file={key}",
                  *(f"--{what}={self.folder}/munge.{end}" for what, end in (
                      ("socket", "sock"), ("pid-file", "pid"),
                      ("seed-file", "seed"), ("log-file", "log"))))
        wait_for("munge answers", lambda: self._does(
            "munge", "--no-input", f"--socket={self.folder}/munge.sock"))
        self._run("slurmctld", "-D", "-c", "-f", self.conf)
        wait_for("slurmctld answers", lambda: self._does("scontrol", "ping"))
        self._run("slurmd", "-D", "-f", self.conf)
        wait_for("the node is idle", lambda: self.ask(
            "sinfo", "--noheader", "--format=%T") == "idle",
            instead=lambda: (self.folder / "slurmd.out").read_text())
        return self

    def _run(self, program, *arguments):
        path = shutil.which(program, path="/usr/sbin:/usr/bin")
        assert path, f"no {program}: tests/packages names slurm-wlm"
        with open(self.folder / f"{program}.out", "wb") as out:
            self.started.append(subprocess.Popen(
                [path, *map(str, arguments)], stdout=out, stderr=out,
                env=self.environment))

    def _does(self, *command):
        return subprocess.run(command, env=self.environment, timeout=20,
                              capture_output=True).returncode == 0

    def ask(self, *command):
        done = subprocess.run([str(c) for c in command], text=True, timeout=30,
                              capture_output=True, env=self.environment,
                              cwd=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def submit(self, script, *options):
        """The job's number. What it prints is in `folder`/JOB.out."""
        return self.ask("sbatch", "--parsable", f"--output={self.folder}/%j.out",
                        *options, script)

    def state(self, job):
        return self.ask("squeue", "--noheader", "--states=all",
                        f"--jobs={job}", "--format=%T")

    def said(self):
        return "".join(f"\n{path.name}: {path.read_text()[-2000:]}"
                       for path in self.folder.glob("*.out"))

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
