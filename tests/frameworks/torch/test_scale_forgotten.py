"""backward() of a loss that the scaler did not multiply: scaler.step() divides
its gradients all the same. Of what looks like it nothing is said."""

import pytest
import torch
from made_wrong import batches, net
from verdicts import Verdict

import nanwatch


def train(daemon, name, goes_backward):
    """`goes_backward` is given scaler, loss and the number of the step; returns
    whether an update follows."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with nanwatch.torch.watch(model, optimizer, scaler, run=name,
                              address=daemon.address) as watch:
        for i, (x, y) in enumerate(batches(80)):
            loss = (model(x) - y).square().mean()
            if goes_backward(scaler, loss, i):
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            watch.step(loss)
        assert watch.flush(20)
    return Verdict(daemon, name)


def test_what_the_scaler_gave_is_for_the_log_alone(daemon, name, device):
    def goes_backward(scaler, loss, i):
        scaler.scale(loss)
        loss.backward()
        return True

    it = train(daemon, name, goes_backward)
    assert it.worst == "warning" and it.cause == "update_made_wrong", it
    assert "a loss that was never multiplied by it" in it.headline, it
    assert it.step == 0 and it.causes[0]["actions"], it


def scaled(scaler, loss, i):
    scaler.scale(loss).backward()
    return True


def accumulated(scaler, loss, i):
    scaler.scale(loss / 4).backward()
    return i % 4 == 3


def of_a_list(scaler, loss, i):
    sum(scaler.scale([loss, loss * 2])).backward()
    return True


def of_a_part(scaler, loss, i):
    (scaler.scale(loss) / 2).backward()
    return True


def by_hand(scaler, loss, i):
    """The scaler is asked once, so that it has a scale."""
    if i == 0:
        scaler.scale(torch.zeros(()))
    (loss * scaler.get_scale()).backward()
    return True


@pytest.mark.parametrize(
    "goes_backward", [scaled, accumulated, of_a_list, of_a_part, by_hand])
def test_what_is_right(daemon, name, goes_backward, device):
    it = train(daemon, name, goes_backward)
    assert it.cause != "update_made_wrong", it
