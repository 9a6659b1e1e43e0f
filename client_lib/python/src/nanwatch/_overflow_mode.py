"""How an Ascend NPU tells an overflow, as the environment says it."""

from __future__ import annotations

from collections.abc import Mapping

# Of torch_npu and of TensorFlow's adapter, and of MindSpore.
_NPU, _MINDSPORE = "INF_NAN_MODE_ENABLE", "MS_ASCEND_CHECK_OVERFLOW_MODE"


def of_environment(environment: Mapping[str, str]) -> str:
    """Either of nanwatch.init's; empty: it does not say, and the chip decides
    (those of the first generation saturate, later ones have infinities)."""
    said = environment.get(_NPU, "").strip()
    if said in ("0", "1"):
        return "inf_nan" if said == "1" else "saturation"
    said = environment.get(_MINDSPORE, "").strip().upper()
    return {
        "SATURATION_MODE": "saturation",
        "INFNAN_MODE": "inf_nan",
    }.get(said, "")
