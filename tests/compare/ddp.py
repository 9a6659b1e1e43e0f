"""Two ranks of DistributedDataParallel against one process that computes the
whole batch, and against two ranks."""

import faults
import nets
import ranks
from training import train

# What is found though a batch is computed in other parts: the class of what
# lies outside of the model's passes. What lies within is seen in the gradients.
KINDS = ("other_weights", "other_schedule", "other_optimizer")


def _is(kind, step):
    return lambda status, found, part: (
        status == 2 and part["class"] == kind and part["step"] == step)


def _is_or_is_unseen(kind, step):
    def right(status, found, part):
        if part:
            return _is(kind, step)(status, found, part)
        return found["tensors"]["unseen_below"] > 0
    return right


def _is_not_accused(status, found, part):
    return not part and found["tensors"]["compared"] > 0


def judge_healthy(judge, two, name, seed):
    """Without dropout, whose masks are another rank's own."""
    base = f"{name}-{seed}-one"
    train(base, name, seed, judge.address, dropout=False)
    two.train(f"{name}-{seed}-two", name, seed, judge.address, dropout=False)
    judge.expect("healthy: two ranks against one", base, base,
                 f"{name}-{seed}-two", _is_not_accused)


def judge_faults(judge, two, name, seed):
    base = f"{name}-{seed}"
    for i, fault in enumerate(faults.FAULTS):
        if fault.kind == "other_seed":
            continue
        run = f"{base}-two-{i}"
        two.train(run, name, seed, judge.address, fault=i, dropout=False,
                  **fault.settings)
        kind = fault.kind if fault.kind in KINDS else "before_gradients"
        # AdamW takes the same step of gradients that are all scaled.
        right = _is_or_is_unseen if kind == "other_optimizer" else _is
        judge.expect("faults, two ranks against one", f"{base}: {fault.name}",
                     f"{base}-one", run, right(kind, fault.step))
    for i, reduced in enumerate(ranks.REDUCED):
        run = f"{base}-two-reduced-{i}"
        two.train(run, name, seed, judge.address, dropout=False,
                  reduced=reduced)
        judge.expect("faults, two ranks against one", f"{base}: {reduced}",
                     f"{base}-one", run, _is("before_gradients", 0))
        judge.expect("faults, two ranks against two", f"{base}: {reduced}",
                     f"{base}-two", run, _is("collective_differs", 0))


def judge_ranks(judge, names, healthy, faulty):
    """Of each net so many seeds of both kinds."""
    with ranks.Ranks() as two:
        for name in names:
            for seed in range(healthy):
                judge_healthy(judge, two, name, seed)
                if seed < faulty:
                    judge_faults(judge, two, name, seed)
