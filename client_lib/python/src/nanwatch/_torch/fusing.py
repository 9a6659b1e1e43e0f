"""What `nanwatch fusion` asks of a training: to compute in fp32, to draw the
same random numbers in what is compiled as elsewhere, and to compile the modules
of a region one by one."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import torch

from nanwatch._torch.modules import inner, own_path

_ASKED = "NANWATCH_FUSION"  # "off", "on" or "parts:" and a region's name
_PARTS = "parts:"
# Of the compiler: dropout is drawn by the eager kernel, in the order of its
# tensor's memory, which another layout of convolutions would change.
_RANDOM = {"fallback_random": True, "layout_optimization": False}
# The modules' code is one function's, which is compiled for each of them.
_LIMITS = (
    "recompile_limit",
    "accumulated_recompile_limit",
    "cache_size_limit",
    "accumulated_cache_size_limit",
)
_MANY = 1 << 20


def prepare(model: Any) -> None:
    """Before anything is compiled: that is at the first forward pass."""
    asked = os.environ.get(_ASKED, "")
    if not asked:
        return
    _leave_out_autocast()
    if asked == "off":
        return
    for name, value in _RANDOM.items():
        with contextlib.suppress(Exception):
            from torch._inductor import config

            setattr(config, name, value)
    if asked.startswith(_PARTS):
        _compile_parts(model, asked[len(_PARTS) :])


def _leave_out_autocast() -> None:
    kind = torch.amp.autocast_mode.autocast
    begin = kind.__init__

    def __init__(
        self: Any,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: Any = None,
    ) -> None:
        begin(self, device_type, dtype, False, cache_enabled)

    setattr(kind, "__init__", __init__)  # noqa: B010


def _compile_parts(model: Any, name: str) -> None:
    from torch._dynamo import config, external_utils

    for limit in _LIMITS:
        if hasattr(config, limit):
            setattr(config, limit, _MANY)
    for path, region in list(model.named_modules(remove_duplicate=False)):
        compiles = getattr(region, "dynamo_ctx", None)
        if compiles is None or (own_path(path) or "model") != name:
            continue
        for module in inner(region).modules():
            if next(module.children(), None) is None:
                whole = external_utils.wrap_inline(module.forward)
                module.forward = compiles(whole)
        region.forward = inner(region).__call__
