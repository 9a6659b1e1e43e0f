"""A program that `nanwatch fusion` runs: fused.py KIND HOW. `healthy`;
`epsilon`: a cell takes another epsilon where it is compiled. HOW: `graph` mode,
`jit` of the step, Model.`train` in graph mode, or `nothing` is compiled."""

import sys

import mindspore
import numpy
from mindspore import nn, ops

import nanwatch.mindspore

KIND, HOW = sys.argv[1:]


def compiling():
    """A function that is a constant of the graph is called by the compiler."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name in ("compile", "_compile"):
            return True
        frame = frame.f_back
    return False


@ops.constexpr
def epsilon():
    return 1e-3 if KIND == "epsilon" and compiling() else 1e-6


class Norm(nn.Cell):
    def construct(self, x):
        x = x - x.mean(-1, keep_dims=True)
        variance = ops.square(x).mean(-1, keep_dims=True)
        return x / ops.sqrt(variance + epsilon())


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mix = nn.Dense(16, 16)
        self.norm = Norm()

    def construct(self, x):
        return x + self.norm(ops.tanh(self.mix(x)))


def main():
    compiles = HOW in ("graph", "train")
    mindspore.set_context(mode=mindspore.GRAPH_MODE if compiles
                          else mindspore.PYNATIVE_MODE)
    mindspore.set_seed(1)
    net = nn.SequentialCell(*(Block() for _ in range(3)), nn.Dense(16, 1))
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    random = numpy.random.default_rng(2)
    x = random.normal(0, 1, (160, 16)).astype("float32")
    if HOW == "train":
        data = mindspore.dataset.NumpySlicesDataset(
            {"x": x, "y": x[:, :1]}, shuffle=False).batch(32)
        model = mindspore.train.Model(net, nn.MSELoss(), optimizer)
        model.train(1, data, callbacks=[nanwatch.mindspore.Callback()],
                    dataset_sink_mode=False)
        raise SystemExit("it was to end before")

    def forward(x):
        return ops.square(net(x) - x[:, :1]).mean()

    gradient = mindspore.value_and_grad(forward, None, optimizer.parameters)

    def update(x):
        loss, grads = gradient(x)
        optimizer(grads)
        return loss, grads

    if HOW == "jit":
        update = mindspore.jit(update)
    watch = nanwatch.mindspore.watch(None, optimizer, net)
    for i in range(5):
        loss, grads = update(mindspore.Tensor(x[32 * i:32 * (i + 1)]))
        watch.step(loss, grads=grads)
    raise SystemExit("it was to end before")


main()
