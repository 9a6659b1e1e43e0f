"""A batch of one rank, computed anew by all ranks of a data-parallel group.

Gradients that a device computes wrongly without a sign are averaged into all
replicas, which stay equal. Here each rank computes the same from the same
weights, and tells the bits of what it gets in a run of its own: the daemon
compares them as it compares replicas.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import logging
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from nanwatch._run import Run
from nanwatch._torch.hooks import Hook
from nanwatch._torch.replicas import Digest

log = logging.getLogger("nanwatch")

_SEED = 20  # of dropout and the like, the same on all ranks
_EXACT = 1 << 52  # a double holds each number below


def ranks_of(group: Any) -> list[int]:
    """`group`: None: all ranks."""
    dist = torch.distributed
    return list(dist.get_process_group_ranks(group or dist.group.WORLD))


class Computed(NamedTuple):
    """What one rank got of the batch."""

    loss: float
    grad_norm: float
    digests: list[int]  # of each parameter's gradient; 0: it has none


class Canary:
    """Of one model. Every method is called by all ranks of the group alike."""

    def __init__(
        self,
        run: Run,
        model: torch.nn.Module,
        loss_of: Callable[[Callable[..., Any], Any], torch.Tensor],
        every: int,
        group: Any,
    ) -> None:
        """`model`: as it is without DDP's wrapping."""
        self._run = run
        self._model = model
        self._loss_of = loss_of
        self._every = max(1, every)
        self._group = group
        self._calls = 0
        self._checked = False  # computing twice gave the same bits
        self.repeats = True  # it did, on all ranks; else nothing is compared
        names = [name for name, _ in model.named_parameters()]
        self._digest = Digest(len(names))
        for at, name in enumerate(names):
            op = run.register_op(name, type="Parameter")
            self._digest.place(at, op + 1)

    def step(self, batch: Any, step: int | None = None) -> None:
        """At each step of the training, after its update. `batch`: this rank's,
        of tensors in tuples, lists and dicts; at each `every`-th call that of
        one rank, in turn, is computed by all."""
        number = self._calls if step is None else step
        self._calls += 1
        if number % self._every or not self.repeats:
            return
        batch = self._shared(batch, number // self._every)
        computed = self._compute(batch)
        if not self._checked:
            self._check(computed, batch)
        if computed is None or not self.repeats:
            return
        self._digest.take(
            range(len(computed.digests)), [float(d) for d in computed.digests]
        )
        self._run.step(
            number,
            computed.loss,
            grad_norm=computed.grad_norm,
            replica_digest=self._digest.value,
        )

    def close(self, timeout: float = 2.0) -> bool:
        return self._run.close(timeout)

    def _shared(self, batch: Any, turn: int) -> Any:
        dist = torch.distributed
        ranks = ranks_of(self._group)
        whose = ranks[turn % len(ranks)]
        mine = dist.get_rank() == whose
        sent = [_on(batch, torch.device("cpu")) if mine else None]
        dist.broadcast_object_list(sent, src=whose, group=self._group)
        return _on(sent[0], self._device())

    def _device(self) -> torch.device:
        return next(self._model.parameters()).device

    def _check(self, first: Computed | None, batch: Any) -> None:
        """Bits that a rank does not get again say nothing of others."""
        again = self._compute(batch)
        same = first is not None and first == again
        # On a device, where the group's backend wants it.
        said = torch.tensor([int(same)], device=self._device())
        dist = torch.distributed
        dist.all_reduce(said, op=dist.ReduceOp.MIN, group=self._group)
        self._checked = True
        self.repeats = bool(said.item())
        if not self.repeats:
            log.warning(
                "nanwatch: the canary is off: computing the same twice gives "
                "other bits on a rank; `nanwatch repeat` names the op"
            )

    def _compute(self, batch: Any) -> Computed | None:
        """None: it failed. The ranks' next meeting comes all the same."""
        try:
            return self._computed(batch)
        except Exception as error:
            self._run._checks.refuse(
                "the canary", f"it could not be computed: {error!r:.300}"
            )
            return None

    def _computed(self, batch: Any) -> Computed:
        model, device = self._model, self._device()
        # Copies: hooks of a training's weights hear nothing of it, and what is
        # counted in buffers stays.
        weights = {
            name: p.detach().requires_grad_(p.requires_grad)
            for name, p in model.named_parameters()
        }
        buffers = {name: b.clone() for name, b in model.named_buffers()}

        def call(*args: Any, **more: Any) -> Any:
            return torch.func.functional_call(
                model, (weights, buffers), args, more
            )

        devices = [device] if device.type == "cuda" else []
        with _without_hooks(model), torch.random.fork_rng(devices):
            torch.manual_seed(_SEED)
            loss = self._loss_of(call, batch)
            trained = [w for w in weights.values() if w.requires_grad]
            found = iter(torch.autograd.grad(loss, trained, allow_unused=True))
        gradients = [
            next(found) if w.requires_grad else None for w in weights.values()
        ]
        norms = [g.double().norm().item() for g in gradients if g is not None]
        return Computed(
            loss.item(),
            math.sqrt(math.fsum(n * n for n in norms)),
            [0 if g is None else _digest_of(g) for g in gradients],
        )


@contextlib.contextmanager
def _without_hooks(model: torch.nn.Module) -> Iterator[None]:
    """Without those of a watch, which would take it for the training's."""
    taken: list[tuple[Any, Any]] = []
    for module in model.modules():
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            if any(isinstance(hook, Hook) for hook in hooks.values()):
                taken.append((hooks, list(hooks.items())))
                for key, hook in taken[-1][1]:
                    if isinstance(hook, Hook):
                        del hooks[key]
    try:
        yield
    finally:
        for hooks, before in taken:
            hooks.clear()
            hooks.update(before)


def _digest_of(tensor: torch.Tensor) -> int:
    """Of its bits, in their order."""
    flat = tensor.detach().to("cpu").contiguous()
    data = ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size())
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "little") % _EXACT


def _on(batch: Any, device: torch.device) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch.detach().to(device)
    if isinstance(batch, dict):
        return {key: _on(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_on(value, device) for value in batch]
    return batch
