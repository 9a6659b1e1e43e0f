"""What a framework's module and its caller both say of a run."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

# Who imports one trains on rewards: its loss follows what the policy earns.
_GAMES = (
    "gymnasium",
    "gym",
    "pettingzoo",
    "stable_baselines3",
    "torchrl",
    "tianshou",
    "pufferlib",
    "dm_env",
    "brax",
)


def rewards(modules: Container[str]) -> dict[str, str]:
    """What a process with these modules trains on, as far as it shows."""
    games = any(name in modules for name in _GAMES)
    return {"trains_on": "rewards"} if games else {}


def add_settings(init: dict[str, Any], **known: str) -> None:
    """To the settings in `init`; what the caller gave stands, and comes first:
    a run has room for 64."""
    given = init.get("settings")
    if given is None or isinstance(given, Mapping):
        init["settings"] = {**(given or {}), **{**known, **(given or {})}}
