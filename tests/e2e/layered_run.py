"""layered_run.py ADDRESS RUN: a run whose layers have loss scales of their
own. That of one is too low; of another all gradients are lost."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "client_lib" / "python" / "src"))

import nanwatch  # noqa: E402

STEPS = 80
# log2 of the gradients, and of the scale.
LAYERS = {"embed": (-34, 6), **{f"blocks.{i}": (-26 + 3 * i, 16 - 3 * i)
                                for i in range(5)}, "head": (-6, 1)}


def main(address, name):
    scaler = nanwatch.Scaler(kind="layerwise", name="adaloss")
    with nanwatch.init(run=name, address=address, scaler=scaler) as run:
        ops = {layer: run.register_op(layer, type="LinearBackward",
                                      dtype="fp16", shape=(4096,), order=i)
               for i, layer in enumerate(reversed(LAYERS))}
        for step in range(STEPS):
            for layer, (size, scale) in LAYERS.items():
                at = size + scale
                lost = at < -26
                run.op(ops[layer], step=step, slot="grad_output",
                       zero=4096 if lost else 0,
                       abs_max=0.0 if lost else 2.0**(at + 2),
                       rms=0.0 if lost else 2.0**at,
                       log2_mean=None if lost else at - 0.9,
                       log2_std=None if lost else 1.6)
            run.step(step, loss=2.0 * 0.99**step, layer_scales={
                ops[layer]: 2.0**scale for layer, (_, scale) in LAYERS.items()})
        assert run.flush(10)


if __name__ == "__main__":
    main(*sys.argv[1:])
