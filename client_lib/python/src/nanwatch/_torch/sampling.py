"""Which rows may be told of a step in which not every module was looked at.

What is not finite may have come from one that was not; said of the wrong one it
would be believed. So it is told where it is certain: of a module without
others in it, which made it of what was finite, and of the first one that was
called, before which there was none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nanwatch._torch.modules import Row
from nanwatch._torch.statistics import Read

_GIVEN = {False: "input", True: "grad_output"}  # by whether it is backward


def is_mask(row: Row, status: Read) -> bool:
    """-infinity alone, in what enters a module: put there on purpose."""
    return (
        row.slot == "input"
        and status.neg_inf > 0
        and status.nan == status.pos_inf == 0
    )


def certain(
    rows: Sequence[Row],
    statuses: Sequence[Read],
    is_leaf: Callable[[int], bool],
) -> list[bool]:
    """Of each row. `rows` are in the order of execution; `is_leaf` by a
    module's place."""
    if not rows:
        return []
    first = (rows[0].module, False) if rows[0].begins else None
    bad: set[tuple[int, bool]] = set()
    given_bad: set[tuple[int, bool]] = set()
    given: set[tuple[int, bool]] = set()
    for row, status in zip(rows, statuses):
        key = (row.module, row.backward)
        if row.slot == _GIVEN[row.backward]:
            given.add(key)
            if status.bad and not is_mask(row, status):
                given_bad.add(key)
        if status.bad and not is_mask(row, status):
            bad.add(key)

    def known(key: tuple[int, bool]) -> bool:
        if key not in bad or key == first:
            return True
        return is_leaf(key[0]) and key in given and key not in given_bad

    return [known((row.module, row.backward)) for row in rows]
