"""TorchScript compiles the hooks of a module with it, and knows nothing of
ours: while it looks at a model they are taken off. What it makes has none."""

from __future__ import annotations

from typing import Any

import torch

from nanwatch._torch.following import follow
from nanwatch._torch.hooks import taken_off


def _followed(function: Any) -> Any:
    def create_script_module(module: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(module, torch.nn.Module):
            return function(module, *args, **kwargs)
        with taken_off(module):
            return function(module, *args, **kwargs)

    return create_script_module


def listen() -> None:
    """From now on; once is enough. Where there is no such function nobody can
    be helped: models are scripted before they are watched there."""
    recursive = getattr(torch.jit, "_recursive", None)
    follow(recursive, "create_script_module", _followed)
