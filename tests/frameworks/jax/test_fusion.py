"""`nanwatch fusion` and `repeat` of programs in JAX."""

import json
import os
import pathlib
import subprocess
import sys

import daemons

PROGRAM = pathlib.Path(__file__).resolve().parent / "fused.py"
LIBRARY = daemons.BIN.parent / "client_lib" / "libnanwatch.so"


def said(daemon, command, kind):
    done = subprocess.run(
        [daemons.BIN / "nanwatch", "--address", daemon.address, command,
         "--json", "--", sys.executable, PROGRAM, kind],
        capture_output=True, text=True, timeout=500,
        env={**os.environ, "PYTHONPATH": str(daemons.SOURCE),
             "NANWATCH_LIBRARY": str(LIBRARY)})
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


def test_a_function_that_computes_something_else_is_named(daemon):
    status, found, error = said(daemon, "fusion", "epsilon")
    assert status == 2, error
    assert found["op"] == "norm" and found["slot"] == "output"
    assert found["class"] == "divergent_op"
    assert found["distance"] > 100 * found["usual_at_most"]


def test_a_healthy_one_agrees(daemon):
    status, found, error = said(daemon, "fusion", "healthy")
    assert status == 0, error
    assert found["agrees"] and found["compiled"] and found["tensors"] > 20


def test_where_nothing_is_jitted_nothing_is_compared(daemon):
    status, found, error = said(daemon, "fusion", "nothing")
    assert status == 3 and found is None
    assert "jax.jit" in error


def test_repeats_are_compared_by_their_functions(daemon):
    status, found, error = said(daemon, "repeat", "healthy")
    assert status == 0, error
    assert found["deterministic"] and found["tensors"] > 60
