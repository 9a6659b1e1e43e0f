"""See `run`."""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import daemons  # noqa: E402

_library = daemons.BIN.parent / "client_lib" / "libnanwatch.so"
os.environ.setdefault("NANWATCH_LIBRARY", str(_library))

import ddp  # noqa: E402
import faults  # noqa: E402
import nets  # noqa: E402
import restarts  # noqa: E402
import torch  # noqa: E402
import tuning  # noqa: E402
from sizes import Sizes  # noqa: E402
from training import train  # noqa: E402


class Judge:
    def __init__(self, address, shown):
        self.address = address
        self.shown = shown
        self.passed = self.failed = 0
        self.counts = {}
        self.shares = {}

    def compare(self, a, b, *more):
        said = subprocess.run(
            [daemons.BIN / "nanwatch", "--address", self.address, "compare",
             a, b, "--json", *more], capture_output=True, text=True,
            timeout=60)
        if said.returncode not in (0, 1, 2):
            raise SystemExit(f"compare {a} {b}: {said.stderr}")
        return said.returncode, json.loads(said.stdout)

    def judge_shares(self):
        for goal, (right, wrong) in self.shares.items():
            total = right + wrong
            print(f"{goal}: {right / total:.1%} right, wanted {SHARE:.0%}")
            few = wrong <= math.ceil((1 - SHARE) * total)
            self.passed += few
            self.failed += not few

    def expect(self, group, what, a, b, right):
        """`right`: says whether what was found is right."""
        status, found = self.compare(a, b)
        part = found.get("divergence", {})
        self.count(group, what, right(status, found, part), shown(part))

    def count(self, group, what, fine, found, goal=None):
        """`goal`: what nearly all of are to be right, not each."""
        of = self.counts.setdefault(group, [0, 0])
        of[not fine] += 1
        if goal is None:
            self.passed += bool(fine)
            self.failed += not fine
        else:
            self.shares.setdefault(goal, [0, 0])[not fine] += 1
        if not fine or self.shown:
            print(f"{'' if fine else 'WRONG ':6}{group:24} {what:44} {found}",
                  flush=True)


def is_of(fault, net, bits):
    def right(status, found, part):
        if status != 2 or part.get("class") != fault.kind:
            return False
        if fault.op and not part["op"].startswith(
                net.places[fault.op].removesuffix(".weight")):
            return False
        return not bits or part["step"] == fault.step
    return right


def agrees(status, found, part):
    """No run is accused."""
    return status == 0 and not part and found["tensors"]["compared"] > 0


def judge_net(judge, name, seed):
    net = nets.NETS[name]
    base = f"{name}-{seed}"
    train(base, name, seed, judge.address)
    train(base + "-again", name, seed, judge.address)
    judge.expect("healthy: a repeat", base, base, base + "-again",
                 lambda s, found, part: agrees(s, found, part)
                 and "first_unequal" not in found)
    order = base + "-order"
    train(order, name, seed, judge.address, threads=2)
    judge.expect("healthy: another order", base, base, order, agrees)
    for parts in (1, 2):
        train(f"{base}-of{parts}", name, seed, judge.address, dropout=False,
              parts=parts)
    judge.expect("healthy: a batch in parts", base, base + "-of1",
                 base + "-of2", agrees)
    for i, fault in enumerate(faults.FAULTS):
        run = f"{base}-{i}"
        train(run, name, seed, judge.address, put=fault.put, **fault.settings)
        judge.expect("faults, same machine", f"{base}: {fault.name}", base,
                     run, is_of(fault, net, bits=True))
        if fault.kind in faults.WALKED or fault.kind.startswith("other_d"):
            judge.expect("faults, another order", f"{base}: {fault.name}",
                         order, run, is_of(fault, net, bits=True))


def judge_restart(judge, name, seed):
    """Runs that go on from one checkpoint, against one that does it right."""
    base, saved = f"{name}-{seed}-right", {}
    train(base + "-first", name, seed, judge.address, steps=20, save=saved)
    train(base, name, seed, judge.address, begin=20, load=saved)
    for what, kind in [(None, None), ("rng", "other_seed"),
                       ("data", "other_data"), ("weights", "other_weights"),
                       ("head", "other_weights")]:
        run = f"{base}-{what}"
        train(run, name, seed, judge.address, begin=20, load=saved,
              restart=what)
        judge.expect(
            "restart", f"{base}: {what or 'all right'}", base, run,
            agrees if kind is None else
            lambda s, found, part, kind=kind: s == 2 and part["class"] == kind)
    for restart in ("data", None):
        run = f"{base}-attempts-{restart or 'right'}"
        train(run, name, seed, judge.address, steps=24)
        train(run, name, seed, judge.address, begin=20, load=saved,
              restart=restart)
        judge.expect("restart", run, f"{run}@0", f"{run}@1",
                     begins_anew if restart == "data" else goes_on)


def begins_anew(status, found, part):
    return (status == 2 and part["class"] == "other_data"
            and part["step"] == 20 and found["batches"]["begins_anew"])


def goes_on(status, found, part):
    return (not part and found["batches"]["steps"] == 4
            and not found["batches"]["begins_anew"])


FORMATS = {"bf16": torch.bfloat16, "fp16": torch.float16}
# A fault so many times the format's noise is to be found; the table has those
# that are not much larger apart.
LARGE, SMALL = 3, 2
SHARE = 0.95  # of those that are to be found, and of the smaller ones


def judge_healthy(judge, name, seed, word, group):
    """fp32 against a lower format. Returns the run's name."""
    base = f"{name}-{seed}"
    half = f"{base}-{word}"
    train(half, name, seed, judge.address, autocast=FORMATS[word])
    judge.expect(group, base, base, half,
                 lambda s, found, part:
                 not part and found["tensors"]["compared"] > 0)
    return half


def judge_formats(judge, name, seed):
    """A fault of twice the noise is found; of a smaller one it is said that it
    would not be seen, if it is not; a healthy pair is not accused."""
    sizes, base = Sizes(name, seed), f"{name}-{seed}"
    for word, autocast in FORMATS.items():
        half = judge_healthy(judge, name, seed, word, f"healthy: {word}")
        for i, fault in enumerate(faults.FAULTS):
            if fault.kind not in faults.WALKED:
                continue
            run = f"{half}-{i}"
            train(run, name, seed, judge.address, put=fault.put,
                  autocast=autocast, **fault.settings)
            size = sizes.fault(fault) / sizes.noise(fault, autocast)
            judge_size(judge, word, size, fault, nets.NETS[name], base, run)


def judge_other_nets(judge, seeds):
    for name in nets.HEALTHY:
        for seed in seeds:
            train(f"{name}-{seed}", name, seed, judge.address)
            for word in FORMATS:
                judge_healthy(judge, name, seed, word, f"healthy: {name}")


def judge_size(judge, word, size, fault, net, base, run):
    status, found = judge.compare(base, run)
    part = found.get("divergence", {})
    named = is_of(fault, net, bits=False)(status, found, part) or (
        is_of_gradient(fault, net, part))
    unseen = not part and found["tensors"]["unseen_below"] > 0
    if size >= LARGE:
        group = f"{word}: {LARGE} x noise and more"
    elif size >= SMALL:
        group = (f"{word}: {SMALL} to {LARGE} x noise"
                 f"{', unseen' if unseen else ''}")
    else:
        group = f"{word}: less than {SMALL} x noise"
    judge.count(group, f"{base}: {fault.name} ({size:.2g} x noise)",
                named or (unseen and size < SMALL), shown(part),
                f"{word}, {SMALL} x noise and more" if size >= SMALL
                else "lower formats, smaller")


def is_of_gradient(fault, net, part):
    """A function between two modules is named by its gradient, which arrives
    at the one before it."""
    return (fault.kind == "divergent_function"
            and part.get("class") == "divergent_backward"
            and part["slot"] == "grad_output"
            and part["op"] == net.places["before"])


def shown(part):
    return (f"{part.get('class', '-'):20} {part.get('op', ''):24} "
            f"step {part.get('step', '-')!s:4} {part.get('distance', 0):.1e} "
            f"{part.get('usual_at_most', 0):.1e}")


REPEATED = {  # by the kind of program: what is named, kind and op
    "add": [], "put": [("op", "scatter")], "dropout": [("op", "drop")],
    "loader": [("data", "batch")], "weights": [("weights", "fc.weight")],
    "compiled": [("op", "scatter")],
}


def run_program(judge, command, *program):
    """What a command says of a program that it runs."""
    environment = {**os.environ, "PYTHONPATH": str(daemons.SOURCE)}
    said = subprocess.run(
        [daemons.BIN / "nanwatch", "--address", judge.address, *command,
         "--json", "--", sys.executable, *map(str, program)],
        capture_output=True, text=True, timeout=1500, env=environment)
    if said.returncode not in (0, 1, 2, 3):
        raise SystemExit(f"{command} {program}: {said.stderr}")
    if judge.shown or not said.stdout:
        print(said.stderr[-500:])
    return said.returncode, json.loads(said.stdout) if said.stdout else None


def judge_repeats(judge, kinds):
    """Each program three times, in processes of its own."""
    for kind in kinds:
        status, found = run_program(judge, ["repeat"], HERE / "repeated.py",
                                    kind)
        named = [(one["kind"], one["op"]) for one in found["unsteady"]]
        judge.count(
            "repeat", kind,
            named == REPEATED[kind] and found["tensors"] > 0
            and found["deterministic"] == (not named)
            and status == (2 if named else 0), f"{named}")


def judge_floors(judge, folder):
    """A pair of repeats of a program that is not deterministic is accused, and
    is not with the floors that its repeats measured."""
    floors = folder / "floors.json"
    _, found = run_program(judge, ["repeat", "--floors", floors],
                           HERE / "repeated.py", "dropout")
    a, b = found["runs"][:2]
    for given, accused in ([], True), (["--floors", floors], False):
        status, said = judge.compare(a, b, *given)
        judge.count("repeat", f"dropout, floors: {bool(given)}",
                    ("divergence" in said) == accused, f"status {status}")


PRECHECKED = {  # by the kind: keys of what is wrong, and of what may be
    "good": ([], []),
    "no_seed": ([], ["deterministic_algorithms", "initial_seed"]),
    "fp16": (["optimizer.dtype", "optimizer.eps", "scaler"],
             ["deterministic_algorithms"]),
    "saturates": (["overflow_mode"], []),
}


def judge_prechecks(judge):
    def keys(found, weight):
        return sorted(one["key"] for one in found["remarks"]
                      if one["weight"] == weight)

    for kind, (wrong, may) in PRECHECKED.items():
        status, found = run_program(judge, ["precheck"],
                                    HERE / "prechecked.py", kind)
        named = keys(found, "wrong"), keys(found, "may")
        judge.count("precheck", kind, named == (wrong, may)
                    and status == bool(wrong), f"{named}")
        if kind == "good":
            benchmark = found["run"]
    for kind, differ in ("good", []), ("rate", ["optimizer.lr"]):
        status, found = run_program(judge, ["precheck", "--against", benchmark],
                                    HERE / "prechecked.py", kind)
        named = [one["key"] for one in found["differ"]]
        judge.count("precheck", f"{kind} against good", named == differ
                    and status == bool(differ), f"{named}")


FUSED = {  # by what the program is: the region and the op that are named
    ("healthy", "block"): None, ("healthy", "whole"): None,
    **{("healthy", name): None for name in nets.NETS},
    ("epsilon", "block"): ("blocks.1", "blocks.1.norm"),
    ("epsilon", "whole"): ("model", "blocks.0.norm"),
    ("epsilon", "transformer"): ("model", "blocks.0.norm1"),
}


def judge_fusion(judge, kinds):
    for kind in kinds:
        status, found = run_program(judge, ["fusion"], HERE / "fused.py", *kind)
        named = None if found["agrees"] else (found["region"], found["op"])
        judge.count("fusion", " ".join(kind), named == FUSED[kind]
                    and found["hidden"] > 0 and found["compiled"]
                    and status == (2 if named else 0), f"{named}")
    status, found = run_program(judge, ["fusion"], HERE / "fused.py", "healthy",
                                "nothing")
    judge.count("fusion", "nothing is compiled", status == 3
                and not found["compiled"] and not found["agrees"],
                f"status {status}")
    status, found = run_program(judge, ["fusion"], HERE / "fused.py",
                                "unseeded", "block")
    judge.count("fusion", "a program that does not repeat itself",
                status == 3 and found is None, f"status {status}")


def judge_programs(judge, all_of_them, folder):
    """What runs a program itself: repeat, precheck, fusion, and all steps."""
    judge_repeats(judge, REPEATED if all_of_them else ["add", "put"])
    judge_floors(judge, folder)
    judge_prechecks(judge)
    judge_fusion(judge, FUSED if all_of_them else [("healthy", "block")])
    tuning.judge_tuning(judge, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--part", choices=[*nets.NETS, "healthy", "ranks", "programs"])
    arguments = parser.parse_args()
    names = list(nets.NETS) if arguments.all else ["transformer"]
    if arguments.part:
        names = [name for name in nets.NETS if name == arguments.part]
    seeds = range(5 if arguments.all else 2)
    torch.use_deterministic_algorithms(True)
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = daemons.Daemon(folder).start()
        try:
            judge = Judge(daemon.address, arguments.verbose)
            for name in names:
                for seed in seeds:
                    judge_net(judge, name, seed)
                    judge_formats(judge, name, seed)
                judge_restart(judge, name, 0)
            if arguments.part in (None, "healthy"):
                judge_other_nets(judge, seeds)
            if arguments.part in (None, "ranks"):
                ddp.judge_ranks(judge, *((nets.NETS, 10, 2) if arguments.all
                                         else (["gru"], 1, 1)))
            if arguments.part not in ("healthy", "ranks", "programs"):
                restarts.judge_restarts(
                    judge, *((names, 3, 1000, 300, True) if arguments.all
                             else (["gru"], 1, 400, 150)))
            if arguments.part in (None, "programs"):
                judge_programs(judge, arguments.all, pathlib.Path(folder))
        finally:
            daemon.kill()
    print(f"\n{'':32} {'right':>6} {'wrong':>6}")
    for group, (right, wrong) in sorted(judge.counts.items()):
        print(f"{group:32} {right:6} {wrong:6}")
    judge.judge_shares()
    print(f"{judge.passed} passed, {judge.failed} failed")
    return judge.failed > 0


if __name__ == "__main__":
    sys.exit(main())
