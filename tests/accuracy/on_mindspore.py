"""A small net of MindSpore, trained by functions, for faults."""

import mindspore
from mindspore import amp, nn
from small_faults import CLASSES, FEATURES

import nanwatch

VERSIONS = f"mindspore {mindspore.__version__}"


def train(fault, address, run):
    mindspore.set_seed(fault.seed)
    net = nn.SequentialCell(
        nn.Dense(FEATURES, 32), nn.SiLU(), nn.Dense(32, CLASSES))
    scaler = amp.DynamicLossScaler(2.0**12, 2, 1000)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def forward(x, y):
        loss = loss_of(net(x), y)
        return scaler.scale(loss), loss

    gradient = mindspore.value_and_grad(
        forward, None, optimizer.parameters, has_aux=True)
    weight = net.trainable_params()[-2]
    with nanwatch.mindspore.watch(
            scaler, optimizer, run=run, address=address) as watch:
        for step, (x, y) in enumerate(fault.batches()):
            flipped = fault.flip(step, weight.asnumpy())
            if flipped is not None:
                weight.set_data(mindspore.Tensor(flipped))
            rate = fault.rate(step, 3e-3)
            if rate != 3e-3:
                # set_data changes what a graph that is compiled already need
                # not look at.
                mindspore.ops.assign(
                    optimizer.learning_rate,
                    mindspore.Tensor(rate, mindspore.float32))
            (_, loss), grads = gradient(
                mindspore.Tensor(x), mindspore.Tensor(y))
            grads = scaler.unscale(grads)
            finite = amp.all_finite(grads)
            if finite:
                optimizer(grads)
            scaler.adjust(finite)
            watch.step(loss, finite, grads, lr=rate)
        assert watch.run.stats.bad_input == 0
        assert watch.run.flush(15), watch.run.stats
