import pathlib

from examples import run_on_a_cpu

TESTS = pathlib.Path(__file__).resolve().with_name("test_megatron.py")


def test_example(daemon, tmp_path):
    it = run_on_a_cpu(daemon, "megatron_core_loop.py", "megatron-example", tmp_path,
                      TESTS, "cuda_as_a_cpu")
    assert it.worst == "" and it.steps == 100, it
    assert it.info["scaler"]["init_scale"] == 2.0**12, it
