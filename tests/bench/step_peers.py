"""What telling a step of six numbers costs a training's thread: nanwatch beside
what else people use, one after another in one process, three rounds in turns.
step_peers.py [STEPS a round], by the Python of `tests/frameworks/environment
peers`; those that are not installed are left out, and said. Nothing is asserted;
`--json` is for tests/bench/run.

Wall: of one call, hot, 1,000 calls a second. "Beside nanwatch": how many times
its median, both less the empty call's, which is the loop's own. CPU: of the calling thread, and of
the whole process with the peer's own threads (wandb has a second process, which
is not counted)."""

import importlib.metadata as metadata
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from daemons import Daemon  # noqa: E402

import nanwatch  # noqa: E402

NAMES = ("loss", "scale", "grad_norm", "lr", "overflow", "skipped")
ROUNDS = 3
LONGEST_S = 8  # of a peer's turn


def numbers(step):
    return 1.0 / (step + 1), 65536.0, 0.5, 1e-3, False, False


def named(text, package):
    """With its version."""
    try:
        return text.format(metadata.version(package))
    except metadata.PackageNotFoundError:
        return text.format("(not installed)")


class Nanwatch:
    name = f"nanwatch {nanwatch.__version__}, run.step"

    def __init__(self, folder, address):
        self._run = nanwatch.init(run="peers", address=address)
        assert self._run.flush(10)

    def step(self, step):
        loss, scale, norm, rate, overflow, skipped = numbers(step)
        self._run.step(step, loss, scale, overflow, skipped, norm, rate)

    def close(self):
        assert self._run.close(20), self._run.stats


class Prometheus:
    name = named("prometheus_client {}, six gauges", "prometheus-client")

    def __init__(self, folder, address):
        import prometheus_client

        registry = prometheus_client.CollectorRegistry()
        self._gauges = [prometheus_client.Gauge(name, name, registry=registry)
                        for name in NAMES]

    def step(self, step):
        for gauge, number in zip(self._gauges, numbers(step)):
            gauge.set(number)

    def close(self):
        pass


class TensorBoard:
    name = named("TensorBoard {}, six scalars", "tensorboard")

    def __init__(self, folder, address):
        from tensorboard.summary import Writer

        self._writer = Writer(str(folder / "tensorboard"))

    def step(self, step):
        for name, number in zip(NAMES, numbers(step)):
            self._writer.add_scalar(name, float(number), step)

    def close(self):
        self._writer.close()


class Torch(TensorBoard):
    name = named("torch {} SummaryWriter, six scalars", "torch")

    def __init__(self, folder, address):
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder / "torch"))


class Mlflow:
    name = named("MLflow {} in files, log_metrics", "mlflow-skinny")

    def __init__(self, folder, address):
        import mlflow

        self._mlflow = mlflow
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        mlflow.set_tracking_uri(f"file://{folder}/mlflow")
        mlflow.start_run()

    def step(self, step):
        self._mlflow.log_metrics(
            dict(zip(NAMES, map(float, numbers(step)))), step)

    def close(self):
        self._mlflow.end_run()


class Aim:
    name = named("Aim {}, run.track", "aim")

    def __init__(self, folder, address):
        import aim

        self._run = aim.Run(repo=str(folder), system_tracking_interval=None,
                            capture_terminal_logs=False)

    def step(self, step):
        self._run.track(dict(zip(NAMES, map(float, numbers(step)))), step=step)

    def close(self):
        self._run.close()
        del self._run  # it writes once more, into the folder


class ClearMl:
    name = named("ClearML {} offline, six scalars", "clearml")

    def __init__(self, folder, address):
        os.environ["CLEARML_CACHE_DIR"] = str(folder / "clearml")
        import clearml

        clearml.Task.set_offline(True)
        self._task = clearml.Task.init(
            "peers", "peers", auto_connect_frameworks=False,
            auto_resource_monitoring=False, auto_connect_streams=False)
        self._logger = self._task.get_logger()

    def step(self, step):
        for name, number in zip(NAMES, numbers(step)):
            self._logger.report_scalar(name, name, float(number), step)

    def close(self):
        self._task.close()


class Wandb:
    name = named("wandb {} offline, run.log", "wandb")

    def __init__(self, folder, address):
        os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true",
                          WANDB_DIR=str(folder))
        import wandb

        self._run = wandb.init(project="peers", dir=str(folder))

    def step(self, step):
        self._run.log(dict(zip(NAMES, numbers(step))), step=step)

    def close(self):
        self._run.finish()


class Nothing:
    name = "an empty call"

    def __init__(self, folder, address):
        pass

    def step(self, step):
        numbers(step)

    def close(self):
        pass


PEERS = (Nothing, Nanwatch, Prometheus, TensorBoard, Torch, Wandb, Mlflow, Aim,
         ClearMl)


def measure(peer, first, steps):
    """Takes `steps` steps, or as many as go into some seconds."""
    clock = time.perf_counter_ns
    until = clock() + LONGEST_S * 10**9
    costs = []
    thread, process = time.thread_time_ns(), time.process_time_ns()
    for step in range(first, first + steps):
        before = clock()
        peer.step(step)
        costs.append(clock() - before)
        if step % 10 == 9:
            time.sleep(0.01)
            if clock() > until:
                break
    return (costs, (time.thread_time_ns() - thread) / len(costs),
            (time.process_time_ns() - process) / len(costs))


def those_installed(folder, address):
    """Makes them; says of the others that they are not there."""
    for make in PEERS:
        try:
            yield make(folder, address)
        except ImportError as error:
            print(f"left out: {make.name}: {error}", file=sys.stderr)


def costs(steps):
    """By name: walls of calls, and CPU of thread and process of each round."""
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        folder = pathlib.Path(folder)
        daemon = Daemon(folder).start()
        try:
            peers = list(those_installed(folder, daemon.address))
            told = {peer.name: ([], [], []) for peer in peers}
            for turn in range(ROUNDS + 1):
                for peer in peers:
                    walls, thread, process = measure(peer, turn * steps, steps)
                    if turn == 0:  # what is made at first use is there
                        continue
                    told[peer.name][0].extend(walls)
                    told[peer.name][1].append(thread)
                    told[peer.name][2].append(process)
            for peer in peers:
                peer.close()
        finally:
            daemon.kill()
    return told


def beside_ours(told):
    """By name: how many times nanwatch's median, both less the empty call's."""
    medians = {name: statistics.median(walls)
               for name, (walls, _, _) in told.items()}
    empty, ours = medians[Nothing.name], medians[Nanwatch.name]
    return {name: (median - empty) / (ours - empty)
            for name, median in medians.items()}


def main():
    given = [word for word in sys.argv[1:] if word != "--json"]
    steps = int(given[0]) if given else 5000
    told = costs(steps)
    ratios = beside_ours(told)
    if "--json" in sys.argv:
        print(json.dumps({name: ratio for name, ratio in ratios.items()
                          if name not in (Nothing.name, Nanwatch.name)}))
        return
    print(f"Python {sys.version.split()[0]}, {ROUNDS} rounds of {steps} steps, "
          f"{time.strftime('%Y-%m-%d')}; load average "
          f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| a step of six numbers, us | wall, median | p99 | p99.9 | "
          "CPU, thread | CPU, process | beside nanwatch |\n|" + "---|" * 7)
    for name, (walls, thread, process) in told.items():
        walls.sort()
        at = [walls[int(len(walls) * share)] / 1e3
              for share in (0.5, 0.99, 0.999)]
        cpu = [statistics.median(x) / 1e3 for x in (thread, process)]
        print(f"| {name} | " + " | ".join(f"{v:.2f}" for v in at + cpu) +
              f" | {ratios[name]:.1f} x |")


main()
