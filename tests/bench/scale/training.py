"""One rank of the training that is recorded: training.py ADDRESS RUN STEPS
SECONDS_A_STEP. The model has GPT-2's 148 weights by its names, though narrow
ones: what is streamed counts them, not their size."""

import sys
import time

import torch
from torch import nn
from torch.nn import functional

import nanwatch

LAYERS, WIDTH, WORDS, PLACES = 12, 16, 64, 16


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.c_attn(x).chunk(3, dim=-1)
        return self.c_proj(
            functional.scaled_dot_product_attention(q, k, v, is_causal=True))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH)
        self.c_proj = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn, self.mlp = Attention(), Mlp()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(WORDS, WIDTH)
        self.wpe = nn.Embedding(PLACES, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH)

    def forward(self, x):
        hidden = self.wte(x) + self.wpe(torch.arange(x.shape[1]))
        for block in self.h:
            hidden = block(hidden)
        return self.ln_f(hidden) @ self.wte.weight.T


def main(address, run, steps, seconds):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    plain = Gpt2()
    model = nn.parallel.DistributedDataParallel(plain)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    watch = nanwatch.torch.watch(model, optimizer, scaler, run=run,
                                 address=address)
    data = torch.Generator().manual_seed(rank)
    begun = time.monotonic()
    for step in range(int(steps)):
        x = torch.randint(WORDS, (4, 1), generator=data)
        x = (x + torch.arange(PLACES)) % WORDS
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x[:, :-1])
        loss = functional.cross_entropy(out.float().flatten(0, 1),
                                        x[:, 1:].flatten())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss)
        time.sleep(max(0, begun + (step + 1) * float(seconds) -
                       time.monotonic()))
    assert watch.close(20), watch.run.stats
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
