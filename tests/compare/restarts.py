"""Restarts that a daemon holds against the attempts before them: one training
that goes on from its checkpoint, in ways that are healthy and in ways that are
not."""

import copy
import json
import math
import statistics
import subprocess
import time

import daemons
import losses
import nets
import torch

import nanwatch

RULE = "bench_loss_divergence"
# How an attempt goes on, and whether that is to be told. Who draws other
# numbers, or takes the data in another order, or from the start, is healthy.
RESTARTS = {
    "all right": False, "other dropout": False, "other order": False,
    "data from the start": False, "a lower rate": False,
    "no weights": True,
}
MORE = {
    "bf16": False, "threads": False, "no moments": False,
    "no weights alone": True, "no head": True,
}


def told(what, net, seed, steps, begin):
    """(step, loss) of the restart."""
    if what == "no weights":
        fresh = list(losses.losses(net, seed=seed + 7, steps=steps - begin[
            "step"]))
        return [(step + begin["step"], loss) for step, loss in fresh]
    # An optimizer goes on in what it is given.
    begin, more = copy.deepcopy(begin), {}
    if what.startswith("no ") and what != "no moments":
        torch.manual_seed(seed + 7)
        fresh = nets.NETS[net]().state_dict()
        begin["model"].update({
            name: values for name, values in fresh.items()
            if name.startswith("head") or what != "no head"})
    if what == "no moments":
        begin["optimizer"]["state"] = {}
    if what == "other dropout":
        begin["rng"] = torch.Generator().manual_seed(99).get_state()
    if what in ("other order", "data from the start"):
        begin["data"] = torch.Generator().manual_seed(
            500 + seed + 50 * (what == "other order")).get_state()
    if what in ("bf16", "threads"):  # and the data in another order
        begin["data"] = torch.Generator().manual_seed(550 + seed).get_state()
        more |= {"bf16": True} if what == "bf16" else {"threads": 2}
    if what == "a lower rate":
        more["rate"] = losses.RATE / 3
    return list(losses.losses(net, seed=seed, data_seed=seed, steps=steps,
                              begin=begin, **more))


def show(judge, run):
    done = subprocess.run(
        [daemons.BIN / "nanwatch", "--address", judge.address, "show", run,
         "--json"], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout) if done.returncode != 3 else {}


def incidents_of(judge, name, before, after):
    run = nanwatch.init(run=name, address=judge.address)
    for step, loss in before:
        run.step(step, loss=loss)
    if not run.close(timeout=30):
        raise RuntimeError(f"{name}: {run.stats}")
    run = nanwatch.init(run=name, address=judge.address)
    for step, loss in after[:2]:
        run.step(step, loss=loss)
    for _ in range(600):  # until the daemon has read its history
        detail = show(judge, name)
        if detail.get("benchmark"):
            break
        time.sleep(0.1)
    for step, loss in after[2:]:
        run.step(step, loss=loss)
    if not run.close(timeout=30):
        raise RuntimeError(f"{name}: {run.stats}")
    detail = show(judge, name)
    pairs = int(detail.get("benchmark", {}).get("pairs", 0))
    return pairs, [one for one in detail["incidents"] if one["rule"] == RULE
                   and one["severity"] != "SEVERITY_INFO"]


FIRST, NEAR = 100, 32  # losses


def size(before, after):
    """How far the first losses lie above those of the attempt before, in the
    mean, over the deviation of one loss there."""
    logs = {step: math.log(loss) for step, loss in before}
    first = after[0][0]
    above = [math.log(loss) - logs[step] for step, loss in after[:FIRST]]
    near = [logs[step] for step in range(first - NEAR, first + NEAR)]
    return statistics.fmean(above) / statistics.stdev(near)


def opened_at(incidents):
    return [one["opened_step"] for one in incidents]


def told_so(incidents):
    """Whether one says that weights were not loaded: by how much of what was
    learned is lost."""
    return any(number["name"] == "lost" for one in incidents
               for finding in one["findings"]
               for number in finding.get("numbers", []))


def judge_restarts(judge, names, seeds, steps, at, more=False):
    kinds = RESTARTS | (MORE if more else {})
    for net in names:
        for seed in range(seeds):
            begin = {}
            base = list(losses.losses(net, seed=seed, data_seed=seed,
                                      steps=steps, save_at=at, begin=begin))
            for what, wanted in kinds.items():
                name = f"{net}-{seed}-{what.replace(' ', '-')}"
                after = told(what, net, seed, steps, begin)
                pairs, found = incidents_of(judge, name, base, after)
                times = size(base, after)
                # What is less than one loss scatters nobody sees in them; of
                # what is little more it is not sure that it began at once.
                unseen = wanted and times < 1 and not found
                named = told_so(found) == wanted or (wanted and times < 2)
                judge.count(
                    f"restart, live{', not in the loss' if unseen else ''}",
                    name, unseen or (bool(found) == wanted and named
                                     and pairs >= (steps - at) * 9 // 10),
                    f"{pairs} pairs, {opened_at(found)}, {times:.2g} x noise")
