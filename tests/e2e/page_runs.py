"""page_runs.py ADDRESS RUN...: trains nothing, and says what such a training
would say.

  gan          two optimizers that report the same steps, one loss far above
               the other
  turns        a critic five times, then its actor
  origin       400 ops; one makes NaN, and it passes it on to 48
  clean        400 ops, none of them bad; then steps without
  spiked       a loss that stands high for some steps, is there and goes on
  spoilt       a loss that is NaN from one step on, to the end; an update norm
               now and then
  interrupted  somebody pressed ^C
  short        two steps
"""

import math
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "client_lib" / "python" / "src"))

import nanwatch  # noqa: E402

STEPS = 300
OPS = 400
BAD_FROM = 20   # step
ORIGIN = 200    # op
SPOILT = 48     # ops
OP_STEPS = 30


def flushed(run):
    assert run.flush(20)


def gan(run):
    noise = random.Random(1)
    for step in range(STEPS):
        run.step(step, loss=0.6 + 0.02 * noise.random(), grad_norm=0.4,
                 optimizer="discriminator")
        run.step(step, loss=6.0 + 0.2 * noise.random(), grad_norm=2.0,
                 optimizer="generator")
    flushed(run)


def turns(run):
    noise = random.Random(2)
    for step in range(STEPS):
        last = step % 6 == 5
        run.step(step, optimizer="actor" if last else "critic",
                 loss=(3.0 if last else 0.2) * (1 + 0.02 * noise.random()))
    flushed(run)


def say_ops(run, bad):
    ops = [run.register_op(f"layers.{i // 8}.{i % 8}", type="Linear",
                           dtype="bf16", shape=(64,), order=i)
           for i in range(OPS)]
    for step in range(OP_STEPS):
        for i, op in enumerate(ops):
            spoilt = bad and step >= BAD_FROM and ORIGIN <= i <= ORIGIN + SPOILT
            run.op(op, step=step, slot="output", elements=64,
                   nan=0 if not spoilt else 3 if i == ORIGIN else 64)
        lost = bad and step > BAD_FROM
        run.step(step, loss=math.nan if lost else 3 * math.exp(-step / 100),
                 grad_norm=1.0)
        if step % 10 == 9:
            flushed(run)


def origin(run):
    say_ops(run, True)


def clean(run):
    say_ops(run, False)
    for step in range(OP_STEPS, 2 * OP_STEPS):
        run.step(step, loss=2.0, grad_norm=1.0)
    flushed(run)


def spiked(run):
    for step in range(STEPS):
        high = STEPS - 12 <= step
        run.step(step, loss=(8.0 if high else 2.0) + 0.01 * (step % 7),
                 grad_norm=5.0 if high else 1.0)
    flushed(run)
    time.sleep(3600)  # until somebody ends it


def spoilt(run):
    for step in range(STEPS):
        bad = step > 200
        run.step(step, loss=math.nan if bad else 2.0 + 0.01 * (step % 7),
                 grad_norm=1.0, update_norm=None if step % 120 else
                 math.nan if bad else 0.16)
    flushed(run)


def short(run):
    for step in range(2):
        run.step(step, loss=2.0)
    flushed(run)


def main(address, *names):
    for name in names:
        run = nanwatch.init(run=name, address=address, framework="pytorch",
                            precision="bf16")
        if name == "interrupted":
            for step in range(50):
                run.step(step, loss=2.0 + 0.01 * (step % 7), grad_norm=1.0)
            flushed(run)
            raise KeyboardInterrupt
        globals()[name](run)
        run.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
