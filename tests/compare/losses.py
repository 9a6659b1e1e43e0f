"""Trainings that learn something, for their losses alone: 2,000 steps of a
small net, one line a step."""

import contextlib
import math

import nets
import torch

STEPS = 2000
RATE = 2e-3
CHAIN = 4  # words that may follow a word, mostly


class Text:
    """Words of which each depends on the one before."""

    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        self.next = torch.randint(0, nets.WORDS, (nets.WORDS, CHAIN),
                                  generator=generator)

    def batch(self, generator):
        words = torch.randint(0, nets.WORDS, (8, 1), generator=generator)
        for _ in range(24):
            pick = torch.randint(0, CHAIN, (8,), generator=generator)
            follows = self.next[words[:, -1], pick]
            other = torch.randint(0, nets.WORDS, (8,), generator=generator)
            noise = torch.rand(8, generator=generator) < 0.2
            words = torch.cat(
                [words, torch.where(noise, other, follows)[:, None]], 1)
        return words[:, :-1], words[:, 1:].flatten()


class Pictures:
    """Ten pictures in much noise."""

    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        self.of_class = torch.randn(10, 3, 16, 16, generator=generator)

    def batch(self, generator):
        kind = torch.randint(0, 10, (8,), generator=generator)
        noise = torch.randn(8, 3, 16, 16, generator=generator)
        return 0.25 * self.of_class[kind] + noise, kind


def losses(net_name, *, seed=0, data_seed=0, dropout_seed=0, threads=1,
           bf16=False, rate=RATE, put=None, change=None, smooth=0.0,
           steps=STEPS, begin=None, save_at=None):
    """Yields (step, loss). `change`: (step, factor) of the learning rate.
    `smooth`: the share of the loss before that is told with each.
    `save_at`: the step before which a checkpoint is taken; it is returned by
    the dict `begin`, which a later training goes on from."""
    torch.set_num_threads(threads)
    net = nets.NETS[net_name]
    torch.manual_seed(seed)
    model = net()
    if put is not None:
        put(model)
    optimizer = torch.optim.AdamW(model.parameters(), rate, foreach=False)
    torch.manual_seed(1000 + dropout_seed)
    source = (Pictures if net_name == "conv" else Text)(7)
    generator = torch.Generator().manual_seed(500 + data_seed)
    told, first = None, 0
    if begin:
        model.load_state_dict(begin["model"])
        optimizer.load_state_dict(begin["optimizer"])
        torch.set_rng_state(begin["rng"])
        generator.set_state(begin["data"])
        first = begin["step"]
    for step in range(first, steps):
        if step == save_at:
            begin.update(
                model={k: v.clone() for k, v in model.state_dict().items()},
                optimizer=_copied(optimizer.state_dict()), step=step,
                rng=torch.get_rng_state(), data=generator.get_state())
        # A warm-up, then a cosine down to a tenth.
        at = min(1.0, (step + 1) / 50) * (
            0.55 + 0.45 * math.cos(math.pi * step / steps))
        if change is not None and step >= change[0]:
            at *= change[1]
        for group in optimizer.param_groups:
            group["lr"] = rate * at
        given, wanted = source.batch(generator)
        optimizer.zero_grad()
        with (torch.autocast("cpu", torch.bfloat16) if bf16
              else contextlib.nullcontext()):
            made = model(given)
        loss = net.loss(made.float(), wanted)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        value = float(loss.detach())
        told = value if told is None else smooth * told + (1 - smooth) * value
        yield step, told


def _copied(state):
    import copy
    return copy.deepcopy(state)
