"""The word2vec of examples/word2vec, beside a real daemon: the verdict is that
of the C++ program of the same name (tests/e2e/test_word2vec.py)."""

import examples


def brief(daemon, script, framework, scenario, tmp_path):
    run = f"word2vec-{framework}-{scenario}"
    it = examples.run(daemon, f"word2vec/{script}", run, tmp_path, scenario)
    said = daemon.nanwatch("diagnose", run, "--brief").stdout.split()
    return it, said


def check(daemon, script, framework, tmp_path):
    it, said = brief(daemon, script, framework, "padding", tmp_path)
    assert said == ["critical", "harmless_padding", "established"], it
    assert it.origin["op"] == "Log" and it.step == 0, it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss_scale"] == 1 and int(it.summary.get("applied", 0)) == 0
    stuck = values["loss"]

    it, said = brief(daemon, script, framework, "cure", tmp_path)
    assert said == ["info", "harmless_padding", "established"], it
    values = {v["field"]: v["last"] for v in it.summary["values"]}
    assert values["loss"] < stuck / 2, "it learns"
