"""compared_runs.py ADDRESS GOOD PORTED: two recorded runs of one small network.
The second one's third block is wrong from step 64 on, as its loss shows; before,
they differ by roundings."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "client_lib" / "python" / "src"))

import nanwatch  # noqa: E402

STEPS = 200
RECORDED = (0, 1, 2, 64, 128, 192)  # as level="compare" does
BLOCKS = 6
WRONG = "blocks.2"
FROM = 64
ROUNDING, FAULT = 1e-7, 0.4  # shares of a tensor's norm
SKETCH = 16


def tensors():
    """Op, type, slot, in the order of causes."""
    blocks = [f"blocks.{i}" for i in range(BLOCKS)]
    yield from ((f"{b}.weight", "Parameter", "parameter") for b in blocks)
    yield "batch", "Batch", "input"
    for block in blocks:
        yield block, "Linear", "input"
        yield block, "Linear", "output"
    for block in reversed(blocks):
        yield block, "LinearBackward", "grad_output"
        yield block, "LinearBackward", "grad_input"
    yield from ((f"{b}.weight", "Parameter", "grad_input") for b in blocks)


def numbers(step, name, ported, is_wrong):
    source = random.Random(f"{step} {name}")
    values = [source.gauss(0, 1) for _ in range(SKETCH)]
    computed = name[1] not in ("Parameter", "Batch") or name[2] == "grad_input"
    if not ported or not (computed or step > 0) or name[1] == "Batch":
        return values
    share = FAULT if is_wrong else ROUNDING
    return [v + share * source.gauss(0, 1) for v in values]


def loss_at(step, ported):
    noise = random.Random(step).gauss(0, 0.03)
    drift = 0.5 * (step - FROM) / STEPS if ported and step > FROM else 0
    return 1 + 2 * 0.98**step + drift + noise


def main(address, name, ported):
    with nanwatch.init(
            run=name, address=address, precision="fp32",
            settings={"lr": "0.001", "attention": "fused" if ported else "plain",
                      "host": name}) as run:
        names = list(tensors())
        ops = {}
        for op, type_, _ in names:
            if (op, type_) not in ops:
                ops[op, type_] = run.register_op(
                    op, type=type_, dtype="fp32", shape=(64, 64),
                    order=len(ops))
        for step in range(STEPS):
            begun = False
            for each in names if step in RECORDED else ():
                begun = begun or (step >= FROM and
                                  each == (WRONG, "Linear", "output"))
                values = numbers(step, each, ported, begun)
                run.op(ops[each[:2]], step=step, slot=each[2],
                       digest=hash(tuple(values)) % 2**63, sketch=values)
            run.step(step, loss=loss_at(step, ported), lr=1e-3)
        assert run.flush(10)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], False)
    main(sys.argv[1], sys.argv[3], True)
