"""What level "ops" costs trainings of other kinds and of steps of 2 to 200 ms:
ops.py [LEVEL [BLOCKS [TRAINING...]]], by the Python of
`tests/frameworks/environment torch`. Of each, a step with a watch and one without
in turns; "rows": the share of what passes through modules that is looked at.
Nothing is asserted; `--json` is for tests/bench/run."""

import json
import os
import sys
import tempfile

import watched_turns

import torch  # noqa: I001
import games
import models
import pictures
from torch import nn


class Dcgan(pictures.Dcgan):
    """A generator and its critic: some 10 ms."""

    def __init__(self):
        super().__init__(count=48)

    def step(self):
        return sum(super().step())


class Vae:
    """Digits, as most first ones of its kind: some 50 ms."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(784, 400), nn.ReLU())
            self.mean, self.spread = nn.Linear(400, 20), nn.Linear(400, 20)
            self.decoder = nn.Sequential(nn.Linear(20, 400), nn.ReLU(),
                                         nn.Linear(400, 784))

        def forward(self, x):
            hidden = self.encoder(x)
            mean, spread = self.mean(hidden), self.spread(hidden)
            z = mean + torch.randn_like(mean) * (0.5 * spread).exp()
            return self.decoder(z), mean, spread

    def __init__(self):
        self.model = self.Model()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3)

    def step(self):
        x = torch.rand(1024, 784)
        self.optimizer.zero_grad()
        made, mean, spread = self.model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(
            made, x, reduction="sum")
        loss = loss - 0.5 * (1 + spread - mean**2 - spread.exp()).sum()
        loss.backward()
        self.optimizer.step()
        return loss


class NanoGpt(models.Training):
    """Of 0.8 million weights: some 200 ms."""

    def __init__(self):
        super().__init__("text", dtype=torch.float32, scaler=None)
        self.model = models.CharTransformer(width=128, blocks=4, length=64)
        self.batches = models.Texts(1, 40, 64)
        self.optimizer = torch.optim.AdamW(self.model.parameters())


class Rnn(models.Training):
    """Characters, by an LSTM: some 2 ms."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.token = nn.Embedding(len(models.CHARS), 32)
            self.cells = nn.LSTM(32, 48, batch_first=True)
            self.head = nn.Linear(48, len(models.CHARS))

        def forward(self, tokens):
            return self.head(self.cells(self.token(tokens))[0])

    def __init__(self):
        super().__init__("text", dtype=torch.float32, scaler=None)
        self.batches = models.Texts(1, 14, 16)
        self.model = self.Model()
        self.optimizer = torch.optim.AdamW(self.model.parameters())


TRAININGS = {"dcgan": Dcgan, "vae": Vae, "nanogpt": NanoGpt, "rnn": Rnn,
             "ppo": games.Ppo}


def costs(level, blocks, names=()):
    """name -> Cost."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = watched_turns.Daemon(folder).start()
        try:
            for name in names or TRAININGS:
                yield name, watched_turns.measure(
                    TRAININGS[name], level, daemon.address, blocks=blocks,
                    rounds=1 if name == "nanogpt" else 2)  # its take minutes
        finally:
            daemon.kill()


def main():
    given = [word for word in sys.argv[1:] if word != "--json"]
    level = given[0] if given else "ops"
    blocks = int(given[1]) if len(given) > 1 else 4
    if "--json" in sys.argv:
        print(json.dumps({name: cost._asdict() for name, cost
                          in costs(level, blocks, given[2:])}))
        return
    print(f"torch {torch.__version__}, load average {os.getloadavg()[0]:.1f}\n"
          f"| {level} | a step, ms | wall | CPU | watch.step, us | rows | full "
          "looks at gradients each |\n|" + "---|" * 7)
    for name, cost in costs(level, blocks, given[2:]):
        print(f"| {name} | {1e3 * cost.step:.1f} | {cost.wall:.3f} x | "
              f"{cost.cpu:.3f} x | {1e6 * cost.host:.0f} | {cost.rows:.1%} | "
              f"{4 * cost.turns:.0f} updates |", flush=True)


if __name__ == "__main__":
    main()
