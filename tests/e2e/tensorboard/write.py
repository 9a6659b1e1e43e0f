"""Writes writers.tfevents; needs `pip install tensorboardX tensorboard`."""

import glob
import math
import pathlib
import shutil
import tempfile

from tensorboard.plugins.scalar.summary import scalar_pb
from tensorboardX import SummaryWriter
from tensorboardX.proto.summary_pb2 import Summary

with tempfile.TemporaryDirectory() as folder:
    writer = SummaryWriter(folder)
    writer.add_text("arguments", "--fp16")
    for step in range(1, 61):
        loss = 10 * 0.98**step if step <= 40 else math.nan
        writer.add_scalar("train/loss", loss, step)
        writer.add_scalar("loss-scale/loss-scale", 65536.0 / 2 ** (step // 20),
                          step)
        tensor = scalar_pb("grad-norm", 0.5).SerializeToString()
        writer.file_writer.add_summary(Summary.FromString(tensor), step)
        writer.add_scalar("eval/loss", 7.0, step)
    writer.close()
    [path] = glob.glob(folder + "/*tfevents*")
    shutil.copy(path, pathlib.Path(__file__).with_name("writers.tfevents"))
