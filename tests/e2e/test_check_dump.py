"""`nanwatch check` of what other tools dumped."""

import json
import subprocess

import numpy
import pytest
from test_dumps import OPS, check_of, device, inspected, paddle, plain, tensors

from conftest import BIN


def check(*paths):
    done = subprocess.run([BIN / "nanwatch", "check", "--json",
                           *map(str, paths)],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("make", [plain, device])
def test_tensors_that_are_finite_are_healthy(tmp_path, make):
    code, found = check(make(tmp_path / "a"))
    assert code == 0
    assert found["emitter"] == "dump"
    assert not [i for i in found["incidents"] if i["severity"] != "info"]
    assert str(len(OPS)) in found["certainty"]


def put(folder, op, value):
    """Into one element of the op's output, in all of its files."""
    for path in folder.rglob("*.npy"):
        if op in path.name and "input" not in path.name:
            array = numpy.load(path)
            array[2, 3] = value
            numpy.save(path, array)
    return folder


# An infinity may be a mask's.
@pytest.mark.parametrize("value, status", [
    (numpy.nan, 2), (numpy.inf, 1), (-numpy.inf, 1)])
def test_one_element_that_is_not_finite_is_told(tmp_path, value, status):
    folder = put(plain(tmp_path / "a"), "act", value)
    code, found = check(folder)
    assert code == status
    assert "act" in found["diagnosis"]
    assert "step 0" in found["diagnosis"]


def test_the_first_op_is_named_where_the_order_is_known(tmp_path):
    folder = device(tmp_path / "a")
    for op in ("act", "head"):
        put(folder, op, numpy.nan)
    code, found = check(folder)
    assert code == 2
    assert "Default_act-op2" in found["incidents"][0]["summary"]
    assert found["incidents"][0]["opened_step"] == 3


def test_an_overflow_that_the_device_found_is_told(tmp_path):
    folder = device(tmp_path / "a")
    name = "Opdebug.Node_OpDebug.9.9.1700000000000099.output.0.json"
    (folder / "rank_0" / "net" / "0" / "3" / name).write_text(
        json.dumps(check_of(0x120)))
    code, found = check(folder)
    assert code > 0
    assert "overflow" in found["diagnosis"]
    assert "Default_" in found["diagnosis"]


def test_statistics_of_others_are_judged(tmp_path):
    assert check(paddle(tmp_path / "good", 1.5))[0] == 0
    bad = paddle(tmp_path / "bad", 1.5)
    text = (bad / "worker_cpu.0").read_text().splitlines(True)
    text[1] = text[1].replace("num_inf=0", "num_inf=2")
    (bad / "worker_cpu.0").write_text("".join(text))
    code, found = check(bad)
    assert code == 1
    assert "gelu" in found["diagnosis"]
    assert check(inspected(tmp_path / "te", 1))[0] == 0


@pytest.mark.parametrize("make, steps", [(device, 1), (plain, 2)])
def test_an_overflow_that_the_benchmark_has_is_usual(tmp_path, make, steps):
    bench = put(make(tmp_path / "bench"), "act", numpy.nan)
    same = put(make(tmp_path / "same"), "act", numpy.nan)
    usual = len([path for path in same.rglob("*.npy")
                 if numpy.isnan(numpy.load(path)).any()])
    assert usual == steps
    code, found = check(same, "--against", bench)
    assert code == 0
    assert f"{usual} overflow" in found["certainty"]
    more = put(put(make(tmp_path / "more"), "act", numpy.nan),
               "head", numpy.nan)
    code, found = check(more, "--against", bench)
    assert code == 2
    assert "head" in found["diagnosis"]


@pytest.mark.parametrize("of_benchmark, status", [(0x120, 0), (0, 1)])
def test_overflows_of_one_op_are_one_whatever_unit_finds_them(
        tmp_path, of_benchmark, status):
    good, bad = device(tmp_path / "good"), device(tmp_path / "bad")
    both = check_of(0x120)
    both["L2 Atomic Add"]["status"] = 0x10000
    for folder, units in ((good, check_of(of_benchmark)), (bad, both)):
        name = "Opdebug.Node_OpDebug.9.9.1700000000000099.output.0.json"
        (folder / "rank_0" / "net" / "0" / "3" / name).write_text(
            json.dumps(units))
    code, found = check(bad, "--against", good)
    assert code == status
    assert ("2 overflows that the benchmark has, too" in found["certainty"]
            ) == (status == 0)


def test_what_could_not_be_read_is_no_health(tmp_path):
    folder = plain(tmp_path / "a")
    bad = folder / "step1" / "rank0" / "head.npy"
    bad.write_bytes(b"\x93NUMPY\x01\x00")
    code, found = check(folder)
    assert code == 1
    assert found["condition"] == "not_read"
    assert str(bad) in found["diagnosis"]


def test_a_folder_without_a_dump_says_what_is_read(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    code, found = check(tmp_path)
    assert code == 3
    assert "dump.json" in found["error"]


def test_logs_and_dumps_are_checked_together(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} loss: {2 - i / 200}\n"
                           for i in range(200)))
    numpy.save(tmp_path / "fc.npy", tensors()["fc"])
    code, found = check(log, tmp_path / "fc.npy")
    assert code == 0
    assert [one["emitter"] for one in found] == ["key_value", "dump"]
