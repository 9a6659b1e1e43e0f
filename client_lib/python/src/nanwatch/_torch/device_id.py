"""Which of a host's devices this is, as its exporter for Prometheus has it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import torch


def device_id(
    device: torch.device, environment: Mapping[str, str] = os.environ
) -> str:
    """Of a GPU of NVIDIA its UUID, of an Ascend NPU its number on the host,
    else empty: so do dcgm-exporter and npu-exporter label their series."""
    try:
        if device.type == "cuda" and torch.version.hip is None:
            # From PyTorch 2.4 on.
            uuid = getattr(
                torch.cuda.get_device_properties(device), "uuid", None
            )
            return "" if uuid is None else f"GPU-{uuid}"
        if device.type == "npu":
            return _npu(device.index or 0, environment)
    except Exception:  # of a driver that does not say
        pass
    return ""


def _npu(index: int, environment: Mapping[str, str]) -> str:
    """CANN numbers anew those that it may see."""
    seen = environment.get("ASCEND_RT_VISIBLE_DEVICES", "")
    number = seen.split(",")[index] if seen else str(index)
    return str(int(number))
