import examples


def test_example(daemon, tmp_path):
    it = examples.run(daemon, "mindspore_train.py", "mindspore-example", tmp_path)
    assert it.worst == "" and it.steps == 80, it
