"""Several trainings in threads of one process: the backward pass of one writes
its gradients without the interpreter's lock, so that another one's watch must
not look at them."""

import os
import subprocess
import sys

from daemons import SOURCE

# A healthy training that is watched, and one that nobody watches, whose loss
# is NaN. What goes wrong ends the process, by a signal.
PROGRAM = """
import sys, threading
import torch
from torch import nn
import nanwatch

address, run, both = sys.argv[1:]
torch.set_num_threads(1)

def train(spoilt, watched):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    watch = watched and nanwatch.torch.watch(
        model, optimizer, run=run + "-spoilt" * spoilt, address=address)
    for _ in range(600 if spoilt and watched else 1500):
        x = torch.randn(32, 16)
        loss = (model(x) - x[:, :4]).square().mean()
        if spoilt:
            loss = loss * float("nan")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch:
            watch.step(loss)
    if watch:
        assert watch.close(20)

threads = [threading.Thread(target=train, args=(False, True)),
           threading.Thread(target=train, args=(True, both == "both"))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def said_of(daemon, name, both):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, daemon.address, name, both],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done
    return daemon.nanwatch("diagnose", name).stdout


def test_beside_a_training_that_nobody_watches(daemon, name):
    said = said_of(daemon, name, "one")
    assert "HEALTHY" in said and "1,500 attempts" in said, said


def test_two_watched_trainings(daemon, name):
    said = said_of(daemon, name, "both")
    assert "HEALTHY" in said and "1,500 attempts" in said, said
    said = daemon.nanwatch("diagnose", name + "-spoilt").stdout
    assert "CRITICAL" in said, said
