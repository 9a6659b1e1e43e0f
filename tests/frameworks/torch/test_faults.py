"""Faults put into real trainings, and what the daemon makes of them. One seed,
five with NANWATCH_TEST_ALL=1; what was found is printed as a table. More of it
is `tests/accuracy/run`."""

import sys

import pytest
from daemons import ALL, ROOT

sys.path.insert(0, str(ROOT / "tests" / "accuracy"))

from faults import ON_ONE_PROCESS  # noqa: E402
from trials import BUDGET, NO_BUDGET, play  # noqa: E402

SEEDS = range(1, 6) if ALL else [3]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ON_ONE_PROCESS)
@pytest.mark.parametrize("budget", [NO_BUDGET, BUDGET])
def test_fault(daemon, name, kind, seed, budget, record_property):
    fault = ON_ONE_PROCESS[kind](seed)
    if budget == BUDGET and fault.level != "ops":
        pytest.skip("has no budget")
    it = play(fault, daemon, name, budget=budget)
    record_property(
        "fault",
        f"{kind:24} {seed:4} {budget:6.2g} {fault.size:12.4g}  "
        f"{it.first or '-':22} {it.op or '-':22} "
        f"{'-' if it.late is None else it.late:>6}  "
        f"{'right' if it.told else 'wrong'}")
    assert it.told and it.op_right is not False and it.in_time, it.verdict
