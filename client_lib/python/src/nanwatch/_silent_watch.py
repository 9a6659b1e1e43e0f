"""What cannot be watched is trained all the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from nanwatch._checks import Checks

F = TypeVar("F", bound=Callable[..., Any])


def or_silent(silent: Callable[[Checks], Any]) -> Callable[[F], F]:
    """A `watch` that raises nothing: where it fails the log says so once, and
    the training gets what `silent` makes, which tells nothing."""

    def decorate(watch: F) -> F:
        @functools.wraps(watch)
        def guarded(*args: Any, **options: Any) -> Any:
            try:
                return watch(*args, **options)
            except Exception as error:
                checks = Checks()
                checks.refuse(
                    "watch", f"this training is not watched: {error!r:.300}"
                )
                return silent(checks)

        return cast(F, guarded)

    return decorate
