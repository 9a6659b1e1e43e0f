"""What goes with a release: the list of parts, the archive of the source, RPM."""

import json
import os
import pathlib
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NANWATCH_BIN", ROOT / "build/release/bin"))


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    file = tmp_path_factory.mktemp("sbom") / "parts.spdx.json"
    run(ROOT / "deploy/sbom", BIN, file)
    return file


def test_the_list_of_parts_is_spdx(parts):
    python = run(ROOT / "tests/frameworks/environment", "release").strip()
    run(pathlib.Path(python).parent / "pyspdxtools", "-i", parts)


def test_the_list_of_parts_names_every_library(parts):
    made = json.loads(parts.read_text())
    by_id = {one["SPDXID"]: one for one in made["packages"]}
    linked = {by_id[one["relatedSpdxElement"]]["name"]
              for one in made["relationships"]
              if one["relationshipType"] == "DYNAMIC_LINK"}
    for program in ("nanwatch", "nanwatchd"):
        for line in run("ldd", BIN / program).splitlines():
            _, arrow, path = line.partition(" => ")
            if not arrow:
                continue
            real = str(pathlib.Path(path.split()[0]).resolve())
            # As dpkg may know it, where /lib is a link.
            owner = subprocess.run(
                ["dpkg-query", "-S", real, real.removeprefix("/usr")],
                capture_output=True, text=True).stdout.split(":")[0]
            assert owner in linked, line
    assert all(one["versionInfo"] for one in made["packages"])


def test_the_list_of_parts_is_the_same_again(parts, tmp_path):
    again = tmp_path / "again.json"
    run(ROOT / "deploy/sbom", BIN, again)
    assert again.read_bytes() == parts.read_bytes()


def test_the_archive_of_the_source_is_the_same_again():
    made = []
    for _ in range(2):
        run("cmake", "--build", ROOT / "build/release", "--target", "dist")
        (path,) = (ROOT / "build/release").glob("nanwatch-*.tar.gz")
        made.append(path.read_bytes())
        path.touch()
    assert made[0] == made[1]
    with tarfile.open(path) as archive:
        (top,) = {name.partition("/")[0] for name in archive.getnames()}
        revision = archive.extractfile(f"{top}/daemon/app/revision.txt").read()
    head = run("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    assert head.startswith(revision.decode().strip())


@pytest.fixture(scope="module")
def rpms(tmp_path_factory):
    """By name."""
    into = tmp_path_factory.mktemp("rpm")
    run("cmake", "--preset", "rpm", cwd=ROOT)
    run("cmake", "--build", "--preset", "rpm", "-j2", cwd=ROOT)
    run("cpack", "--preset", "rpm", "-B", into, cwd=ROOT)
    return {run("rpm", "-qp", "--qf", "%{NAME}", path): path
            for path in into.glob("*.rpm")}


def test_rpm_reads_its_packages(rpms):
    assert set(rpms) == {"nanwatch", "nanwatch-libs", "nanwatch-devel"}
    for path in rpms.values():
        assert run("rpm", "-qp", "--qf", "%{LICENSE}", path) == "Apache-2.0"
    files = run("rpm", "-qpl", rpms["nanwatch"]).splitlines()
    assert {"/usr/bin/nanwatch", "/usr/bin/nanwatchd",
            "/usr/lib/systemd/system/nanwatchd.service",
            "/usr/lib/sysusers.d/nanwatch.conf",
            "/usr/share/man/man1/nanwatch.1.gz"} <= set(files)
    assert not {"/usr/share/zsh", "/usr/lib/systemd", "/etc"} & set(files)
    settings = run("rpm", "-qpc", rpms["nanwatch"]).split()
    assert settings == ["/etc/nanwatch/nanwatch.yaml"]
    assert "systemd-sysusers" in run("rpm", "-qp", "--scripts", rpms["nanwatch"])
    needs = run("rpm", "-qpR", rpms["nanwatch-devel"])
    assert "nanwatch-libs = " in needs


def test_rpm_installs_them_into_an_empty_root(rpms, tmp_path):
    """Without what they need, and without their scripts: there is no shell."""
    root = tmp_path / "root"
    rpm = ("rpm", "--root", root)
    apart = ("--nodeps", "--noscripts")
    run(*rpm, "--initdb")
    run(*rpm, "--install", *apart, "--nosignature", *rpms.values())
    said = run(root / "usr/bin/nanwatch", "--version")
    assert said.startswith("nanwatch/")
    run(*rpm, "--verify", *apart, *rpms)
    (root / "etc/nanwatch/nanwatch.yaml").write_text("# ours\n")
    run(*rpm, "--erase", *apart, *rpms)
    assert not (root / "usr/bin/nanwatch").exists()
    kept = [path.name for path in (root / "etc/nanwatch").iterdir()]
    assert kept == ["nanwatch.yaml.rpmsave"]
