"""Several trainings in threads of one process: the backward pass of one writes
its gradients without the interpreter's lock, so that another one's watch must
not look at them."""

import os
import subprocess
import sys
import threading

import pytest
import torch
from daemons import SOURCE
from torch import nn
from verdicts import Verdict

import nanwatch

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
    assert "HEALTHY" in said and "1,500 updates" in said, said


def test_two_watched_trainings(daemon, name):
    said = said_of(daemon, name, "both")
    assert "HEALTHY" in said and "1,500 updates" in said, said
    said = daemon.nanwatch("diagnose", name + "-spoilt").stdout
    assert "CRITICAL" in said, said


@pytest.mark.parametrize("elsewhere", [False, True])
def test_updates_within_the_backward_pass(daemon, name, elsewhere):
    """Each parameter's as its gradient is there; by a thread that did not make
    the watch."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizers = {n: torch.optim.SGD([p], lr=1e-3)
                  for n, p in model.named_parameters()}
    watch = nanwatch.torch.watch(
        model, optimizers, run=name, address=daemon.address)
    for n, p in model.named_parameters():
        def update(_, optimizer=optimizers[n]):
            optimizer.step()
            optimizer.zero_grad()
        p.register_post_accumulate_grad_hook(update)
    raised = []

    def train():
        try:
            for _ in range(20):
                loss = model(torch.randn(8, 16)).square().mean()
                loss.backward()
                watch.step(loss)
        except Exception as error:
            raised.append(error)

    if elsewhere:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
    else:
        train()
    assert watch.close(20) and watch.run.stats.bad_input == 0
    assert raised == []
    it = Verdict(daemon, name)
    assert it.worst == "" and int(it.summary["last_step"]) == 19, it
