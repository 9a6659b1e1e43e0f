"""Two processes that train together by DistributedDataParallel over gloo, one
training after another."""

import multiprocessing
import os
import socket
import traceback

WORLD = 2
_PATIENCE = 300  # seconds that one training may take


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _work(rank, port, tasks, answers):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(WORLD),
                      LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(port))
    import faults
    import torch
    import torch.distributed as dist
    from training import train

    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    for fault, given, settings in iter(tasks.get, None):
        try:
            put = None if fault is None else faults.FAULTS[fault].put
            train(*given, put=put, share=(rank, WORLD), **settings)
            answers.put("")
        except Exception:
            answers.put(traceback.format_exc())
    dist.destroy_process_group()


class Ranks:
    def __enter__(self):
        context = multiprocessing.get_context("spawn")
        port = _free_port()
        self._answers = context.Queue()
        self._tasks = [context.Queue() for _ in range(WORLD)]
        self._processes = [
            context.Process(target=_work, args=(
                rank, port, self._tasks[rank], self._answers), daemon=True)
            for rank in range(WORLD)]
        for process in self._processes:
            process.start()
        return self

    def train(self, *given, fault=None, **settings):
        """Arguments are as for `training.train`; `fault`: its place in
        `faults.FAULTS`."""
        for tasks in self._tasks:
            tasks.put((fault, given, settings))
        for _ in self._tasks:
            said = self._answers.get(timeout=_PATIENCE)
            if said:
                raise RuntimeError(said)

    def __exit__(self, *of):
        for tasks in self._tasks:
            tasks.put(None)
        for process in self._processes:
            process.join(30)


# How gradients of ranks are reduced wrongly.
REDUCED = {"a sum, not a mean": [1.0, 1.0], "one rank counts twice": [0.5, 1.0],
           "one rank counts not": [1.0, 0.0]}


def reduce_by(weights, rank):
    """A hook of DDP's that adds the ranks' gradients with these weights."""
    import torch.distributed as dist

    def hook(state, bucket):
        work = dist.all_reduce(bucket.buffer().mul_(weights[rank]),
                               async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    return hook
