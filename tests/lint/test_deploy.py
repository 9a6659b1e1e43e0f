"""The systemd unit: what systemd says of it, and that it lets nanwatchd work."""

import pathlib
import shutil
import subprocess

import pytest

UNIT = pathlib.Path(__file__).resolve().parents[2] / "deploy/nanwatchd.service"
pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None,
                                reason="no systemd-analyze here")


def members(name):
    """The system calls of a set; a plain name is itself."""
    if not name.startswith("@"):
        return {name}
    done = subprocess.run(["systemd-analyze", "syscall-filter", name],
                          capture_output=True, text=True, check=True)
    words = [line.strip() for line in done.stdout.splitlines()[1:]]
    return set().union(*(members(w) for w in words if w and w[0] != "#"))


def allowed():
    """As systemd reads it: the first line is what is allowed, then each line
    adds or, with ~, takes away."""
    calls = set()
    for line in UNIT.read_text().splitlines():
        if not line.startswith("SystemCallFilter="):
            continue
        value = line.partition("=")[2]
        named = set().union(*map(members, value.lstrip("~").split()))
        calls = calls - named if value.startswith("~") else calls | named
    return calls


def test_systemd_understands_the_unit(tmp_path):
    unit = tmp_path / "nanwatchd.service"
    unit.write_text(UNIT.read_text().replace("/usr/bin/nanwatchd",
                                             "/bin/true"))
    done = subprocess.run(["systemd-analyze", "--man=no", "verify", str(unit)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "nanwatchd.service" not in done.stderr, done.stderr


def test_the_socket_may_get_its_group():
    calls = allowed()
    assert {"chown", "chmod", "fchmod", "bind", "listen", "fdatasync",
            "fsync", "flock", "eventfd2", "renameat", "unlink"} <= calls
    assert not calls & {"setuid", "chroot", "mount", "ptrace", "reboot",
                        "init_module", "setgroups"}
