import examples


def test_example(daemon, tmp_path):
    it = examples.run(daemon, "paddle_loop.py", "paddle-example", tmp_path)
    assert it.worst == "" and it.steps == 100, it
