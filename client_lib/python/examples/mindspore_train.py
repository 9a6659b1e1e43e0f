"""MindSpore's Model.train with nanwatch: one line is its own."""

import mindspore
import numpy
from mindspore import nn

import nanwatch

random = numpy.random.default_rng(1)
x = random.normal(size=(640, 16)).astype("float32")
y = (x.sum(1) > 0).astype("int32")
data = mindspore.dataset.NumpySlicesDataset(
    {"x": x, "y": y}, shuffle=False
).batch(16)

net = nn.SequentialCell(nn.Dense(16, 32), nn.Tanh(), nn.Dense(32, 2))
model = mindspore.train.Model(
    net,
    nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
    nn.Adam(net.trainable_params(), learning_rate=1e-2),
)
model.train(
    2,
    data,
    callbacks=[nanwatch.mindspore.Callback(run="mindspore-example")],
    dataset_sink_mode=False,
)
