"""A signal ends a training: its last step is told."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from verdicts import Verdict

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys, time, torch, nanwatch.torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
watch = nanwatch.torch.watch(model, optimizer, run=sys.argv[1])
for i in range(200):
    loss = model(torch.randn(16, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    watch.step(loss)
    if i == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
"""


@pytest.mark.parametrize("last", [0, 17, 100, 131])
def test_the_last_step_before_a_signal(daemon, name, last):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(last)], timeout=100,
        env={**os.environ, "NANWATCH_ADDRESS": daemon.address,
             "PYTHONPATH": str(ROOT / "client_lib" / "python" / "src")},
        capture_output=True, text=True)
    assert ended.returncode == -signal.SIGTERM, ended.stderr
    assert "closed" not in ended.stderr, ended.stderr
    it = Verdict(daemon, name)
    assert it.steps == last + 1, it
    assert f"SIGTERM at step {last}" in it.headline, it
