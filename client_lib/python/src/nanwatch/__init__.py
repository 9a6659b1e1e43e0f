"""nanwatch: tell nanwatchd, while a training runs, how its numbers are.

    import nanwatch

    run = nanwatch.init(job="word2vec")
    for i, batch in enumerate(batches):
        ...
        run.step(step=i, loss=loss, scale=scale, overflow=overflow)

Nothing here raises into a training, waits for the daemon or for a device, or
changes a signal's handler. gRPC's own log is turned off for the process unless
GRPC_VERBOSITY is set, and so is its work at a fork, unless
GRPC_ENABLE_FORK_SUPPORT is (these are there for the moment in which it starts).
When nanwatchd is missing, slow, hung or restarted, records wait in bounded
memory; what does not fit is dropped, counted, and the daemon is told how much.
In a forked child all is silent.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nanwatch._init import init
from nanwatch._opening import Scaler
from nanwatch._requests import Request
from nanwatch._run import Run
from nanwatch._stats import Stats
from nanwatch._version import VERSION as __version__

__all__ = ["Request", "Run", "Scaler", "Stats", "__version__", "init"]

if TYPE_CHECKING:
    from nanwatch import accelerate as accelerate
    from nanwatch import apex as apex
    from nanwatch import ascend_tf as ascend_tf
    from nanwatch import colossalai as colossalai
    from nanwatch import deepspeed as deepspeed
    from nanwatch import jax as jax
    from nanwatch import keras as keras
    from nanwatch import lightning as lightning
    from nanwatch import megatron as megatron
    from nanwatch import mindspore as mindspore
    from nanwatch import paddle as paddle
    from nanwatch import torch as torch
    from nanwatch import torch_npu as torch_npu
    from nanwatch import transformers as transformers

# Each imports its framework; nobody else does.
_FRAMEWORKS = (
    "accelerate",
    "apex",
    "ascend_tf",
    "colossalai",
    "deepspeed",
    "jax",
    "keras",
    "lightning",
    "megatron",
    "mindspore",
    "paddle",
    "torch",
    "torch_npu",
    "transformers",
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_FRAMEWORKS})


def __getattr__(name: str) -> Any:
    if name in _FRAMEWORKS:
        return importlib.import_module(f"nanwatch.{name}")
    raise AttributeError(f"module 'nanwatch' has no attribute {name!r}")
