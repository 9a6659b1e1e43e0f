"""One small training, recorded at level "compare"."""

import contextlib
import copy

import nets
import ranks
import torch
from torch.nn.parallel import DistributedDataParallel

import nanwatch
import nanwatch.torch

STEPS = 4
CLIP = 0.05  # small: it acts at each step
SCALE = 4096.0  # of the loss in fp16


def casting(autocast):
    return (contextlib.nullcontext() if autocast is None
            else torch.autocast("cpu", autocast))


def batches(net, seed, count, other_from=None):
    """`other_from`: from this step on the others' order."""
    generator = torch.Generator().manual_seed(1000 + seed)
    made = [net.data(generator) for _ in range(count + 1)]
    if other_from is None:
        return made[:count]
    return made[:other_from] + made[other_from + 1:]


def train(run, net_name, seed, address, *, put=None, threads=1, autocast=None,
          steps=STEPS, begin=0, load=None, save=None, dropout_seed=None,
          other_data=None, ahead=0, clip=CLIP, restart=None, parts=1,
          dropout=True, share=None, reduced=None):
    """`parts`: a batch is computed in so many. `share`: (rank, ranks) of DDP, whose gradients are reduced as `reduced` says (`ranks.REDUCED`). `load` and `save`: a dict that holds a checkpoint. `restart`: what a run
    that goes on leaves out, "rng", "data", "weights" or "head"."""
    torch.set_num_threads(threads)
    net = nets.ALL[net_name]
    torch.manual_seed(seed)
    model = net()
    if put is not None:
        put(model)
    if not dropout:
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, foreach=False)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min(1.0, (i + 1 + ahead) / 10))
    torch.manual_seed(dropout_seed or 10 + seed)
    if load is not None:
        load = copy.deepcopy(load)  # an optimizer goes on in what it is given
        if restart != "weights":
            model.load_state_dict({
                name: values for name, values in load["model"].items()
                if restart != "head" or not name.startswith("head")},
                strict=restart != "head")
        optimizer.load_state_dict(load["optimizer"])
        schedule.load_state_dict(load["schedule"])
        if restart != "rng":
            torch.set_rng_state(load["rng"])
    trained = model
    if share is not None:
        trained = DistributedDataParallel(model)
        if reduced is not None:
            trained.register_comm_hook(
                None, ranks.reduce_by(ranks.REDUCED[reduced], share[0]))
    data = batches(net, seed, begin + steps, other_data)
    precision = {} if autocast is None else {
        "precision": "fp16" if autocast == torch.float16 else "bf16"}
    scaler = torch.amp.GradScaler(
        "cpu", SCALE, enabled=autocast == torch.float16)
    watch = nanwatch.torch.watch(
        trained, optimizer, scaler if scaler.is_enabled() else None, run=run,
        level="compare", address=address, seed=seed, **precision)
    for step in range(begin, begin + steps):
        given, wanted = data[step - begin if restart == "data" else step]
        if share is not None:
            given, wanted = (it.chunk(share[1])[share[0]]
                             for it in (given, wanted))
        optimizer.zero_grad()
        loss = 0.0
        for x, y in zip(given.chunk(parts), wanted.chunk(parts)):
            with casting(autocast):
                made = trained(x)
            part = net.loss(made.float(), y) / parts
            scaler.scale(part).backward()
            loss = loss + part.detach()
        if clip is not None:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss, step=step)
        schedule.step()
    if save is not None:
        save.update(model=model.state_dict(), optimizer=optimizer.state_dict(),
                    schedule=schedule.state_dict(), rng=torch.get_rng_state())
    if not watch.close(timeout=10.0):
        raise RuntimeError(f"{run}: {watch.run.stats}")
