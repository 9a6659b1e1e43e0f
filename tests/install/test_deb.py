"""Debian packages: made, judged by lintian, installed into a fresh Debian, run
there, upgraded, removed and purged. Needs root, mmdebstrap and a mirror."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("nanwatch", "libnanwatch0", "libnanwatch-dev", "python3-nanwatch")
TRAINING = """
import nanwatch
run = nanwatch.init(job="packaged", run="packaged-1")
for step in range(20):
    run.step(step=step, loss=2.0 - step / 50)
run.close(30)
assert run.stats.acked >= 20, run.stats
"""
IN_C = """
#include <nanwatch.h>
int main(void) {
  nanwatch_session* session = nanwatch_open(NULL);
  nanwatch_step step;
  nanwatch_step_init(&step, 1);
  nanwatch_push_step(session, &step);
  nanwatch_close(session, 30000);
  return 0;
}
"""


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def made(into, release):
    """The packages, by their names."""
    run("cmake", "--preset", "deb", f"-DNANWATCH_PACKAGE_RELEASE={release}",
        cwd=ROOT)
    run("cmake", "--build", "--preset", "deb", "-j2", cwd=ROOT)
    run("cpack", "--preset", "deb", "-B", into, cwd=ROOT)
    found = {path.name.partition("_")[0]: path for path in into.glob("*.deb")}
    assert sorted(found) == sorted(NAMES)
    return found


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Of two releases, the first one last: so the build folder is as usual."""
    folders = [tmp_path_factory.mktemp(f"release{n}") for n in (1, 2)]
    later = made(folders[1], 2)
    return made(folders[0], 1), later


@pytest.fixture(scope="module")
def debian(tmp_path_factory):
    folder = tmp_path_factory.mktemp("debian") / "root"
    run("mmdebstrap", "--variant=apt", "bookworm", folder)
    yield Debian(folder)
    shutil.rmtree(folder)


class Debian:
    """A root with a Debian in it."""

    def __init__(self, folder):
        self.folder = folder
        self.run("apt-get", "-q", "update")

    def run(self, *command):
        return run("chroot", self.folder, "env", "-i",
                   "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                   "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *command)

    def install(self, packages):
        for path in packages.values():
            shutil.copy(path, self.folder / "tmp")
        self.run("apt-get", "-q", "install", "-y", "--no-install-recommends",
                 *(f"/tmp/{path.name}" for path in packages.values()))

    def has(self, path):
        return os.path.lexists(self.folder / path.lstrip("/"))

    def version(self, package):
        return self.run("dpkg-query", "-W", "-f", "${Version}", package)

    def ours(self):
        """All that bears our name, but what apt and dpkg keep."""
        return sorted(
            str(path.relative_to(self.folder))
            for top in ("etc", "usr", "var/lib/systemd", "run")
            for path in (self.folder / top).rglob("*nanwatch*"))

    def nanwatchd(self):
        """The daemon, as its unit starts it but for the port."""
        unit = (self.folder
                / "usr/lib/systemd/system/nanwatchd.service").read_text()
        command = re.search("^ExecStart=(.*)$", unit, re.M)[1].split()
        assert command[1] == "--config"
        started = subprocess.Popen(
            [shutil.which("chroot"), self.folder, *command, "--listen", "127.0.0.1:0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin"})
        until = time.monotonic() + 60
        while not self.has("/run/nanwatch/ingest.sock"):
            assert started.poll() is None and time.monotonic() < until
            time.sleep(0.1)
        return started


def test_lintian_complains_of_nothing(packages):
    run("lintian", "--allow-root", "--fail-on", "error,warning",
        *packages[0].values())


def test_installed_run_upgraded_and_purged(packages, debian, tmp_path):
    first, second = packages
    assert not debian.ours()
    debian.install(first)
    assert debian.version("nanwatch") == debian.version("libnanwatch0")

    # The service: its group, its configuration, and that it starts at boot.
    assert debian.run("getent", "group", "nanwatch")
    debian.run("nanwatchd", "--config", "/etc/nanwatch/nanwatch.yaml",
               "--check-config")
    assert debian.has("/etc/systemd/system/multi-user.target.wants/"
                      "nanwatchd.service")

    # A training in Python, one in C, and the command see the same daemon.
    training_in_c(debian, tmp_path)
    daemon = debian.nanwatchd()
    try:
        debian.run("python3", "-c", TRAINING)
        debian.run("/tmp/in_c")
        runs = debian.run("nanwatch", "runs", "--json")
    finally:
        daemon.terminate()
        assert daemon.wait(30) == 0
    assert "packaged-1" in runs
    assert runs.count('"run_id"') == 2
    assert "nanwatch" in debian.run("python3", "-c", "import importlib.metadata as"
                                    " m; print(m.metadata('nanwatch')['Name'])")
    for page in ("man1/nanwatch.1.gz", "man8/nanwatchd.8.gz"):
        assert debian.has(f"/usr/share/man/{page}")

    # An upgrade keeps what a person wrote and wanted.
    settings = debian.folder / "etc/nanwatch/nanwatch.yaml"
    written = settings.read_text() + "# ours\n"
    settings.write_text(written)
    debian.run("systemctl", "disable", "nanwatchd.service")
    debian.install(second)
    assert debian.version("nanwatch").endswith("-2")
    assert debian.version("libnanwatch-dev").endswith("-2")
    assert settings.read_text() == written
    assert not debian.has("/etc/systemd/system/multi-user.target.wants/"
                          "nanwatchd.service")

    # Removed: the settings and the history stay. Purged: nothing does.
    history = debian.folder / "var/lib/private/nanwatch"
    history.mkdir(parents=True)
    (history / "history.db").touch()
    debian.run("dpkg", "--remove", *reversed(NAMES))
    assert settings.exists() and (history / "history.db").exists()
    assert not debian.has("/usr/bin/nanwatchd")
    assert not debian.has("/usr/lib/python3/dist-packages/nanwatch")
    debian.run("dpkg", "--purge", *NAMES)
    assert not history.exists()
    shutil.rmtree(debian.folder / "run/nanwatch", ignore_errors=True)
    assert not debian.ours()


def training_in_c(debian, tmp_path):
    """Compiled here against what the root has, and put into it."""
    folders = debian.folder / "usr/lib"
    (config,) = folders.glob("*/pkgconfig/nanwatch.pc")
    flags = run("pkg-config", "--cflags", "--libs", "nanwatch",
                env={**os.environ, "PKG_CONFIG_LIBDIR": str(config.parent)})
    source = tmp_path / "in_c.c"
    source.write_text(IN_C)
    run("cc", source, "-o", debian.folder / "tmp/in_c", *flags.split(),
        "-Wl,--unresolved-symbols=ignore-in-shared-libs")
