"""Who tells of a step: the training's thread, or the sender's in its turn."""

import math
import threading
import time

import torch
from torch import nn
from verdicts import Verdict

import nanwatch
from nanwatch._torch.telling import Teller


def test_the_sender_tells_of_steps_in_which_nothing_is_odd(
        daemon, name, monkeypatch):
    """Those whose weights are looked at, too; what is odd is told at once."""
    tellers, tell = {}, Teller.tell

    def noted(teller, step):
        tellers[step.number] = threading.current_thread()
        tell(teller, step)

    monkeypatch.setattr(Teller, "tell", noted)
    torch.manual_seed(1)
    model = nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with nanwatch.torch.watch(
            model, optimizer, run=name, address=daemon.address) as watch:
        for i in range(67):
            x = torch.randn(8, 8)
            if i == 66:
                x[0, 0] = math.nan
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
            if i == 65:  # or what waits is told with the one that is odd
                time.sleep(0.5)
            time.sleep(0.02)  # a turn of the sender is 0.2 s
        assert tellers.pop(66) is threading.current_thread()
        assert watch.flush(20)
    assert sorted(tellers) == list(range(66))
    assert {thread.name for thread in tellers.values()} == {"nanwatch"}
    it = Verdict(daemon, name)
    values = {v["field"]: v for v in it.summary["values"]}
    assert values["param_norm"]["last"] > 0
    assert it.worst == "critical" and it.step == 66, it
