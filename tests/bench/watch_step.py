"""What `watch.step` costs a PyTorch training of so many parameters, of steps of
about 0.1 s: watch_step.py [LEVEL [STEPS]], by the Python of
`tests/frameworks/environment torch`. Host time of the thread that trains, by its
own clock of CPU time, which others on the machine change less than the wall's.
Nothing is asserted."""

import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import torch  # noqa: E402
from daemons import Daemon  # noqa: E402

import nanwatch  # noqa: E402

STEP_S = 0.1
WARM = 80  # steps, after which it is known whose gradients a loss reaches


def training_of(parameters):
    """Layers of two parameters each, as of a small net, that learn nothing much;
    and as many texts as make a step of STEP_S."""
    torch.manual_seed(1)
    layers = [layer for _ in range(parameters // 2)
              for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers)
    return model, torch.optim.SGD(model.parameters(), lr=1e-3)


def one(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def rows_of_a_step(model, optimizer):
    rows = 16
    while True:
        x = torch.randn(rows, 64)
        one(model, optimizer, x)
        begun = time.thread_time()
        one(model, optimizer, x)
        took = time.thread_time() - begun
        if took >= STEP_S or rows > 1 << 18:
            return x
        rows = int(rows * min(4, max(1.1, STEP_S / took)))


def measure(parameters, level, steps, address):
    model, optimizer = training_of(parameters)
    x = rows_of_a_step(model, optimizer)
    alone = []
    for _ in range(steps):
        begun = time.thread_time()
        one(model, optimizer, x)
        alone.append(time.thread_time() - begun)
    watch = nanwatch.torch.watch(model, optimizer, None, address=address,
                                 run=f"{level}-{parameters}", level=level)
    host, whole = [], []
    for step in range(WARM + steps):
        begun = time.thread_time()
        loss = one(model, optimizer, x)
        before = time.thread_time()
        watch.step(loss)
        end = time.thread_time()
        if step >= WARM:
            host.append(end - before)
            whole.append(end - begun)
    watch.close(1)
    plain, told = statistics.median(alone), statistics.median(host)
    print(f"{parameters:5} parameters, {level}: step {1e3 * plain:6.1f} ms, "
          f"watch.step {1e6 * told:5.0f} us, {100 * told / plain:.2f} % of it; "
          f"the whole step {100 * (statistics.median(whole) / plain - 1):+.1f} %",
          flush=True)


def main():
    level = sys.argv[1] if len(sys.argv) > 1 else "default"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            for parameters in (150, 1500):
                measure(parameters, level, steps, daemon.address)
        finally:
            daemon.kill()


if __name__ == "__main__":
    main()
