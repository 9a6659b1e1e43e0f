"""Prints what a watch costs a PyTorch step on a GPU, at each level beside none, in
turns, of one process: gpu_watch.py [--rounds N] [CASE...]. Nothing is asserted:
another card, or a busy one, has other figures.

It needs a GPU that torch.cuda sees, a PyTorch that is made for it, grpcio and
pytest, and nanwatchd and nanwatch in build/release/bin, or where NANWATCH_BIN says.
The largest case takes 35 GB of the card's memory, all of them 5 minutes of an H200.

A case is a model and the type that it computes in: a GPT-2 of 124 million weights
as nanoGPT trains it, and one of 1.7 million, whose steps are as long as its kernels
take to be launched. fp16 is with a GradScaler; fp32 is TF32 in matrix products.
There is one training for each level and one that nobody watches. A round is a
block of steps of each, and the next one goes the other way round; a block has as
many steps as there are from one look at all weights to the next. What is said of a
level is the median of the blocks' ratios to the block without, of the same round.

GPU: the time of all kernels and copies, of a profile of one block. "copies": those
to the host. "waits": calls that make the host wait for the device, and copies to
memory that is not pinned, which do so too. (With a fused optimizer a GradScaler has
none itself.)"""

import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "frameworks")]

try:
    import torch
except ImportError:
    sys.exit("gpu_watch.py: there is no PyTorch here")
if not torch.cuda.is_available():
    sys.exit(f"gpu_watch.py: torch {torch.__version__} sees no GPU here, and "
             "nothing can be measured without one")

from cost_of_watch import deaf  # noqa: E402
from daemons import Daemon  # noqa: E402
from torch import nn  # noqa: E402
from verdicts import Verdict  # noqa: E402

import nanwatch  # noqa: E402

LEVELS = (None, *nanwatch.torch.LEVELS)
BLOCK = 32  # steps
WARM = 40  # steps of each: names are known, "ops" has found its budget
BANK = 16  # batches
# Calls of CUDA's that wait for the device.
WAITS = ("cudaStreamSynchronize", "cudaEventSynchronize",
         "cudaDeviceSynchronize", "cudaMemcpy")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for t in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, width, heads, blocks, length, words):
        super().__init__()
        self.token = nn.Embedding(words, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            Block(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.token.weight
        for p in self.parameters():
            if p.ndim > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Size(NamedTuple):
    width: int
    heads: int
    blocks: int
    length: int
    words: int
    batch: int


class Case(NamedTuple):
    size: Size
    dtype: torch.dtype
    scaled: bool


LARGE = Size(768, 12, 12, 1024, 50304, 32)
SMALL = Size(256, 4, 2, 128, 256, 32)
CASES = {
    "gpt-124m bf16": Case(LARGE, torch.bfloat16, False),
    "gpt-124m fp16": Case(LARGE, torch.float16, True),
    "gpt-124m fp32": Case(LARGE._replace(batch=12), torch.float32, False),
    "small bf16": Case(SMALL, torch.bfloat16, False),
    "small fp16": Case(SMALL, torch.float16, True),
    "small fp32": Case(SMALL, torch.float32, False),
}


def batches(size):
    """Words as seldom as they are in a language."""
    random = torch.Generator("cuda").manual_seed(1)
    share = 1.0 / torch.arange(2, size.words + 2, device="cuda")
    words = torch.multinomial(share, BANK * size.batch * (size.length + 1),
                              replacement=True, generator=random)
    rows = words.view(BANK, size.batch, size.length + 1)
    return [(row[:, :-1].contiguous(), row[:, 1:].contiguous())
            for row in rows]


class Training:
    def __init__(self, case, bank, level, address):
        torch.manual_seed(1)
        size = case.size
        self.case, self.bank = case, bank
        self.model = Gpt(*size[:-1]).cuda()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=3e-4, weight_decay=0.1, fused=True)
        self.scaler = torch.amp.GradScaler("cuda", enabled=case.scaled)
        self.level, self.watch = level, None
        self.run = f"{level}-{time.time()}"
        if level is not None:
            self.watch = nanwatch.torch.watch(
                self.model, self.optimizer, self.scaler, run=self.run,
                level=level, address=address)
        self.number = 0
        self.host = []  # s in watch.step

    def step(self):
        x, y = self.bank[self.number % BANK]
        self.number += 1
        with torch.autocast("cuda", self.case.dtype,
                            enabled=self.case.dtype is not torch.float32):
            out = self.model(x)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
        del out
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.watch is not None:
            begun = time.perf_counter()
            self.watch.step(loss)
            self.host.append(time.perf_counter() - begun)

    def block(self, steps):
        """Seconds a step."""
        if self.watch is not None:
            self.watch._last_time = time.time()  # others' steps are none of its
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(steps):
            self.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begun) / steps


class Profile:
    """Of one block: each of it for one step."""

    def __init__(self, training):
        with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            training.block(BLOCK)
        self.gpu = self.kernels = self.copies = 0
        self.waits = -3  # before and after the block, and the profiler's
        for event in profile.profiler.kineto_results.events():
            name = event.name()
            if event.device_type() != torch.autograd.DeviceType.CPU:
                if name.startswith(("ProfilerStep", "Activity Buffer")):
                    continue
                self.gpu += event.duration_ns()
                self.kernels += not name.startswith("Mem")
                self.copies += name.startswith("Memcpy DtoH")
                self.waits += name.startswith("Memcpy DtoH") and (
                    "Pageable" in name)
            else:
                self.waits += name in WAITS
        for what in ("kernels", "copies", "waits"):
            setattr(self, what, getattr(self, what) / BLOCK)
        self.gpu /= 1e6 * BLOCK  # ms


def memory_of_a_step(training):
    """MiB above what is there before it."""
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    training.block(2)
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def refused_waits(training):
    """In a block in which PyTorch was told to raise where one waits."""
    before = training.watch.run.stats.bad_input
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(BLOCK):
            training.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return training.watch.run.stats.bad_input - before


def measure(name, case, rounds, daemon):
    bank = batches(case.size)
    torch.backends.cuda.matmul.allow_tf32 = True
    trainings = [Training(case, bank, level, daemon.address)
                 for level in LEVELS]
    seconds = {level: [] for level in LEVELS}
    for training in trainings:
        with alone(training, trainings):
            training.block(WARM)
            training.host.clear()
    held = torch.cuda.memory_allocated()
    for number in range(rounds):
        for training in trainings[::-1 if number % 2 else 1]:
            with alone(training, trainings):
                seconds[training.level].append(training.block(BLOCK))
    grown = (torch.cuda.memory_allocated() - held) / 2**20
    plain = None
    for training in trainings:
        with alone(training, trainings):
            host = list(training.host)
            profile = Profile(training)
            plain = plain or profile
            memory = memory_of_a_step(training)
            print_row(name, training, seconds, host, profile, plain, memory)
            if training.watch is not None:
                print_end(name, training, daemon)
    print(f"{name:14} all four hold {grown:+.2f} MiB more after {rounds} rounds",
          flush=True)


@contextlib.contextmanager
def alone(training, trainings):
    """It hears of its own model, and no other one is heard of, as where it is
    the only one."""
    with contextlib.ExitStack() as stack:
        for other in trainings:
            if other is not training:
                stack.enter_context(deaf(other.watch))
        yield training


def print_row(name, training, seconds, host, profile, plain, memory):
    level = training.level
    ratios = [a / b for a, b in zip(seconds[level], seconds[None])]
    said = " " * 57
    if level is not None:
        slower = 100 * (statistics.median(ratios) - 1)
        low, high = (100 * (r - 1) for r in (min(ratios), max(ratios)))
        said = (f"{slower:+6.2f} % ({low:+6.2f} to {high:+6.2f})   watch.step "
                f"{1e6 * statistics.median(host):4.0f} us, mean "
                f"{1e6 * statistics.fmean(host):4.0f}")
    more = 100 * (profile.gpu / plain.gpu - 1)
    print(f"{name:14} {level or 'none':8} step "
          f"{1e3 * statistics.median(seconds[level]):7.2f} ms {said}   GPU "
          f"{profile.gpu:7.2f} ms {more:+6.2f} %   kernels "
          f"{profile.kernels:5.0f}, copies {profile.copies:4.2f}, waits "
          f"{profile.waits:4.2f}   memory {memory:6.0f} MiB", flush=True)


def print_end(name, training, daemon):
    raised = refused_waits(training)
    assert training.watch.close(20), training.watch.run.stats
    it = Verdict(daemon, training.run)
    print(f"{name:14} {training.level:8} {raised} raised where PyTorch raises "
          f"at a wait, {training.watch.run.stats.bad_input} bad inputs; "
          f"{it.steps} steps: {it.headline[:60]}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("cases", nargs="*", metavar="CASE",
                        help=f"of {', '.join(CASES)}; all, if none is named")
    given = parser.parse_args()
    unknown = [name for name in given.cases if name not in CASES]
    if unknown:
        parser.error(f"there is no case {unknown[0]!r}")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"{time.strftime('%Y-%m-%d')}, {given.rounds} rounds of blocks of "
          f"{BLOCK} steps", flush=True)
    for name in given.cases or CASES:
        with tempfile.TemporaryDirectory(prefix="nw-") as folder:
            daemon = Daemon(folder).start()
            try:
                measure(name, CASES[name], given.rounds, daemon)
            finally:
                daemon.kill()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
