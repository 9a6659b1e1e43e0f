import examples


def test_example(daemon, tmp_path):
    it = examples.run(daemon, "trl_sft.py", "trl-example", tmp_path)
    assert it.worst == "" and it.steps == 50, it
