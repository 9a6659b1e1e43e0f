"""The container image: built without a registry, and run as its settings say, on
a root that cannot be written to, by a user who may do nothing. Needs root,
buildah, runc and mmdebstrap. With NANWATCH_IMAGE=FILE it takes the archive that
is there."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 40e6
USER = 65532
# Folders of the image that a volume is put on.
VOLUMES = ("/run/nanwatch", "/var/lib/nanwatch")
TRAINING = """
import sys, nanwatch
run = nanwatch.init(run="contained", address=sys.argv[1])
for step in range(60):
    run.step(step, loss=2.5 if step < 50 else float("nan"))
run.close(30)
assert run.stats.acked >= 60, run.stats
"""


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    if "NANWATCH_IMAGE" in os.environ:
        return pathlib.Path(os.environ["NANWATCH_IMAGE"])
    file = tmp_path_factory.mktemp("image") / "nanwatch.tar"
    run(ROOT / "deploy/image", file)
    return file


def blob(archive, digest):
    with tarfile.open(archive) as parts:
        return parts.extractfile("blobs/" + digest.replace(":", "/")).read()


@pytest.fixture(scope="module")
def manifest(archive):
    with tarfile.open(archive) as parts:
        index = json.load(parts.extractfile("index.json"))
    (only,) = index["manifests"]
    return json.loads(blob(archive, only["digest"]))


@pytest.fixture(scope="module")
def settings(archive, manifest):
    return json.loads(blob(archive, manifest["config"]["digest"]))["config"]


@pytest.fixture(scope="module")
def files(archive):
    """What is in the image, as a folder."""
    container = run("buildah", "from", f"oci-archive:{archive}").strip()
    yield pathlib.Path(run("buildah", "mount", container).strip())
    run("buildah", "rm", container)


def test_it_is_small(manifest):
    assert sum(layer["size"] for layer in manifest["layers"]) <= MOST_BYTES


def test_it_holds_two_programs_and_no_shell(files):
    programs = {str(path.relative_to(files)) for path in files.rglob("*")
                if path.is_file() and os.access(path, os.X_OK)
                and path.stat().st_mode & 0o111}
    assert programs == {"bin/nanwatch", "bin/nanwatchd"}


class Container:
    """The image as runc runs it: a root that is read only, the image's user
    without capabilities, a network of its own, a volume each."""

    def __init__(self, folder, files, settings):
        self.name = f"nanwatch-test-{os.getpid()}"
        self.folder = folder
        self.runc = ["runc"]
        self.process = None
        folder.mkdir()
        run("runc", "spec", cwd=folder)
        spec = json.loads((folder / "config.json").read_text())
        spec["root"] = {"path": str(files), "readonly": True}
        user, group = settings["User"].split(":")
        spec["process"].update(
            terminal=False, args=settings["Entrypoint"] + settings["Cmd"],
            env=settings["Env"], noNewPrivileges=True,
            user={"uid": int(user), "gid": int(group)},
            capabilities={name: [] for name in (
                "bounding", "effective", "permitted")})
        for volume in VOLUMES:
            self.at(volume).mkdir(parents=True)
            os.chown(self.at(volume), int(user), int(group))
            spec["mounts"].append(
                {"destination": volume, "type": "bind", "options": ["bind"],
                 "source": str(self.at(volume))})
        (folder / "config.json").write_text(json.dumps(spec))

    def at(self, path):
        return self.folder / path.lstrip("/").replace("/", "-")

    def start(self):
        self.process = subprocess.Popen(
            [*self.runc, "run", "--bundle", self.folder, self.name],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        socket = self.at(VOLUMES[0]) / "ingest.sock"
        until = time.monotonic() + 60
        while not socket.exists():
            assert self.process.poll() is None, self.process.stdout.read()
            assert time.monotonic() < until
            time.sleep(0.1)
        return f"unix:{socket}"

    def run(self, *command):
        return subprocess.run([*self.runc, "exec", self.name, *command],
                              capture_output=True, text=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=30)
        return self.process.returncode, said


@pytest.fixture
def container(tmp_path, files, settings):
    it = Container(tmp_path / "bundle", files, settings)
    yield it
    if it.process and it.process.poll() is None:
        it.process.kill()
    subprocess.run([*it.runc, "delete", "--force", it.name],
                   capture_output=True)
    shutil.rmtree(it.folder)


def test_its_settings_name_a_user_and_the_volumes(settings):
    assert settings["User"] == f"{USER}:{USER}"
    assert set(settings["Volumes"]) == set(VOLUMES)
    assert settings["Entrypoint"] == ["/bin/nanwatchd"]


def test_it_watches_a_training_on_a_root_that_is_read_only(container):
    address = container.start()
    run("/usr/bin/python3", "-c", TRAINING, address,
        env={**os.environ, "PYTHONPATH": str(ROOT / "client_lib/python/src")})
    runs = container.run("nanwatch", "runs")
    assert "critical" in runs.stdout and "contained" in runs.stdout, runs
    status, said = container.stop()
    assert status == 0, said
    history = container.at(VOLUMES[1]) / "history.db"
    assert history.stat().st_size > 0 and history.stat().st_uid == USER


def test_its_process_may_do_nothing(container):
    container.start()
    state = json.loads(run(*container.runc, "state", container.name))
    proc = pathlib.Path("/proc") / str(state["pid"])
    status = dict(line.split(":\t", 1) for line in
                  (proc / "status").read_text().splitlines())
    assert set(status["Uid"].split()) == {str(USER)}
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    mounts = [line.split() for line in
              (proc / "mountinfo").read_text().splitlines()]
    (root,) = [mount for mount in mounts if mount[4] == "/"]
    assert "ro" in root[5].split(",")
    assert container.run("sh", "-c", "true").returncode != 0
    assert container.stop()[0] == 0
