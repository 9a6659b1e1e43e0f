"""Steps of two trainings that are alike, of which one is watched, in turns: what
a watch costs a step. What changes slowly on a machine falls out of neighbours.

Two that are alike are not equally fast, for where their memory came to lie: so
they change roles, and each round has two of its own. A block of steps is as long
as the longest time after which something is looked at, and its steps are summed
up; what is given is the median of the blocks' ratios. The sender works by the
clock, in steps of both: what it takes is in neither."""

import pathlib
import statistics
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"),
                str(ROOT / "tests" / "frameworks"),
                str(ROOT / "tests" / "frameworks" / "torch")]

from cost_of_watch import deaf  # noqa: E402
from daemons import Daemon  # noqa: E402, F401

import nanwatch  # noqa: E402

BLOCK = 32  # pairs of steps
WARM = 96  # pairs, after which names and the budget's share are known
BUDGET = 0.03  # of a step, as watch() has it


class Cost(NamedTuple):
    step: float  # s, alone: medians of steps
    host: float  # s, of watch.step
    wall: float  # how many times as long a step is with a watch
    cpu: float  # the same of the CPU time of the thread that trains
    rows: float  # of what passes through modules, that is looked at
    turns: float  # how much less often than usual gradients are


def _clocks():
    return time.perf_counter(), time.thread_time()


class _Half:
    """One training is watched beside another one."""

    def __init__(self, watched, alone, watch, blocks):
        self.alone, self.host, self.wall, self.cpu = [], [], [], []
        self.rows, self.turns, self._all = [], [], 0
        self._block(watched, alone, watch, WARM)
        self.rows, self.turns = [], []
        for _ in range(blocks):
            on, off = self._block(watched, alone, watch, BLOCK)
            for column, clock in ((self.wall, 0), (self.cpu, 1)):
                column.append(sum(t[clock] for t in on) /
                              sum(t[clock] for t in off))
            self.alone += [wall for wall, _ in off]
            self.host += [t[2] for t in on]

    def _block(self, watched, alone, watch, pairs):
        on, off = [], []
        for pair in range(pairs):
            for is_on in ((True, False) if pair % 2 else (False, True)):
                if is_on:
                    on.append(self._one(watched, watch))
                else:
                    with deaf(watch):
                        begun = _clocks()
                        alone.step()
                        off.append([b - a for a, b in zip(begun, _clocks())])
        return on, off

    def _one(self, watched, watch):
        begun = _clocks()
        loss = watched.step()
        before, rows = _clocks(), len(watch.modules.rows)
        watch.step(loss)
        end = _clocks()
        self._all = max(self._all, rows)
        self.rows.append(rows / max(1, self._all))
        self.turns.append(watch.modules.stride.turns)
        return end[0] - begun[0], end[1] - begun[1], end[1] - before[1]


def measure(make, level, address, *, rounds=2, blocks=4):
    """`make` gives a training: its model, its optimizer, and `step`, which gives
    a loss. From one watched step to the next there are two, of which half the
    budget is as much."""
    halves = []
    for _ in range(rounds):
        pair = [make(), make()]
        for watched, alone in (pair, pair[::-1]):
            watch = nanwatch.torch.watch(
                watched.model, watched.optimizer, None, address=address,
                run=f"{level}-{time.time()}", level=level, budget=BUDGET / 2)
            halves.append(_Half(watched, alone, watch, blocks))
            watch.close(1)

    def of(name, middle=statistics.median):
        return middle([x for half in halves for x in getattr(half, name)])

    return Cost(of("alone"), of("host"), of("wall"), of("cpu"),
                of("rows", statistics.fmean), of("turns", statistics.fmean))
