"""A Trainer on one of several ranks, one of which asks that all stop; prints
at which step this one did."""

import json
import os
import subprocess
import sys
import tempfile

from tiny_gpt2 import trainer
from transformers import TrainerCallback

import nanwatch


class Asks(TrainerCallback):
    def on_step_end(self, args, state, control, **more):
        if state.global_step == 20 and os.environ["RANK"] == "0":
            subprocess.run(
                [*sys.argv[3:], "stop", sys.argv[2], "--reason", "enough"],
                check=True, stdout=subprocess.DEVNULL)


def main():
    callback = nanwatch.transformers.Callback(
        run=sys.argv[2], address=sys.argv[1], stop=True)
    with tempfile.TemporaryDirectory() as folder:
        it = trainer(folder, callback, 3000, ddp_backend="gloo")
        it.add_callback(Asks())
        it.train()
    print(json.dumps(it.state.global_step), flush=True)


main()
