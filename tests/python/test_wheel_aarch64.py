"""The wheel of deploy/wheel --for aarch64: its programs under an emulator, whose
root has none of their libraries. It is compiled anew, some minutes; only with
NANWATCH_TEST_ALL=1."""

import os
import re
import subprocess
import zipfile

import pytest
from daemons import ROOT, wait_for
from test_wheel import LIBRARIES, LOADER, LOG, MOST_BYTES, elf_files

pytestmark = pytest.mark.skipif(not os.environ.get("NANWATCH_TEST_ALL"),
                                reason="long; under NANWATCH_TEST_ALL=1")
EMULATOR = "qemu-aarch64-static"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "deploy" / "wheel", "--for", "aarch64", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (whole,) = out.glob("*linux*_aarch64*.whl")
    return whole


@pytest.fixture(scope="module")
def folder(wheel, tmp_path_factory):
    """As pip puts it: bin and libexec beside each other."""
    out = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(out)
    (data,) = out.glob("*.data")
    place = out / "place"
    place.mkdir()
    (data / "scripts").rename(place / "bin")
    (data / "data" / "libexec").rename(place / "libexec")
    for program in (place / "bin").iterdir():
        program.chmod(0o755)
    return place


def run(folder, program, *arguments):
    return subprocess.run([EMULATOR, folder / "bin" / program, *arguments],
                          capture_output=True, text=True, timeout=120)


def test_it_is_small_and_whole(wheel, folder):
    assert wheel.stat().st_size <= MOST_BYTES
    files = elf_files(folder)
    assert {"nanwatch", "nanwatchd", "ld.so", "libc.so.6"} <= set(files)
    for name, path in files.items():
        said = subprocess.run(["readelf", "-hdW", path], capture_output=True,
                              text=True, check=True).stdout
        assert "AArch64" in said, name
        assert not [n for n in LIBRARIES.findall(said)
                    if n not in files and not LOADER.fullmatch(n)], name


def test_a_log_is_judged(folder, tmp_path):
    (tmp_path / "train.log").write_text(LOG)
    done = run(folder, "nanwatch", "check", tmp_path / "train.log")
    assert done.returncode == 2 and "loss_nonfinite" in done.stdout, done


def test_a_daemon_serves(folder, tmp_path):
    socket = tmp_path / "ingest.sock"
    daemon = subprocess.Popen(
        [EMULATOR, folder / "bin/nanwatchd", "--socket", socket, "--history",
         tmp_path / "history.db", "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wait_for("its socket", socket.exists)
        listed = run(folder, "nanwatch", "--address", f"unix:{socket}", "runs")
        assert listed.returncode == 0, listed
    finally:
        daemon.terminate()
        said = "".join(daemon.communicate(timeout=60))
    assert daemon.returncode == 0, said
    assert re.search(r"http=http://127\.0\.0\.1:\d+", said), said
