"""`nanwatch compare` of dumps that msprobe itself made on a CPU."""

import json
import pathlib
import subprocess
import sys

import pytest

from daemons import BIN
from pt_files import convert

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    done = subprocess.run([sys.executable, HERE / "dumping.py", folder],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def compare(a, b):
    done = subprocess.run([BIN / "nanwatch", "compare", a, b, "--json"],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_repeat_agrees(dumps):
    code, found = compare(dumps / "statistics-mix-none",
                          dumps / "statistics-mix-again")
    assert code == 0
    assert found["tensors"]["steps"] == [0, 1]
    assert found["tensors"]["compared"] > 100
    assert found["tensors"]["by_statistics"] == found["tensors"]["compared"]
    assert "divergence" not in found


# What is named first where functions are dumped, too; at which step.
CASES = {
    "epsilon": ("other_input", "Functional.layer_norm.0", 0),
    "weights": ("other_weights", "embed.weight", 0),
    "data": ("other_data", "Functional.embedding.0", 0),
    "rate": ("other_optimizer", None, 0),
    "backward": ("divergent_backward", "Functional.layer_norm.0", 0),
    "nan": ("divergent_function", "Functional.linear.1", 0),
}


@pytest.mark.parametrize("fault", CASES)
def test_the_first_that_differs_is_named(dumps, fault):
    code, found = compare(dumps / "statistics-mix-none",
                          dumps / f"statistics-mix-{fault}")
    kind, op, step = CASES[fault]
    assert code == 2
    part = found["divergence"]
    assert part["class"] == kind, part
    assert op in (None, part["op"]), part
    assert part["step"] == step


def test_nan_is_told_of_the_run_that_has_it(dumps):
    _, found = compare(dumps / "statistics-mix-none",
                       dumps / "statistics-mix-nan")
    assert (found["divergence"]["nan_a"], found["divergence"]["nan_b"]) == (0, 1)


def test_an_argument_that_differs_is_told_with_both_values(dumps):
    _, found = compare(dumps / "statistics-L1-none",
                       dumps / "statistics-L1-epsilon")
    part = found["divergence"]
    assert part["op"] == "Functional.layer_norm.0"
    assert (part["value_a"], part["value_b"]) == (1e-5, 1e-3)


def test_of_modules_the_guilty_one_is_named(dumps):
    code, found = compare(dumps / "statistics-L0-none",
                          dumps / "statistics-L0-epsilon")
    assert code == 2
    part = found["divergence"]
    assert (part["class"], part["op"]) == ("divergent_op", "norm"), part


def test_a_dump_of_tensors_is_compared_by_its_statistics(dumps):
    code, found = compare(dumps / "tensor-L0-none",
                          dumps / "tensor-L0-epsilon")
    assert code == 2
    assert found["divergence"]["op"] == "norm"


def test_the_folder_of_a_step_is_a_dump_too(dumps):
    code, found = compare(dumps / "statistics-mix-none" / "step1",
                          dumps / "statistics-mix-again" / "step1")
    assert code == 0
    assert found["tensors"]["steps"] == [1]


def test_a_dump_that_was_cut_off_is_refused_with_its_file(dumps, tmp_path):
    whole = next((dumps / "statistics-mix-none" / "step0").rglob("dump.json"))
    cut = tmp_path / "dump.json"
    cut.write_bytes(whole.read_bytes()[:5000])
    done = subprocess.run([BIN / "nanwatch", "compare", cut, whole],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert str(cut) in done.stderr
    assert "line" in done.stderr


def npy_of(folder, target):
    done = convert(folder, target)
    assert done.returncode == 0, done.stderr
    return target


def test_elements_in_pt_files_are_compared_as_npy_files(dumps, tmp_path):
    code, found = compare(npy_of(dumps / "tensor-L0-none", tmp_path / "a"),
                          npy_of(dumps / "tensor-L0-epsilon", tmp_path / "b"))
    assert code == 2
    assert found["tensors"]["by_statistics"] == 0
    part = found["divergence"]
    assert (part["class"], part["op"]) == ("divergent_op", "norm"), part
    assert 1e-5 < part["distance"] < 1e-1
