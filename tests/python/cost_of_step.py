"""Prints what `run.step` costs the thread that calls it, beside its own
sender: python3 tests/python/cost_of_step.py [steps a second]. Nothing is
asserted: another machine, or a busy one, has other figures."""

import sys
import tempfile
import time

from daemons import Daemon

import nanwatch

SECONDS = 10


def percentile(sorted_values, share):
    return sorted_values[int(len(sorted_values) * share)]


def measure(call, rate, burst):
    """Each call's cost, `rate` a second in bursts with a sleep between. The
    longer the burst, the fewer of its calls find the caches cold."""
    clock = time.perf_counter_ns
    costs = []
    for i in range(SECONDS * rate):
        before = clock()
        call(i)
        costs.append(clock() - before)
        if i % burst == burst - 1:
            time.sleep(burst / rate)
    return sorted(costs)


class Bare:
    """The least that a step could be: a row of numbers is kept."""

    def __init__(self):
        self.rows = []

    def step(self, step, loss=None, scale=None, overflow=None, skipped=None,
             grad_norm=None, lr=None):
        self.rows.extend((step, time.time(), loss, scale, grad_norm, lr,
                          overflow, skipped, None))


def report(name, costs, clock_cost):
    net = [cost - clock_cost for cost in costs]
    print(f"{name:34} median {percentile(net, 0.5):6} ns   "
          f"p99 {percentile(net, 0.99):6} ns   "
          f"p99.9 {percentile(net, 0.999):7} ns   max {net[-1]:8} ns")


def main():
    rate = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    clock_cost = percentile(measure(lambda i: None, rate, 1000), 0.5)
    print(f"{rate} calls a second for {SECONDS} s; the clock's and an empty "
          f"call's {clock_cost} ns are taken off")
    with tempfile.TemporaryDirectory(prefix="nw-") as folder:
        daemon = Daemon(folder).start()
        try:
            run = nanwatch.init(run="cost", address=daemon.address)
            step = run.step
            for burst in (10, 1000):
                print(f"in bursts of {burst}")
                for name, call in (("a row kept, nothing else", Bare().step),
                                   ("step, five numbers", step)):
                    costs = measure(
                        lambda i, call=call: call(
                            step=i, loss=1.5, scale=65536.0, overflow=False,
                            grad_norm=2.5), rate, burst)
                    report(name, costs, clock_cost)
            costs = measure(
                lambda i: step(i + SECONDS * rate, 1.5, 65536.0, False, False,
                               2.5, 1e-3, update_norm=0.5), rate, 10)
            report("step, with one that few have", costs, clock_cost)
            run.close(20)
            print(run.stats)
        finally:
            daemon.kill()


main()
