"""What a watch costs a PyTorch training of so many parameters, of steps of about
0.1 s: watch_step.py [LEVEL [BLOCKS]], by the Python of
`tests/frameworks/environment torch`; a step with a watch and one without in
turns. CPU is that of the thread that trains, which others on the machine change
less than the wall's time. Nothing is asserted."""

import os
import sys
import tempfile
import time

import torch
import watched_turns

STEP_S = 0.1


class Training:
    """Layers of two parameters each, as of a small net, that learn nothing
    much."""

    def __init__(self, parameters, rows):
        torch.manual_seed(1)
        layers = [layer for _ in range(parameters // 2)
                  for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(rows, 64)

    def step(self):
        self.optimizer.zero_grad()
        loss = self.model(self.x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss


def rows_of_a_step(parameters):
    """As many texts as make a step of STEP_S."""
    rows = 16
    while True:
        training = Training(parameters, rows)
        training.step()
        begun = time.thread_time()
        training.step()
        took = time.thread_time() - begun
        if took >= STEP_S or rows > 1 << 18:
            return rows
        rows = int(rows * min(4, max(1.1, STEP_S / took)))


def main():
    level = sys.argv[1] if len(sys.argv) > 1 else "default"
    blocks = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = watched_turns.Daemon(folder).start()
        try:
            for parameters in (150, 1500):
                rows = rows_of_a_step(parameters)
                cost = watched_turns.measure(
                    lambda: Training(parameters, rows), level, daemon.address,
                    blocks=blocks)
                print(f"{parameters:5} parameters, {level}: step "
                      f"{1e3 * cost.step:6.1f} ms, watch.step "
                      f"{1e6 * cost.host:5.0f} us, "
                      f"{100 * cost.host / cost.step:.2f} % of it; the whole "
                      f"step {cost.wall:.3f} x, CPU {cost.cpu:.3f} x",
                      flush=True)
        finally:
            daemon.kill()


if __name__ == "__main__":
    main()
