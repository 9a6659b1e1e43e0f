"""Trains nothing: says through the Python client, one run of each pathology
after the other, step by step, what such a training would say.

usage: sick_runs.py ADDRESS SECONDS [TURNS_A_SECOND]

All runs stay open for SECONDS and are sick in the second half; after that the
program waits for its input to end and closes them.
"""

import math
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]
                       / "client_lib/python/src"))

import exporters  # noqa: E402

import nanwatch  # noqa: E402

PYTORCH = nanwatch.Scaler(kind="dynamic", name="pytorch", init_scale=65536.0,
                          growth_interval=100, min_scale=1.0)


class Training:
    """A healthy run that collects everything; the others change a part."""

    family = None  # of its conditions, the one that becomes sick
    ranks = 1
    options = {"framework": "pytorch", "precision": "fp16",
               "overflow_mode": "inf_nan", "scaler": PYTORCH}

    def __init__(self, address, turns):
        self.name = type(self).__name__.lower()
        self.sick_at = turns // 2
        self.random = random.Random(self.name)
        self.scale, self.since_overflow = 65536.0, 0
        self.sessions = [
            nanwatch.init(job="e2e", run=self.name, rank=rank,
                          world_size=self.ranks, address=address,
                          host=f"node-{rank}", **self.device(rank),
                          **self.options)
            for rank in range(self.ranks)]
        for session in self.sessions:
            self.register(session)

    def device(self, rank):
        return {"device": "H100", "device_id": exporters.uuid(rank)}

    def register(self, session):
        pass

    def overflows(self, step):
        """One now and then, where the scaler tried twice the scale."""
        return self.scale > 65536.0

    def values(self, step, rank):
        """What differs from health at this step of this rank."""
        return {}

    def say_ops(self, session, step, rank):
        pass

    def turn(self, step):
        overflow = self.overflows(step)
        for rank, session in enumerate(self.sessions):
            self.say_ops(session, step, rank)
            session.step(step, **{
                "loss": (2.0 + 2.0 * math.exp(-step / 300)
                         + self.random.gauss(0, 0.02)),
                "scale": self.scale, "overflow": overflow,
                "skipped": overflow,
                "grad_norm": (math.inf if overflow
                              else 1.0 + self.random.gauss(0, 0.1)),
                "lr": 1e-3 / (1 + step / 500), "update_norm": 1e-3,
                "param_norm": 100.0 + step / 1000, "zero_fraction": 0.02,
                "underflow_fraction": 0.001, "consumed_samples": 512.0 * step,
                "applied_grad_norm": 1.0,
                **self.values(step, rank)})
        self.since_overflow = 0 if overflow else self.since_overflow + 1
        if overflow:
            self.scale = max(self.scale / 2, 1.0)
        elif self.since_overflow % 100 == 99:
            self.scale *= 2


class Healthy(Training):
    ranks = 2


class Collapse(Training):
    family = "scale"

    def overflows(self, step):
        return step >= self.sick_at or super().overflows(step)


class Diverges(Training):
    family = "loss"

    def values(self, step, rank):
        if step < self.sick_at:
            return {}
        return {"loss": math.nan if step > self.sick_at + 80
                else 2.3 * 1.05 ** (step - self.sick_at)}


class Spoilt(Training):
    family = "weight"

    def register(self, session):
        self.fc1 = session.register_op("fc1", type="Linear", dtype="fp32",
                                       shape=(4096,))

    def say_ops(self, session, step, rank):
        session.op(self.fc1, step=step, slot="parameter",
                   nan=3 * (step >= self.sick_at))


class Explodes(Training):
    family = "gradient"
    options = {"framework": "jax", "precision": "bf16",
               "scaler": nanwatch.Scaler(kind="none")}

    def overflows(self, step):
        return False

    def values(self, step, rank):
        return {"scale": None, "overflow": None, "skipped": None,
                "grad_norm": 400.0 if step >= self.sick_at else
                1.0 + self.random.gauss(0, 0.05)}


class Fp8(Training):
    family = "fp8"
    options = {"framework": "megatron", "precision": "fp8",
               "scaler": nanwatch.Scaler(kind="none")}

    def register(self, session):
        self.fc1 = session.register_op("fc1", type="Linear", dtype="fp8_e4m3",
                                       shape=(1000,))

    def overflows(self, step):
        return False

    def values(self, step, rank):
        return {"scale": None}

    def say_ops(self, session, step, rank):
        sick = step >= self.sick_at
        session.op(self.fc1, step=step, slot="input", abs_max=448.0, zero=200,
                   saturated=100 * sick, fp8_amax=20.0 if sick else 4.0,
                   fp8_scale_inv=0.01)


class Disagrees(Training):
    """Its rank 2 backs off alone."""

    family = "scale"
    ranks = 4

    def values(self, step, rank):
        return {"scale": self.scale / 2} if (step >= self.sick_at
                                             and rank == 2) else {}


class Drifts(Training):
    """The weights of its rank 1 are no longer those of the others."""

    family = "rank"
    ranks = 3

    def device(self, rank):
        return {"device": "Ascend910B", "device_id": str(exporters.NPU)}

    def values(self, step, rank):
        return {"replica_digest": 1000 + step + (rank == 1
                                                 and step >= self.sick_at)}


class Sinks(Training):
    """Its scale falls slowly, and is not at the floor when it ends."""

    family = "scale"
    options = {**Training.options, "framework": "jax", "scaler": nanwatch.Scaler(
        kind="dynamic", name="jmp", init_scale=65536.0, growth_interval=100)}

    def overflows(self, step):
        return step % 20 == 19 and step >= self.sick_at


class Drops(Training):
    """Says each 60 steps at once, for which its buffer is too small."""

    family = "telemetry"
    options = {**Training.options, "buffer_rows": 4}

    def turn(self, step):
        if step % 60 == 59:
            for each in range(step - 59, step + 1):
                super().turn(each)


def main(address, seconds, turns_a_second="40"):
    turns = int(float(seconds) * float(turns_a_second))
    runs = [kind(address, turns) for kind in Training.__subclasses__()]
    begun = time.monotonic()
    for step in range(turns):
        time.sleep(max(0.0, begun + step / float(turns_a_second)
                       - time.monotonic()))
        for run in runs:
            run.turn(step)
    print("said all", flush=True)
    sys.stdin.read()
    for run in runs:
        for session in run.sessions:
            session.close(5)


if __name__ == "__main__":
    main(*sys.argv[1:])
