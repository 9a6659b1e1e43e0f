"""Faults put into real PyTorch trainings, and what the daemon says of them, as
a table; table.py [SEEDS [FAULT...]], by the Python of `tests/frameworks/environment
torch`. The last line: trials that went as they should, and the others."""

import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch  # noqa: E402
from trials import (  # noqa: E402  finds the rest
    BUDGET, NO_BUDGET, play, play_healthy, play_ranks)

from daemons import Daemon  # noqa: E402
from faults import ON_ONE_PROCESS, ON_TWO_RANKS  # noqa: E402
from results import print_by_size, share  # noqa: E402
from verdicts import Verdict  # noqa: E402

KINDS = {**ON_ONE_PROCESS, **ON_TWO_RANKS}
HEALTHY_SEEDS = 2  # for each seed of a fault
LONG = 2500  # steps, in which the small nets learn all there is


def count(outcomes, what):
    """Of those of which it can be said."""
    return share([w for w in map(what, outcomes) if w is not None])


def row(kind, level, outcomes):
    sizes = [o.fault.size for o in outcomes]
    size = f"{min(sizes):.3g} to {max(sizes):.3g}" if min(sizes) < max(
        sizes) else "-"
    late = [o.late for o in outcomes if o.told and o.late is not None]
    return (f"| {kind} | {level} | {size} | "
            f"{count(outcomes, lambda o: o.told)} | "
            f"{count(outcomes, lambda o: o.first_right)} | "
            f"{count(outcomes, lambda o: o.op_right)} | "
            f"{f'{min(late)} to {max(late)}' if late else '-'} | "
            f"{count(outcomes, lambda o: o.right)} |")


def with_budgets(levels, ranks=1):
    """Each with what it is called and its budget: "ops" has two, but for several
    ranks, which look at all modules."""
    for level in levels:
        if level == "ops" and ranks > 1:
            yield level, "ops, all modules", NO_BUDGET
        elif level == "ops":
            yield level, "ops, all modules", NO_BUDGET
            yield level, f"ops, {BUDGET:.0%}", BUDGET
        else:
            yield level, level, NO_BUDGET


def faults(daemon, seeds, names):
    """All of them, if none is named."""
    print("| fault | level | sizes | told | as the first cause | op or layer | "
          "steps after it | as it should be |\n|" + "---|" * 8, flush=True)
    all_of_them = []
    for kind, make in KINDS.items():
        if names and kind not in names:
            continue
        levels = (*make.more_levels, make.level, "default")
        for level, name, budget in with_budgets(
                dict.fromkeys(levels), make.ranks):
            played = [
                play(make(seed), daemon, f"{kind}-{name}-{seed}", level,
                     budget)
                for seed in seeds
            ]
            all_of_them += played
            print(row(kind, name, played), flush=True)
    return all_of_them


def healthy(daemon, seeds):
    """How many runs, and those of them that were warned of."""
    runs, accused = 0, []
    for kind in ("pictures", "text"):
        for level, name, budget in with_budgets(("default", "layers", "ops")):
            for seed in range(1, HEALTHY_SEEDS * len(seeds) + 1):
                run = f"healthy-{kind}-{name}-{seed}"
                it = play_healthy(
                    daemon, run, kind, 100 + seed, level, budget)
                runs += 1
                accused += [it] if it.worst in ("warning", "critical") else []
        for seed in seeds:
            run = f"healthy-two-{kind}-{seed}"
            play_ranks(daemon, run, "none", "layers", "ddp", kind, "",
                       str(100 + seed))
            it = Verdict(daemon, run)
            runs += 1
            accused += [it] if it.worst in ("warning", "critical") else []
    for seed in seeds:
        it = play_healthy(daemon, f"healthy-long-{seed}", "pictures",
                          100 + seed, "default", BUDGET, LONG)
        runs += 1
        accused += [it] if it.worst in ("warning", "critical") else []
    return runs, accused


def main():
    seeds = range(1, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 6)
    print(f"torch {torch.__version__}, on a CPU, {time.strftime('%Y-%m-%d')}; "
          f"{len(seeds)} seeds\n")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            played = faults(daemon, seeds, sys.argv[2:])
            print_by_size(
                (kind, make.sizes,
                 [o for o in played if type(o.fault) is make])
                for kind, make in KINDS.items())
            runs, accused = (0, []) if sys.argv[2:] else healthy(daemon, seeds)
        finally:
            daemon.kill()
    worst = [it.worst for it in accused]
    print(f"\nHealthy runs: {runs}, criticals {worst.count('critical')}, "
          f"warnings {worst.count('warning')}")
    for it in accused:
        print(f"  {it.headline}")
    for o in played:
        if not o.right:
            print(f"not as it should be: {type(o.fault).__name__} at {o.level}, "
                  f"budget {o.budget}, seed {o.fault.seed}, size {o.fault.size:.3g}: first "
                  f"{o.first or '-'}, op {o.op}, {o.late} steps after")
    failed = sum(not o.right for o in played) + len(accused)
    print(f"{len(played) + runs - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":  # children import it
    main()
