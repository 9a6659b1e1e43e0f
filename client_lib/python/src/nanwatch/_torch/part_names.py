"""What parameters are called together: by the module that has them and no
others, or else by a pattern that none but their names have."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Sequence

_SHOWN = 23  # bytes of a name that the daemon keeps
_MOST = 8  # names that stand in one place of a pattern


def part_of(names: Sequence[str], others: Collection[str] = ()) -> str:
    """`others`: names of the model's parameters that are none of these."""
    modules = list(
        dict.fromkeys(name.rpartition(".")[0] or name for name in names)
    )
    common = os.path.commonprefix([module.split(".") for module in modules])
    whole = ".".join(common)
    if whole and not any(name.startswith(f"{whole}.") for name in others):
        return whole
    for paths in (modules, names):
        for number in ("*", ""):
            pattern = _pattern_of(paths, others, number)
            if pattern:
                return pattern
    return whole or f"{modules[0]} and {len(modules) - 1} more"


def shortened(part: str) -> str:
    """Its last components, as many as are shown."""
    while len(part) > _SHOWN and "." in part:
        part = part.partition(".")[2]
    return part


def _pattern_of(
    paths: Sequence[str], others: Collection[str], number: str
) -> str:
    """As "h.*.attn.{q,v}", `number` being what layers' numbers become. Empty:
    there is none, or others have it, too."""
    split = {
        tuple((number or part) if part.isdigit() else part for part in path)
        for path in (path.split(".") for path in paths)
    }
    columns = [sorted(set(column)) for column in zip(*split)]
    sizes = [len(column) for column in columns]
    if (
        len(set(map(len, split))) > 1
        or len(split) != math.prod(sizes)
        or sizes[0] > 1
        or max(sizes) > _MOST
    ):
        return ""
    matches = re.compile(r"\.".join(map(_any_of, columns)) + r"(\.|$)").match
    return "" if any(map(matches, others)) else ".".join(map(_said, columns))


def _any_of(column: list[str]) -> str:
    each = [r"\d+" if part == "*" else re.escape(part) for part in column]
    return f"({'|'.join(each)})"


def _said(column: list[str]) -> str:
    return column[0] if len(column) == 1 else "{" + ",".join(column) + "}"
