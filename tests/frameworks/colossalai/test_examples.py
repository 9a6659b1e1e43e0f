import pathlib

from examples import run_on_a_cpu

TESTS = pathlib.Path(__file__).resolve().with_name("test_colossalai.py")


def test_example(daemon, tmp_path):
    it = run_on_a_cpu(daemon, "colossalai_loop.py", "colossalai-example", tmp_path,
                      TESTS, "count_one_cpu")
    assert it.worst == "" and it.steps == 100, it
    assert it.info["scaler"]["init_scale"] == 2.0**12, it
