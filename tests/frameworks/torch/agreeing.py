"""Whether ranks, of which some ask to stop, do so at the same step, and how
long it took them to begin; agreeing.py WHO ASKS [SHORT]: the ranks that take
part, those that ask at step 5, and those that have 20 steps of 40 only, of
digits. Prints the step, or null."""

import datetime
import json
import sys

import torch

from nanwatch._torch import agreement


def main():
    torch.distributed.init_process_group("gloo")
    rank = str(torch.distributed.get_rank())
    agreement._PATIENCE = datetime.timedelta(seconds=2)
    agreement._LATE_SECONDS = agreement._LAST_SECONDS = 1.0
    short = sys.argv[3] if len(sys.argv) > 3 else ""
    # Nothing of it is where a program makes its tensors.
    torch.set_default_device("meta")
    stopped = None
    for _ in range(2):  # a training after another
        if rank not in sys.argv[1]:
            continue
        it = agreement.Agreement()
        stopped = next(
            (i for i in range(20 if rank in short else 40)
             if it.stops(rank in sys.argv[2] and i >= 5)), None)
        it.close()
    torch.distributed.destroy_process_group()
    print(json.dumps(stopped), flush=True)


main()
