"""Four faults in trainings of a framework other than PyTorch, and what the
daemon says of them, as a table: others.py jax|keras|mindspore [SEEDS], by the
Python of its environment. The last line: trials that went as they should, and
the others."""

import importlib
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "frameworks"),
                str(HERE.parent / "python")]

from daemons import Daemon  # noqa: E402
from results import print_by_size, share  # noqa: E402
from small_faults import KINDS, play  # noqa: E402


def row(name, kind, played):
    sizes = [o.fault.size for o in played]
    size = f"{min(sizes):.3g} to {max(sizes):.3g}" if min(sizes) < max(
        sizes) else "-"
    late = [o.late for o in played if o.told]
    return (f"| {name} | {kind} | {size} | {share([o.told for o in played])} | "
            f"{share([o.first in o.fault.kind.causes for o in played])} | "
            f"{f'{min(late)} to {max(late)}' if late else '-'} | "
            f"{share([o.right for o in played])} |")


def main():
    name = sys.argv[1]
    seeds = range(1, int(sys.argv[2]) + 1 if len(sys.argv) > 2 else 6)
    framework = importlib.import_module(f"on_{name}")
    print(f"\n{framework.VERSIONS}, on a CPU, {time.strftime('%Y-%m-%d')}; "
          f"{len(seeds)} seeds\n")
    print("| framework | fault | sizes | told | as the first cause | "
          "steps after it | as it should be |\n|" + "---|" * 7)
    everything = []
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            for kind in KINDS:
                played = [play(framework.train, kind, seed, daemon,
                               f"{kind}-{seed}") for seed in seeds]
                everything += played
                print(row(name, kind, played), flush=True)
            print_by_size(
                (kind, spec.sizes,
                 [o for o in everything if o.fault.name == kind])
                for kind, spec in KINDS.items())
            healthy = [play(framework.train, "", 100 + seed, daemon,
                            f"healthy-{seed}") for seed in seeds]
        finally:
            daemon.kill()
    print(f"\nHealthy runs: {len(healthy)}, criticals or warnings "
          f"{sum(not o.right for o in healthy)}")
    everything += healthy
    for o in everything:
        if not o.right:
            print(f"not as it should be: {o.fault.name or 'healthy'}, seed "
                  f"{o.fault.seed}, size {o.fault.size:.3g}: first "
                  f"{o.first or '-'}, {o.late} steps after; "
                  f"{o.verdict.headline}")
    failed = sum(not o.right for o in everything)
    print(f"{len(everything) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
