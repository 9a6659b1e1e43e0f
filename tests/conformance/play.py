"""play: a conformance scenario (README.md) through the Python client. The
address, the file, and how statuses are told ("op" or "ops") are its arguments.
"""

import os
import sys

import nanwatch

TIMEOUT = 20.0
WHOLE = {
    "attempt", "rank", "local_rank", "world_size", "seed", "dp", "tp", "pp",
    "ep", "cp", "growth_interval", "hysteresis", "order", "op", "step",
    "elements", "nan", "pos_inf", "neg_inf", "saturated", "zero", "subnormal",
    "device_flag", "digest", "request", "replica_digest",
    "batch_digest", "part",
}
FLAGS = {"overflow", "skipped", "overflow_check", "float_status_combined"}
REALS = {
    "clip_norm", "init_scale", "growth_factor", "backoff_factor", "min_scale",
    "max_scale", "loss", "scale", "grad_norm", "update_norm", "param_norm",
    "lr", "zero_fraction", "underflow_fraction", "consumed_samples",
    "applied_grad_norm", "min",
    "max", "abs_max", "mean", "rms", "log2_mean", "log2_std", "fp8_amax",
    "fp8_scale_inv",
}


def expand(text):
    """"@600xab": "ab" 600 times."""
    if not text.startswith("@"):
        return text
    times, _, piece = text[1:].partition("x")
    return piece * int(times)


def read(key, text):
    if key in WHOLE:
        return int(text)
    if key in FLAGS:
        return text != "0"
    if key in REALS:
        return float(text)
    if key in ("shape", "storage_shape", "float_status"):
        return [int(part) for part in text.split(",")]
    if key == "layer_scales":
        pairs = (pair.split(":") for pair in text.split(","))
        return {int(op): float(scale) for op, scale in pairs}
    if key == "sketch":
        return [float(part) for part in text.split(",")]
    if key == "exponents":
        first, _, counts = text.partition(":")
        return int(first), [int(c) for c in counts.split(",")]
    return expand(text)


def words_of(line):
    kind, *rest = line.split()
    plain = [expand(word) for word in rest if "=" not in word]
    words = {}
    for word in rest:
        key, equals, text = word.partition("=")
        if equals:
            words[key] = read(key.rpartition(".")[2], text)
    return kind, plain, words


class Player:
    def __init__(self, address, tables):
        self.address = address
        self.tables = tables
        self.waiting = []  # statuses, where they are told as tables
        self.run = None

    def play(self, line):
        kind, plain, words = words_of(line)
        if kind != "status":
            self.push_table()
        getattr(self, kind)(*plain, **words)

    def open(self, **words):
        scaler = inside(words, "scaler.")
        self.run = nanwatch.init(
            address=self.address,
            scaler=nanwatch.Scaler(**scaler) if scaler else None,
            settings=inside(words, "setting."), **words)

    def op(self, name, **words):
        self.run.register_op(name, **words)

    def status(self, **words):
        if self.tables:
            self.waiting.append({"slot": "output", **words})
        else:
            self.run.op(**words)

    def push_table(self):
        """As numpy columns, where all rows have the number, else as lists."""
        if not self.waiting:
            return
        import numpy

        rows, self.waiting = self.waiting, []
        columns = {}
        for name in {name for row in rows for name in row}:
            if name in ("exponents", "sketch"):  # what a table does not say
                for row in rows:
                    self.run.op(**row)
                return
            column = [row.get(name) for row in rows]
            whole = None not in column
            if name == "request" and not whole:
                column = [v or 0 for v in column]
            if name == "slot" or not whole:
                columns[name] = column
            elif name in WHOLE:
                kind = numpy.int64 if name == "step" else numpy.uint64
                columns[name] = numpy.array(column, dtype=kind)
            else:
                columns[name] = numpy.array(column, dtype=numpy.float64)
        self.run.ops(columns)

    def step(self, step, **words):
        self.run.step(int(step), **words)

    def steps(self, begin, end):
        for i in range(int(begin), int(end)):
            self.run.step(i, 2.0 + i * 7919 % 1000 / 1000, 1024.0)

    def flush(self):
        assert self.run.flush(TIMEOUT), self.run.stats

    def close(self):
        # What was refused is settled, and not acknowledged.
        self.flush()
        self.run.close(TIMEOUT)

    def vanish(self):
        self.flush()
        os._exit(0)


def inside(words, prefix):
    keys = [key for key in words if key.startswith(prefix)]
    return {key[len(prefix):]: words.pop(key) for key in keys}


def main():
    address, path, how = sys.argv[1:]
    player = Player(address, how == "ops")
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                player.play(line)


main()
