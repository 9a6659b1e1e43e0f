"""An ingest stream on which anything can be said, and how to say it."""

import json
import queue
import subprocess
import threading
import time

from conftest import BIN


def now_us():
    return int(time.time() * 1e6)


class Raw:
    """One ingest stream on which anything can be said."""

    def __init__(self, address, **options):
        self.process = subprocess.Popen(
            [str(BIN / "nanwatch-bad-client"), address], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.kill()
        self.process.wait()

    def say(self, *messages):
        for message in messages:
            self.process.stdin.write(message + "\n")
        self.process.stdin.flush()

    def hear(self, kind, seconds=10):
        """The next answer of this kind; others are passed over."""
        while True:
            answer = self.answers.get(timeout=seconds)
            assert kind == "status" or "status" not in answer, answer
            if kind in answer:
                return answer[kind] if kind != "status" else answer

    def acked(self, sequence):
        while int(self.hear("ack")["sequence"]) < sequence:
            pass

    def opened(self, session, run, **more):
        self.say(opening(session, run, **more))
        return self.hear("opened")

    def end(self):
        self.process.stdin.close()
        return self.hear("status")


def opening(session, run, rank=0, world=1, more="", us=None):
    return (f'open {{ session: {session} client_time_us: {us or now_us()} '
            f'run {{ run_id: "{run}" world_size: {world} {more} }} '
            f'rank {{ rank: {rank} }} }}')


def steps(session, sequence, first=0, n=10, columns="", deltas=None, us=None):
    deltas = deltas or [first] + [1] * (n - 1)
    us = us or now_us()
    times = [us] + [1000] * (len(deltas) - 1)
    return (f"steps {{ session: {session} sequence: {sequence} "
            f"sent_time_us: {us} step_deltas: {deltas} "
            f"time_us_deltas: {times} {columns} }}")


def names(session, sequence, n=1, first=0):
    ops = " ".join(f'ops {{ name: "op{first + i}" logical_shape: [16] }}'
                   for i in range(n))
    return (f"op_names {{ session: {session} sequence: {sequence} "
            f"first_index: {first} {ops} }}")


def ops(session, sequence, columns="", op=0):
    us = now_us()
    return (f"ops {{ session: {session} sequence: {sequence} "
            f"sent_time_us: {us} step_rows: [1] step_deltas: [1] "
            f"time_us_deltas: [{us}] op_deltas: [{op}] slots: SLOT_OUTPUT "
            f"{columns} }}")
