"""The first forward pass of a training: it shows in which order a model uses
its parameters, and what it computes in fp16."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from nanwatch._torch.first_graph import uses_of
from nanwatch._torch.found_tensors import tensors_in
from nanwatch._torch.guard import Guard
from nanwatch._torch.hooks import Hook, release
from nanwatch._torch.modules import Modules
from nanwatch._torch.op_names import OpNames
from nanwatch._torch.parameters import Parameters
from nanwatch._torch.tracing import is_traced

# So many are looked at where a scaler is there for fp16 and they show none: the
# first ones may be for shapes alone.
_MOST = 16


class FirstForward:
    """One that a backward pass may follow."""

    def __init__(
        self,
        model: Any,
        named: Parameters,
        names: OpNames,
        modules: Modules,
        guard: Guard,
        *,
        is_scaled: bool,
    ) -> None:
        self._named = named
        self._names = names
        self._modules = modules
        self._guard = guard
        self._left = _MOST if is_scaled else 1
        self._is_seen = False  # that fp16 is
        self._hook = model.register_forward_hook(Hook(self._see))

    def close(self) -> None:
        self._hook.remove()

    def _see(self, module: Any, args: Any, output: Any) -> None:
        if is_traced():  # a hook that removes itself would break the graph
            return
        if not torch.is_grad_enabled():
            return
        self._left -= 1
        self._guard("graph", lambda: self._learn(module, output))
        if self._left == 0 or self._is_seen:
            self.close()
            if not self._modules.on:
                release(module)

    def _learn(self, module: Any, output: Any) -> None:
        uses = uses_of(tensors_in(output))
        self._named.learn(uses)
        # Autocast may be within it, and over by now. Of what is compiled, or
        # checkpointed, the graph says nothing either.
        is_half = _is_autocast_to_fp16(module)
        self._is_seen = bool(is_half) or any(u.half for u in uses.values())
        if self._is_seen:
            self._names.half = True
        elif is_half is False or any(u.half is not None for u in uses.values()):
            self._names.half = False


def _is_autocast_to_fp16(module: Any) -> bool | None:
    """None: there is no autocast around it, or this PyTorch, before 2.4, does
    not say."""
    with contextlib.suppress(Exception):
        kind = next(module.parameters()).device.type
        if torch.is_autocast_enabled(kind):
            return bool(torch.get_autocast_dtype(kind) is torch.float16)
    return None
