"""What PyTorch's own switches are, and what an optimizer and a model are made
of: what else bears on the numbers of a training."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch

from nanwatch._torch.statistics import DTYPES

# Of an optimizer's first group: its numbers.
_HYPER = ("lr", "betas", "eps", "weight_decay", "momentum", "foreach", "fused")


def _deterministic() -> str:
    if not torch.are_deterministic_algorithms_enabled():
        return "off"
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    return "warn" if warns else "on"


def _cudnn(name: str) -> Callable[[], Any]:
    return lambda: getattr(torch.backends.cudnn, name)


def _matmul(name: str) -> Callable[[], Any]:
    return lambda: getattr(torch.backends.cuda.matmul, name)


# Whatever device they are of.
_SWITCHES: dict[str, Callable[[], Any]] = {
    "deterministic_algorithms": _deterministic,
    "matmul_precision": torch.get_float32_matmul_precision,
    "initial_seed": torch.initial_seed,
    "threads": torch.get_num_threads,
}
_OF_CUDA: dict[str, Callable[[], Any]] = {
    "cuda": lambda: torch.version.cuda,
    "cudnn": lambda: torch.backends.cudnn.version(),
    "cudnn.deterministic": _cudnn("deterministic"),
    "cudnn.benchmark": _cudnn("benchmark"),
    "cudnn.allow_tf32": _cudnn("allow_tf32"),
    "matmul.allow_tf32": _matmul("allow_tf32"),
    "matmul.fp16_reduced": _matmul("allow_fp16_reduced_precision_reduction"),
    "matmul.bf16_reduced": _matmul("allow_bf16_reduced_precision_reduction"),
}


def known(model: Any, optimizers: Iterable[Any]) -> dict[str, str]:
    """None of them is worth an error."""
    with warnings.catch_warnings():  # PyTorch has several names for a switch
        warnings.simplefilter("ignore")
        return _known(list(model.parameters()), optimizers)


def _known(parameters: list[Any], optimizers: Iterable[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    asked = dict(_SWITCHES)
    if parameters and parameters[0].device.type == "cuda":
        asked.update(_OF_CUDA)
    for name, ask in asked.items():
        with contextlib.suppress(Exception):
            found[name] = str(ask())
    with contextlib.suppress(Exception):
        found["weights_dtype"] = _dtypes(parameters)
    for i, optimizer in enumerate(optimizers):
        prefix = f"optimizer{i or ''}"
        with contextlib.suppress(Exception):
            found.update(_optimizer(prefix, optimizer))
    return found


def _dtypes(parameters: Iterable[Any]) -> str:
    """ "fp32", or "fp16 40, fp32 2" tensors, the most first."""
    counts = Counter(
        DTYPES.get(p.dtype, str(p.dtype).replace("torch.", ""))
        for p in parameters
    )
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} {n}" for name, n in counts.most_common())


def _optimizer(prefix: str, optimizer: Any) -> dict[str, str]:
    found = {prefix: type(optimizer).__name__}
    groups = optimizer.param_groups
    found[f"{prefix}.dtype"] = _dtypes(p for g in groups for p in g["params"])
    group = groups[0]
    for name in _HYPER:
        if group.get(name) is not None:
            found[f"{prefix}.{name}"] = str(group[name])
    return found
