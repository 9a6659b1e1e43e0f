"""word2vec in MindSpore: train_mindspore.py padding|cure. As
train_pytorch.py beside it."""

from __future__ import annotations

import sys

import mindspore
import npu
import numpy
from mindspore import Tensor, nn, ops

scenario = sys.argv[1] if len(sys.argv) > 1 else "padding"
mindspore.set_seed(1)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.inputs = nn.Embedding(
            npu.WORDS, npu.WIDTH, embedding_table="normal"
        )
        self.outputs = nn.Embedding(
            npu.WORDS, npu.WIDTH, embedding_table="normal"
        )
        self.signs = Tensor([1.0] + [-1.0] * npu.NEGATIVES, mindspore.float32)

    def construct(self, words, others):
        near = self.inputs(words).expand_dims(1)
        scores = (near * self.outputs(others)).sum(-1)
        right = ops.sigmoid(scores * self.signs)
        rows, columns = npu.LOGICAL
        # As it is stored: in whole blocks, with zeros around.
        stored = ops.pad(
            right, (0, npu.STORED[1] - columns, 0, npu.STORED[0] - rows)
        )
        logarithms = ops.log(stored)
        return -logarithms[:rows, :columns].mean(), logarithms


net = Net()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
scaler = npu.Scaler(dynamic=scenario == "padding")
pairs = npu.Pairs()


def forward(words, others, scale):
    loss, logarithms = net(words, others)
    return loss * scale, loss, logarithms


gradient = mindspore.value_and_grad(
    forward, None, optimizer.parameters, has_aux=True
)

with npu.open_run(f"word2vec-mindspore-{scenario}", "mindspore", scaler) as run:
    log = npu.Log(run)
    for step in range(300):
        words, others = map(Tensor, pairs())
        scale = Tensor(scaler.scale, mindspore.float32)
        (_, loss, logarithms), scaled = gradient(words, others, scale)
        overflow = log.tell(step, logarithms.asnumpy())
        gradients = [g / scale for g in scaled]
        norm = numpy.sqrt(
            sum(float(ops.square(g).sum().asnumpy()) for g in gradients)
        )
        skipped = scaler.skips(overflow)
        if not skipped:
            optimizer(tuple(gradients))
        run.step(
            step,
            float(loss.asnumpy()),
            scaler.scale,
            overflow,
            skipped,
            float(norm),
            0.02,
            float_status=[int(overflow)] + [0] * 7,
        )
        scaler.update(overflow)

print(f"loss {float(loss.asnumpy()):.3f}, loss scale {scaler.scale:g}")
