"""What a framework's module and its caller both say of a run."""

from __future__ import annotations

from typing import Any


def add_settings(init: dict[str, Any], **known: str) -> None:
    """To the settings in `init`; what the caller gave stands."""
    init["settings"] = {**known, **(init.get("settings") or {})}
