"""TorchScript compiles the hooks of a module with it, and knows nothing of
ours: while it looks at a model they are taken off. What it makes has none."""

from __future__ import annotations

import functools
from typing import Any

import torch

from nanwatch._torch.hooks import taken_off


def _followed(function: Any) -> Any:
    @functools.wraps(function)
    def create_script_module(module: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(module, torch.nn.Module):
            return function(module, *args, **kwargs)
        with taken_off(module):
            return function(module, *args, **kwargs)

    create_script_module._nanwatch = True  # type: ignore[attr-defined]
    return create_script_module


def follow() -> None:
    """From now on; once is enough. Where there is no such function nobody can
    be helped: models are scripted before they are watched there."""
    recursive: Any = getattr(torch.jit, "_recursive", None)
    function = getattr(recursive, "create_script_module", None)
    if function is not None and not hasattr(function, "_nanwatch"):
        recursive.create_script_module = _followed(function)
