"""A signal ends a training: its last step is told."""

import pytest
import signalled

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
    it, stderr = signalled.run(daemon, PROGRAM, name, last)
    assert "closed" not in stderr, stderr
    assert it.steps == last + 1, it
    assert f"SIGTERM at step {last}" in it.headline, it
