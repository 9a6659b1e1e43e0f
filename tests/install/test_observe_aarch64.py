"""The statistics of buffers, compiled for NEON and run by an emulator: equal to
the reference, as on this machine. Two minutes; only with NANWATCH_TEST_ALL=1."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64-static"

pytestmark = [
    pytest.mark.skipif(not os.environ.get("NANWATCH_TEST_ALL"),
                       reason="two minutes; under NANWATCH_TEST_ALL=1"),
    pytest.mark.skipif(not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
                       reason="g++-aarch64-linux-gnu or qemu-user-static is "
                              "not installed: NEON was not run here"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    out = tmp_path_factory.mktemp("observe")
    for command in (
            ["cmake", "-G", "Ninja", "-S", HERE.parent / "cross" / "observe",
             "-B", out, "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
             f"-DCMAKE_CXX_COMPILER={COMPILER}",
             "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc"],
            ["cmake", "--build", out, "-j1", "--target", "observe_tests"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return out / "observe_tests"


def test_neon_counts_as_the_reference(program):
    done = subprocess.run([EMULATOR, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    (passed,) = re.findall(r"PASSED  \] (\d+) tests", done.stdout)
    assert int(passed) >= 30, done.stdout
