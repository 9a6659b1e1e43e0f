"""`python -m nanwatch.dumps`: .pt files as .npy files."""

import json
import subprocess

import numpy
import torch

from daemons import BIN
from pt_files import convert


def compare(a, b):
    done = subprocess.run([BIN / "nanwatch", "compare", a, b, "--json"],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_numbers_are_as_torch_has_them(tmp_path):
    source, target = tmp_path / "pt", tmp_path / "npy"
    source.mkdir()
    values = torch.randn(5, 7)
    saved = {"plain": values, "turned": values.t(), "scalar": torch.tensor(2.5),
             "empty": torch.zeros(0, 3), "whole": torch.arange(6)}
    for name, tensor in saved.items():
        torch.save(tensor, source / f"{name}.pt")
    done = convert(source, target)
    assert done.returncode == 0, done.stderr
    for name, tensor in saved.items():
        read = numpy.load(target / f"{name}.npy")
        assert read.shape == tuple(tensor.shape)
        assert (read == tensor.numpy()).all()


def test_a_state_dict_in_bf16_is_compared(tmp_path):
    model = torch.nn.Linear(8, 4).bfloat16()
    for side in "ab":
        (tmp_path / side).mkdir()
        torch.save({"model": model.state_dict(), "step": 3},
                   tmp_path / side / "x.pt")
        with torch.no_grad():
            model.weight[1] += 1
        assert convert(tmp_path / side, tmp_path / f"{side}-npy").returncode == 0
    found = compare(tmp_path / "a-npy", tmp_path / "b-npy")
    assert found["divergence"]["op"] == "x/model/weight"
    assert found["divergence"]["dtype"] == "bf16"
    assert found["divergence"]["beyond"] == 1


class Harmful:
    def __reduce__(self):
        return (print, ("this ran",))


def test_a_file_that_would_run_code_is_refused(tmp_path):
    source = tmp_path / "pt"
    source.mkdir()
    torch.save(Harmful(), source / "bad.pt")
    torch.save(torch.ones(3), source / "good.pt")
    done = convert(source, tmp_path / "npy")
    assert done.returncode == 1
    assert "this ran" not in done.stdout
    assert str(source / "bad.pt") in done.stderr
    assert (tmp_path / "npy" / "good.npy").exists()


def test_names_lead_nowhere_else(tmp_path):
    source = tmp_path / "pt"
    source.mkdir()
    torch.save({"../../out": torch.ones(1), "..": torch.ones(1)},
               source / "x.pt")
    assert convert(source, tmp_path / "npy").returncode == 0
    written = [p for p in tmp_path.rglob("*.npy")]
    assert len(written) == 2
    assert all((tmp_path / "npy" / "x") in p.parents for p in written)
