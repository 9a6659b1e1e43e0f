"""Whether ranks, of which some ask to stop, do so at the same step, and how
long it took them to begin; agreeing.py WHO ASKS [SHORT [AWAY]]: the ranks that
take part, those that ask at step 5, those that have 20 steps of 40 only, and
those that stay away from step 6 while the others wait for them at step 9, for
longer than an exchange does; of digits. Prints the step, or null."""

import datetime
import json
import sys
import time

import torch

from nanwatch._torch import agreement


def main():
    torch.distributed.init_process_group("gloo")
    rank = str(torch.distributed.get_rank())
    agreement._PATIENCE = datetime.timedelta(seconds=2)
    agreement._LATE_SECONDS = agreement._LAST_SECONDS = 1.0
    short, away = [*sys.argv[3:], "", ""][:2]
    if away:
        agreement._ANSWER = datetime.timedelta(seconds=2)
    # Nothing of it is where a program makes its tensors.
    torch.set_default_device("meta")
    stopped = None
    for _ in range(2):  # a training after another
        if rank not in sys.argv[1]:
            continue
        it = agreement.Agreement()
        stopped = None
        for i in range(20 if rank in short else 40):
            if away and i == (6 if rank in away else 9):
                time.sleep(4)
            if it.stops(rank in sys.argv[2] and i >= 5):
                stopped = i
                break
        it.close()
    torch.distributed.destroy_process_group()
    print(json.dumps(stopped), flush=True)


main()
