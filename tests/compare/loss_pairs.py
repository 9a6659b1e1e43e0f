"""See `loss-pairs`."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import daemons  # noqa: E402

RULE = "bench_loss_divergence"
MEAN_OF, IN_A_ROW = 20, 10
OTHERS = {"msprobe 1 %": 0.01, "verl 2 %": 0.02, "Megatron 5 %": 0.05}
NETS = ("conv", "gru", "transformer")


def like(number, /, **other):
    return {"seed": number, "data_seed": number, "dropout_seed": number,
            **other}


# What differs from the benchmark: healthy pairs, by how many seeds. 13 a net,
# and one more: 40.
HEALTHY = {
    "threads": (3, lambda s: like(s, threads=2)),
    "bf16": (3, lambda s: like(s, bf16=True)),
    "weights and dropout": (4, lambda s: like(
        s, seed=s + 10, dropout_seed=s + 10)),
    "order of the data": (3, lambda s: like(s, data_seed=s + 10)),
}
ONE_MORE = ("transformer", "order of the data", 3)
# Faults: what is done, and the first step of it.
FAULTS = {
    "rate x 1.5 at step 200": (200, lambda s: like(s, change=(200, 1.5))),
    "rate x 3 at step 200": (200, lambda s: like(s, change=(200, 3.0))),
    "rate x 0.1, other data": (0, lambda s: like(
        s, data_seed=s + 10, rate=2e-4)),
}


def path_of(folder, net, settings):
    name = "-".join([net, *(f"{key}_{value}" for key, value in sorted(
        settings.items()))])
    return folder / ("".join(c if c.isalnum() or c in "-_." else "_"
                             for c in name) + ".csv")


def train(path, net, settings, steps):
    """Writes the losses of a training, if it is not there yet."""
    if path.exists():
        return
    import losses
    part = path.with_suffix(".part")
    with open(part, "w") as out:
        out.write("step,loss\n")
        for step, loss in losses.losses(net, steps=steps, **settings):
            out.write(f"{step},{loss!r}\n")
    part.rename(path)


def read(path):
    rows = path.read_text().splitlines()[1:]
    return [float(row.split(",")[1]) for row in rows]


def nanwatch(base, path):
    """The step at which the rule speaks first; None: it does not."""
    done = subprocess.run(
        [daemons.BIN / "nanwatch", "check", "--json", "--against", base, path],
        capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"check --against {base} {path}: {done.stderr}")
    for one in json.loads(done.stdout)["incidents"]:
        found = [one["rule"], *(f["rule"] for f in one.get("findings", []))]
        if RULE in found and one["severity"] in ("warning", "critical"):
            return one["opened_step"]
    return None


def simple(base, other, share):
    """Of a rule that takes means of 20 losses and a share of the
    benchmark's: ten in a row."""
    row = 0
    for i in range(MEAN_OF, len(base) + 1):
        a, b = sum(base[i - MEAN_OF:i]), sum(other[i - MEAN_OF:i])
        row = row + 1 if abs(b / a - 1) > share else 0
        if row == IN_A_ROW:
            return i - 1
    return None


def pairs(nets, seeds):
    for kind, (count, settings) in HEALTHY.items():
        for net in nets:
            for seed in range(min(count, seeds)):
                yield "healthy", kind, net, seed, settings(seed)
    if seeds > 3:
        net, kind, seed = ONE_MORE
        yield "healthy", kind, net, seed, HEALTHY[kind][1](seed)
    for kind, (_, settings) in FAULTS.items():
        for net in nets:
            for seed in range(min(2, seeds)):
                yield "fault", kind, net, seed, settings(seed)


def judge(folder, nets, seeds, steps):
    counts, passed, failed = {}, 0, 0
    for group, kind, net, seed, settings in pairs(nets, seeds):
        base = path_of(folder, net, like(seed))
        other = path_of(folder, net, settings)
        train(base, net, like(seed), steps)
        train(other, net, settings, steps)
        a, b = read(base), read(other)
        found = {"nanwatch": nanwatch(base, other),
                 **{name: simple(a, b, share)
                    for name, share in OTHERS.items()}}
        row = counts.setdefault((group, kind), {"pairs": 0})
        row["pairs"] += 1
        for name, step in found.items():
            row[name] = row.get(name, 0) + (step is not None)
        right = (found["nanwatch"] is None) == (group == "healthy")
        passed, failed = passed + right, failed + (not right)
        print(f"{'' if right else 'WRONG ':6}{net:12} {kind:24} seed {seed}: "
              + ", ".join(f"{name} {'-' if step is None else step}"
                          for name, step in found.items()), flush=True)
    return counts, passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder for the losses, to go on with")
    arguments = parser.parse_args()
    nets, seeds, steps = ((NETS, 4, 2000) if arguments.all
                          else (("gru",), 1, 400))
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        keep = arguments.keep or pathlib.Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        counts, passed, failed = judge(keep, nets, seeds, steps)
    names = ["pairs", "nanwatch", *OTHERS]
    print(f"\n{'pairs in which a rule speaks':34}"
          + "".join(f"{name:>14}" for name in names))
    for (group, kind), row in counts.items():
        print(f"{group + ': ' + kind:34}"
              + "".join(f"{row[name]:14}" for name in names))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
