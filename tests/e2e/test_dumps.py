"""`nanwatch compare` of folders that other tools dumped."""

import json
import subprocess

import numpy
import pytest

from conftest import BIN

OPS = ("embed", "fc", "act", "head")


def run(*arguments):
    return subprocess.run([BIN / "nanwatch", "compare", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)


def compare(*arguments):
    done = run(*arguments, "--json")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def tensors(seed=0, wrong=None, by=1e-3):
    """Outputs of a chain of ops, by name; of the one that is `wrong` and all
    after it others."""
    rng = numpy.random.default_rng(seed)
    made, moved = {}, False
    for op in OPS:
        made[op] = rng.standard_normal((30, 40)).astype(numpy.float32)
        noise = rng.standard_normal((30, 40)).astype(numpy.float32)
        moved = moved or op == wrong
        if moved:
            made[op] += numpy.float32(by) * noise
    return made


def plain(folder, **options):
    """As anybody saves arrays."""
    for step in (0, 1):
        for op, array in tensors(step, **options).items():
            path = folder / f"step{step}" / "rank0" / f"{op}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            numpy.save(path, array)
    return folder


def device(folder, **options):
    """As CANN and MindSpore name files, of a run at another time."""
    before = None
    for at, (op, array) in enumerate(tensors(**options).items()):
        path = folder / "rank_0" / "net" / "0" / "3"
        path.mkdir(parents=True, exist_ok=True)
        name = f"MatMul.Default_{op}-op{at}.0.1.{1700000000000000 + 10 * at}"
        if before is not None:
            numpy.save(path / f"{name}.input.0.ND.npy", before)
        numpy.save(path / f"{name}.output.0.ND.npy", array)
        before = array
    return folder


def test_equal_folders_agree(tmp_path):
    code, found = compare(plain(tmp_path / "a"), plain(tmp_path / "b"))
    assert code == 0
    assert found["tensors"]["compared"] == 2 * len(OPS)
    assert found["tensors"]["steps"] == [0, 1]
    assert found["tensors"]["by_statistics"] == 0


def test_without_an_order_all_that_differ_are_counted(tmp_path):
    code, found = compare(plain(tmp_path / "a"),
                          plain(tmp_path / "b", wrong="act"))
    assert code == 2
    part = found["divergence"]
    assert part["class"] == "unordered"
    assert part["beyond"] == 2
    assert part["op"] in ("act", "head")


def test_by_the_times_in_the_names_the_first_is_named(tmp_path):
    code, found = compare(device(tmp_path / "a"),
                          device(tmp_path / "b", wrong="act"))
    assert code == 2
    part = found["divergence"]
    assert part["class"] == "divergent_op"
    assert part["op"] == "Default_act-op2"
    assert part["step"] == 3
    assert part["distance"] == pytest.approx(1e-3, rel=0.6)


def test_another_format_is_no_divergence_and_an_error_in_it_is(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    for folder, array in ((a, tensors()["fc"]),
                          (b, tensors()["fc"].astype(numpy.float16)),
                          (c, tensors(wrong="fc", by=0.1)["fc"]
                           .astype(numpy.float16))):
        folder.mkdir()
        numpy.save(folder / "fc.npy", array)
    assert compare(a, b)[0] == 0
    assert compare(a, c)[0] == 2


def test_the_order_of_memory_is_no_difference(tmp_path):
    array = tensors()["fc"]
    numpy.save(tmp_path / "a.npy", array)
    numpy.save(tmp_path / "b.npy", numpy.asfortranarray(array))
    numpy.save(tmp_path / "c.npy", array.astype(">f4"))
    for other in "bc":
        code, found = compare(tmp_path / "a.npy", tmp_path / f"{other}.npy")
        assert code == 0
        assert "first_unequal" not in found


def test_a_nan_in_one_of_them_is_told(tmp_path):
    array = tensors()["fc"]
    numpy.save(tmp_path / "a.npy", array)
    array[2, 3] = numpy.nan
    numpy.save(tmp_path / "b.npy", array)
    code, found = compare(tmp_path / "a.npy", tmp_path / "b.npy")
    assert code == 2
    assert found["divergence"]["nan_b"] == 1


def test_a_file_that_cannot_be_read_forbids_agreement(tmp_path):
    a, b = plain(tmp_path / "a"), plain(tmp_path / "b")
    bad = b / "step1" / "rank0" / "head.npy"
    numpy.save(bad, numpy.array([{"no": "number"}]), allow_pickle=True)
    code, found = compare(a, b)
    assert code == 1
    assert found["tensors"]["unread"] == 1
    assert str(bad) in found["b"]["missing"]


@pytest.mark.parametrize("content", [
    b"", b"\x93NUMPY\x01\x00", b"not numpy at all",
    b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, "
    b"'shape': (1152921504606846976,)}\n"])
def test_a_hostile_file_alone_is_refused(tmp_path, content):
    good = tmp_path / "good.npy"
    numpy.save(good, tensors()["fc"])
    bad = tmp_path / "bad.npy"
    bad.write_bytes(content)
    done = run(good, bad)
    assert done.returncode == 3, done.stdout
    assert str(bad) in done.stderr


def test_a_folder_without_a_dump_says_what_is_read(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    done = run(tmp_path, tmp_path)
    assert done.returncode == 3
    assert "dump.json" in done.stderr and ".npy" in done.stderr


def test_of_several_ranks_one_is_compared_and_that_is_said(tmp_path):
    a = plain(tmp_path / "a")
    for op, array in tensors().items():
        path = a / "step0" / "rank1" / f"{op}.npy"
        path.parent.mkdir(exist_ok=True)
        numpy.save(path, array)
    code, found = compare(a, plain(tmp_path / "b"))
    assert code == 0
    assert found["tensors"]["compared"] == 2 * len(OPS)
    assert "rank" in found["a"]["missing"]


def paddle(folder, gelu):
    folder.mkdir()
    (folder / "worker_cpu.0").write_text("".join(
        f"[PRECISION] in [device=cpu, op={op}, tensor=, dtype=fp32], numel=6, "
        f"num_nan=0, num_inf=0, num_zero=0, max={most:.6e}, min=-1.0e+00, "
        f"mean=5.0e-01\n"
        for op, most in (("matmul", 2), ("gelu", gelu), ("matmul", gelu + 1))))
    return folder


def test_paddles_checker_names_the_first_op(tmp_path):
    a = paddle(tmp_path / "a", 1.5)
    code, found = compare(a, paddle(tmp_path / "b", 1.6))
    assert code == 2
    assert found["divergence"]["op"] == "gelu"
    assert found["divergence"]["by_statistics"]
    assert compare(a, paddle(tmp_path / "c", 1.5))[0] == 0


def test_a_line_that_was_cut_off_forbids_agreement(tmp_path):
    a, b = paddle(tmp_path / "a", 1.5), paddle(tmp_path / "b", 1.5)
    with (b / "worker_cpu.0").open("a") as file:
        file.write("[PRECISION] in [device=cpu, op=ma\n")
    code, found = compare(a, b)
    assert code == 1
    assert found["tensors"]["unread"] == 1


def inspected(folder, most):
    folder.mkdir()
    (folder / "nvdlfw_inspect_globalrank-0.log").write_text("".join(
        f"INFO - block.{layer}_activation_{name:<20} iteration=000002 "
        f"         value={value:.4f}\n"
        for layer, factor in (("qkv", 1), ("proj", most))
        for name, value in (("max", 4.3 * factor), ("l2_norm", 40.5 * factor))))
    return folder


def test_statistics_of_transformer_engine_are_compared(tmp_path):
    a = inspected(tmp_path / "a", 1)
    code, found = compare(a, inspected(tmp_path / "b", 1.1))
    assert code == 2
    assert found["tensors"]["steps"] == [2]
    assert found["divergence"]["op"] == "block.proj_activation"
    assert found["divergence"]["beyond"] == 1
    # bf16 alone makes as much.
    assert compare(a, inspected(tmp_path / "c", 1.004))[0] == 0


def check_of(core):
    units = {"DHA Atomic Add": 0, "L2 Atomic Add": 0, "AI Core": core}
    return {name: {"model_id": 1, "stream_id": 1, "task_id": 0,
                   "status": status} for name, status in units.items()}


def test_an_overflow_in_one_of_them_is_named_with_its_op(tmp_path):
    a, b = device(tmp_path / "a"), device(tmp_path / "b")
    for folder, core in ((a, 0), (b, 0x120)):
        name = "Opdebug.Node_OpDebug.9.9.1700000000000099.output.0.json"
        (folder / "rank_0" / "net" / "0" / "3" / name).write_text(
            json.dumps(check_of(core)))
    code, found = compare(a, b)
    assert code == 1
    assert found["overflows"]["only_a"] == []
    overflow, = found["overflows"]["only_b"]
    assert overflow["step"] == 3
    assert overflow["unit"] == "AI Core"
    assert "FP16" in overflow["meaning"]
    assert overflow["op"].startswith("Default_")
    assert overflow["in_a"] == "clean"
    assert found["overflows"]["abnormal_steps"] == 1
    assert found["says"]["headline"].startswith("An abnormal overflow")
    assert compare(b, b)[0] == 0


def test_of_a_benchmark_that_does_not_know_the_op_nothing_is_claimed(tmp_path):
    a, b = plain(tmp_path / "a"), device(tmp_path / "b")
    name = "Opdebug.Node_OpDebug.9.9.1700000000000099.output.0.json"
    (b / "rank_0" / "net" / "0" / "3" / name).write_text(
        json.dumps(check_of(0x120)))
    code, found = compare(a, b)
    assert code == 1
    assert found["overflows"]["only_b"][0]["in_a"] == "unknown"
    assert found["overflows"]["abnormal_steps"] == 0
