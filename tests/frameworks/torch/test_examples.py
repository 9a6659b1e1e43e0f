import examples
import pytest


@pytest.mark.parametrize("script, run, steps", [
    ("pytorch.py", "pytorch-example", 200),
    ("transformers_trainer.py", "trainer-example", 50),
    ("lightning_trainer.py", "lightning-example", 100),
    ("accelerate_loop.py", "accelerate-example", 50),
    ("fabric_loop.py", "fabric-example", 100),
])
def test_example(daemon, tmp_path, script, run, steps):
    it = examples.run(daemon, script, run, tmp_path)
    assert it.worst == "" and it.steps == steps, it
    assert "grad_norm" in {v["field"] for v in it.summary["values"]}
