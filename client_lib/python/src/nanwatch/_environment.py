"""What of a process bears on its numbers, whatever framework it uses: variables
of its environment, and versions of what it has loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

# Of libraries' kernels, of collectives, of overflows, of compilers. Sources:
# each one's documentation on determinism, and msprobe's config_check.
_VARIABLES = (
    "ASCEND_LAUNCH_BLOCKING",
    "ATB_MATMUL_SHUFFLE_K_ENABLE",
    "CLOSE_MATMUL_K_SHIFT",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING",
    "FLAGS_cudnn_deterministic",
    "FLAGS_embedding_deterministic",
    "HCCL_ALGO",
    "HCCL_DETERMINISTIC",
    "INF_NAN_MODE_ENABLE",
    "INF_NAN_MODE_FORCE_DISABLE",
    "LCCL_DETERMINISTIC",
    "MS_ASCEND_CHECK_OVERFLOW_MODE",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NVIDIA_TF32_OVERRIDE",
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO",
    "NVTE_FLASH_ATTN",
    "NVTE_FUSED_ATTN",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "PYTHONHASHSEED",
    "TF_DETERMINISTIC_OPS",
    "TORCHDYNAMO_DISABLE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_COMPILE_DISABLE",
    "XLA_FLAGS",
)
_PACKAGES = {  # by the module that is loaded
    "accelerate": "accelerate",
    "apex": "apex",
    "colossalai": "colossalai",
    "deepspeed": "deepspeed",
    "flash_attn": "flash_attn",
    "jax": "jax",
    "keras": "keras",
    "lightning": "lightning",
    "megatron.core": "megatron-core",
    "mindspeed": "mindspeed",
    "mindspore": "mindspore",
    "numpy": "numpy",
    "paddle": "paddlepaddle",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "torch_npu": "torch_npu",
    "transformer_engine": "transformer_engine",
    "transformers": "transformers",
}


def known(
    environment: Mapping[str, str] = os.environ,
    modules: Mapping[str, Any] = sys.modules,
) -> dict[str, str]:
    found = {
        f"env.{name}": environment[name]
        for name in _VARIABLES
        if environment.get(name)
    }
    found["python"] = ".".join(map(str, sys.version_info[:3]))
    for module, package in _PACKAGES.items():
        version = _version(modules.get(module), package)
        if version:
            found[package] = version
    return found


def _version(module: Any, package: str) -> str:
    if module is None:
        return ""
    version = getattr(module, "__version__", "")
    if isinstance(version, str) and version:
        return version
    try:
        return metadata.version(package)
    except Exception:
        return ""
