"""TensorFlow's sessions on an Ascend NPU with nanwatch: one line is its own. It
needs a device and npu_bridge, and was written after their source: nobody has
run it here."""

import tensorflow as tf
from npu_bridge.npu_init import (
    ExponentialUpdateLossScaleManager,
    NPULossScaleOptimizer,
    npu_config_proto,
)

import nanwatch

tf.compat.v1.disable_eager_execution()
x = tf.random.normal([32, 16])
hidden = tf.compat.v1.layers.dense(x, 32, tf.nn.tanh)
out = tf.compat.v1.layers.dense(hidden, 1)
loss = tf.reduce_mean(tf.square(out - tf.reduce_sum(x, 1, keepdims=True)))

manager = ExponentialUpdateLossScaleManager(
    init_loss_scale=2**16,
    incr_every_n_steps=1000,
    decr_every_n_nan_or_inf=2,
    decr_ratio=0.5,
)
optimizer = NPULossScaleOptimizer(
    tf.compat.v1.train.GradientDescentOptimizer(0.01), manager
)
train = optimizer.minimize(
    loss, global_step=tf.compat.v1.train.get_or_create_global_step()
)

hook = nanwatch.ascend_tf.Hook(loss, manager, run="ascend-tf-example")
with tf.compat.v1.train.MonitoredTrainingSession(
    hooks=[hook], config=npu_config_proto()
) as session:
    for _ in range(100):
        session.run(train)
