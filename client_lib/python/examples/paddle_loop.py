"""PaddlePaddle with nanwatch: two lines are its own."""

import paddle

import nanwatch

paddle.seed(1)
model = paddle.nn.Sequential(
    paddle.nn.Linear(16, 32), paddle.nn.Tanh(), paddle.nn.Linear(32, 1)
)
optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())

watch = nanwatch.paddle.watch(model, optimizer, run="paddle-example")
for _ in range(100):
    x = paddle.randn([32, 16])
    loss = paddle.square(model(x) - x.sum(1, keepdim=True)).mean()
    loss.backward()
    optimizer.step()
    watch.step(loss)
    optimizer.clear_grad()
watch.close()
