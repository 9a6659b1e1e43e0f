"""`nanwatch compare` of logs and files, as a user calls it."""

import json
import subprocess

from conftest import BIN


def compare(*arguments):
    return subprocess.run([BIN / "nanwatch", "compare", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)


def log(path, steps=60, loss=lambda i: 3 - 0.01 * i, rate=lambda i: 1e-3):
    path.write_text("".join(
        f"step {i}: loss {loss(i):.6f} lr: {rate(i):.8f}\n"
        for i in range(steps)))
    return path


def test_a_log_agrees_with_itself(tmp_path):
    path = log(tmp_path / "a.log")
    done = compare(path, path, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["loss"]["steps"] == 60
    assert "first_step" not in found["loss"]
    assert found["tensors"]["compared"] == 0


def test_losses_that_differ_are_told_with_their_step(tmp_path):
    a = log(tmp_path / "a.log")
    b = log(tmp_path / "b.log", loss=lambda i: 3 - 0.01 * i + (i >= 40) * 0.5)
    done = compare(a, b, "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["loss"]["first_step"] == 40
    assert found["loss"]["farthest_of_means"] > 0.1


def test_another_rate_is_the_schedule(tmp_path):
    a = log(tmp_path / "a.log", rate=lambda i: 1e-5 * i)
    b = log(tmp_path / "b.log", rate=lambda i: 1e-5 * min(i, 30))
    done = compare(a, b, "--json")
    assert done.returncode == 2, done.stderr
    part = json.loads(done.stdout)["divergence"]
    assert part["class"] == "other_schedule"
    assert part["step"] == 31


def test_a_loss_that_is_nan_in_one_is_told(tmp_path):
    a = log(tmp_path / "a.log")
    b = log(tmp_path / "b.log",
            loss=lambda i: float("nan") if i >= 50 else 3 - 0.01 * i)
    done = compare(a, b, "--json")
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["loss"]["bad_in_b"] == 50


def test_logs_without_a_common_step_have_nothing_to_compare(tmp_path):
    a = log(tmp_path / "a.log", steps=20)
    b = tmp_path / "b.log"
    b.write_text(a.read_text().replace("step ", "step 1000"))
    done = compare(a, b)
    assert done.returncode == 3, done.stdout
    assert "NOTHING TO COMPARE" in done.stdout


def test_what_is_neither_a_file_nor_a_run_is_said(tmp_path, folder):
    a = log(tmp_path / "a.log")
    done = subprocess.run(
        [BIN / "nanwatch", "--address", f"unix:{folder}/none.sock", "compare",
         str(a), "no-such-run"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "no-such-run" in done.stderr


def norms(path, norm, form="[hook] {name} grad_norm={norm:.8g}\n",
          numbers=range(12)):
    """A log that prints the norm of each layer's gradient, and no step."""
    path.write_text("loaded model.bin: 100\n" + "".join(
        form.format(name=f"layers.{i}.fc.weight", norm=norm(i))
        for i in numbers))
    return path


def test_a_log_of_norms_names_where_the_backward_pass_parts(tmp_path):
    a = norms(tmp_path / "a.log", lambda i: 2 + 0.1 * i)
    for numbers in range(12), range(11, -1, -1):
        b = norms(tmp_path / "b.log", numbers=numbers, norm=lambda i:
                  (2 + 0.1 * i) * (1 + 0.03 * max(0, 8 - i)))
        done = compare(a, b, "--json")
        assert done.returncode == 2, done.stderr
        part = json.loads(done.stdout)["divergence"]
        assert part["class"] == "divergent_backward"
        assert part["op"] == "layers.7.fc.weight"
        assert part["equal_before"] == 4
        assert part["farthest"]["op"] == "layers.0.fc.weight"


def test_norms_that_differ_from_the_last_layer_on_part_before_it(tmp_path):
    form = "rank0: grad norm of {name}: {norm:.6f}\n"
    a = norms(tmp_path / "a.log", lambda i: 2, form)
    b = norms(tmp_path / "b.log", lambda i: 2 * (1.02 + 0.1 * (11 - i)), form)
    done = compare(a, b, "--json")
    assert done.returncode == 2, done.stderr
    part = json.loads(done.stdout)["divergence"]
    assert part["class"] == "before_gradients"
    assert part["op"] == "layers.11.fc.weight"


def test_a_norm_that_is_small_beside_the_others_counts_as_well(tmp_path):
    def small_at_last(i):
        return 6 - 5 / 11 * i
    a = norms(tmp_path / "a.log", small_at_last)
    b = norms(tmp_path / "b.log",
              lambda i: small_at_last(i) * (1.012 + 0.01 * (11 - i)))
    done = compare(a, b, "--json")
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["divergence"]["op"] == "layers.11.fc.weight"


def test_norms_as_roundings_leave_them_agree(tmp_path):
    a = norms(tmp_path / "a.log", lambda i: 2 + 0.1 * i)
    b = norms(tmp_path / "b.log",
              lambda i: (2 + 0.1 * i) * (1 + 0.004 * (-1) ** i))
    done = compare(a, b, "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert found["tensors"]["compared"] == 12
    assert "divergence" not in found
    assert "no step" in found["a"]["missing"]


def test_of_norms_of_several_ranks_the_lowest_counts(tmp_path):
    form = ("[rank1]: {name} grad_norm=7\n"
            "[rank0]: {name} grad_norm={norm:.8g}\n")
    a = norms(tmp_path / "a.log", lambda i: 2, form)
    b = norms(tmp_path / "b.log", lambda i: 2 + 0.5 * (i < 3), form)
    done = compare(a, b, "--json")
    part = json.loads(done.stdout)["divergence"]
    assert (part["op"], part["step"]) == ("layers.2.fc.weight", 0)
