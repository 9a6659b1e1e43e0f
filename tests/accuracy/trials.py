"""A training with a fault in it, played beside a real daemon, and what that
made of it."""

from __future__ import annotations

import logging
import pathlib
import socket
import sys
from dataclasses import dataclass

TESTS = pathlib.Path(__file__).resolve().parents[1]
FRAMEWORKS = TESTS / "frameworks"
sys.path[:0] = [str(p) for p in (
    FRAMEWORKS, FRAMEWORKS / "torch", TESTS / "python")]

from children import Child  # noqa: E402
import daemons  # noqa: E402, F401  knows where nanwatch lies
from models import Training  # noqa: E402
from verdicts import Verdict  # noqa: E402

import nanwatch  # noqa: E402

# The level "ops" as it comes: within its budget it looks at some modules a step.
BUDGET = 0.03
# And with all of them at each.
NO_BUDGET = 1e9
# At "default" the layer of what lasts is to be known so soon.
LATE_AT_DEFAULT = 5


@dataclass
class Outcome:
    fault: object
    level: str
    first: str  # cause; "" where there is none
    told: bool  # a right cause, be it not the first
    op: str | None  # where the right cause says that it began
    late: int | None  # steps from the fault to what it says of its beginning
    verdict: Verdict
    budget: float = NO_BUDGET

    @property
    def first_right(self):
        return self.first in self.fault.causes

    @property
    def op_right(self):
        """None: nobody can know it."""
        wanted = self.fault.op
        if not wanted:
            return not self.op
        right = self.op in (wanted if isinstance(wanted, tuple) else (wanted,))
        if not self.fault.lasts and (
                self.level == "default" or self.budget == BUDGET):
            # Seen or not, but never another one.
            return right if self.op else None
        return right

    @property
    def in_time(self):
        if not self.told:
            return False
        late = self.fault.late
        if self.level == "default":
            late = max(late, LATE_AT_DEFAULT)
        return self.late is not None and 0 <= self.late <= late

    @property
    def right(self):
        if self.fault.harmless and self.level == "default":
            return self.verdict.worst not in ("warning", "critical")
        return self.told and self.op_right is not False and self.in_time


class Heard(logging.Handler):
    """What the client says in the log of nanwatch."""

    def __init__(self):
        super().__init__()
        self.text = ""

    def emit(self, record):
        self.text += record.getMessage() + "\n"

    def __enter__(self):
        logging.getLogger("nanwatch").addHandler(self)
        return self

    def __exit__(self, *_):
        logging.getLogger("nanwatch").removeHandler(self)


def play(fault, daemon, run, level=None, budget=NO_BUDGET):
    """The outcome of a fault, at its own level if no other is said."""
    level = level or fault.level
    with Heard() as heard:
        if fault.ranks > 1:
            play_ranks(daemon, run, fault.fault, level, "ddp", fault.kind,
                       str(fault.size), str(fault.seed))
        else:
            play_alone(fault, daemon, run, level, budget)
    it = Verdict(daemon, run)
    in_training = heard.text.count(fault.told_by_client) == 1
    right = [c for c in it.causes if c["cause"] in fault.causes]
    op = right[0].get("origin", {}).get("op") if right else None
    late = int(right[0]["step"]) - fault.begin if right else None
    return Outcome(
        fault, level, it.cause,
        bool(right) and (in_training or not fault.told_by_client), op, late, it,
        budget)


def play_alone(fault, daemon, run, level, budget=NO_BUDGET):
    training = fault.training()
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=run,
        level=level, budget=budget, address=daemon.address)
    for i in range(fault.steps):
        if i == fault.begin:
            fault.strike(training)
        watch.step(training.step())
    assert watch.close(20), watch.run.stats
    assert fault.told_by_client or watch.run.stats.bad_input == 0


def play_ranks(daemon, run, *arguments, program="ddp.py"):
    """Two processes, with what a launcher would put into their environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [
        Child(FRAMEWORKS / "torch" / program, daemon.address, run, *arguments,
              RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2",
              MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        for rank in range(2)
    ]
    for rank in ranks:
        rank.wait()


def play_healthy(daemon, run, kind, seed, level, budget, steps=210):
    """The verdict on the same training without a fault."""
    training = Training(kind, seed=seed)
    watch = nanwatch.torch.watch(
        training.model, training.optimizer, training.scaler, run=run,
        level=level, budget=budget, address=daemon.address)
    for _ in range(steps):
        watch.step(training.step())
    assert watch.close(20), watch.run.stats
    return Verdict(daemon, run)
