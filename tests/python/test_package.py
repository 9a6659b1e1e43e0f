"""The wheel: what is in it, what it needs, and what it lives beside."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest
from daemons import (  # noqa: F401
    ALL,
    ROOT,
    SOURCE,
    daemon,
    folder,
    said_by,
    summary,
)

import nanwatch

PACKAGE = ROOT / "client_lib" / "python"
# Those that frameworks pin; each with the newest of its line.
PROTOBUFS = ["3.20.*", "4.*", "5.*", "6.*", "7.*"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and the wheel that is made from it, without a network."""
    out = tmp_path_factory.mktemp("dist")
    copy = out / "copy"  # a build leaves things beside what it builds
    shutil.copytree(PACKAGE, copy)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out),
         str(copy)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist


def test_what_is_in_the_wheel(built):
    wheel, sdist = built
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (n for n in names if n.endswith("/METADATA"))
        about = email.message_from_bytes(file.read(metadata))
    modules = {str(p.relative_to(SOURCE))
               for p in (SOURCE / "nanwatch").rglob("*.py")}
    assert "nanwatch/_torch/watching.py" in modules
    assert modules | {"nanwatch/py.typed"} <= set(names)
    assert wheel.name.endswith("-py3-none-any.whl"), "pure Python"
    assert about["Version"] == nanwatch.__version__
    assert about["Requires-Python"] == ">=3.9"
    (needed,) = about.get_all("Requires-Dist")
    assert re.sub("[ ()]", "", needed) == "grpcio>=1.49"
    assert "run.step" in about.get_payload()
    with tarfile.open(sdist) as file:
        assert any(n.endswith("/src/nanwatch/py.typed") for n in file.getnames())


def test_an_index_would_take_both(built):
    made = subprocess.run(
        [ROOT / "tests" / "frameworks" / "environment", "lint"],
        capture_output=True, text=True, check=True)
    done = subprocess.run(
        [made.stdout.strip(), "-m", "twine", "--no-color", "check", "--strict",
         *built], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_wheel_is_all_that_it_needs(built, tmp_path):
    """Installed with nothing else: it imports, and without gRPC it says so
    once and lets the training be."""
    venv.create(tmp_path / "v", with_pip=True)
    python = tmp_path / "v" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps",
                    "--no-index", built[0]], check=True)
    some = tmp_path / "some.sock"
    some.write_text("")
    done = subprocess.run([python, "-c", f"""
import sys, nanwatch
assert nanwatch.__file__.startswith({str(tmp_path)!r})
run = nanwatch.init(address={str(some)!r})
for i in range(100): run.step(i, loss=1.0)
run.flush(1.0)
assert "grpc" in run.stats.error, run.stats
"""], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nothing is sent") == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


TRAINING = """
import sys
{first}
import nanwatch
run = nanwatch.init(run="{name}", address=sys.argv[1])
op = run.register_op("fc", shape=(4,))
for i in range(1000):
    run.op(op, step=i, nan=0, abs_max=1.5)
    run.step(i, loss=1.0, scale=2.0, overflow=False)
assert run.close(20), run.stats
{last}
"""


def test_it_sends_without_protobuf(daemon):  # noqa: F811
    last = ("assert not any(m.split('.')[0] == 'google' for m in sys.modules),"
            " 'protobuf was imported'")
    said_by(TRAINING.format(first="", name="bare", last=last), daemon.address)
    assert int(summary(daemon, "bare")["steps"]) == 1000


@pytest.mark.skipif(not ALL, reason="downloads; under tests/run --all")
@pytest.mark.parametrize("protobuf", PROTOBUFS)
def test_beside_the_protobuf_that_frameworks_pin(
        built, daemon, tmp_path, protobuf):  # noqa: F811
    venv.create(tmp_path / "v", with_pip=True)
    python = tmp_path / "v" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", built[0],
                    f"protobuf=={protobuf}"], check=True)
    name = "pb" + protobuf[:1]
    first = ("from google.protobuf import descriptor_pool, struct_pb2, "
             "timestamp_pb2\nimport google.protobuf\n"
             f"assert google.protobuf.__version__.startswith("
             f"{protobuf.rstrip('*')!r})")
    last = ("s = struct_pb2.Struct(); s['a'] = 1.0\n"
            "assert struct_pb2.Struct.FromString(s.SerializeToString()) == s")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", TRAINING.format(first=first, name=name, last=last),
         daemon.address], capture_output=True, text=True, cwd=tmp_path,
        timeout=120, env=environment)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert int(summary(daemon, name)["steps"]) == 1000
