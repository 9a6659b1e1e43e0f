"""How results are written."""

import math


def share(flags):
    """"4 of 5"; "-" of none."""
    return f"{sum(flags)} of {len(flags)}" if flags else "-"


def thirds(bounds, outcomes):
    """Columns of a table: of each third of the range that sizes are drawn from
    (by logarithm, the lowest first) how many outcomes are right; "-" where none
    was drawn. `bounds`: of the range, the first is the lower."""
    low, high = map(math.log2, bounds)
    columns = [[], [], []]
    for outcome in outcomes:
        part = (math.log2(outcome.fault.size) - low) / (high - low)
        columns[min(int(3 * part), 2)].append(outcome.right)
    return " | ".join(map(share, columns))


def print_by_size(kinds):
    """A row a fault whose sizes differ; `kinds`: name, bounds, outcomes
    of each."""
    print("\n| fault | sizes | lowest third | middle | highest |\n|" +
          "---|" * 5)
    for name, (low, high), outcomes in kinds:
        if outcomes and low < high:
            print(f"| {name} | {low:.3g} to {high:.3g} | "
                  f"{thirds((low, high), outcomes)} |")
