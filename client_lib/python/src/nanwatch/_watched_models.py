"""Which models are watched, so that one is not told of twice."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from nanwatch._owns_run import OwnsRun

# What is said where a model is watched a second time, for the same and for
# another training.
GOES_ON = "this model is watched already; that watch goes on"
BEGINS_AGAIN = (
    "this model is watched already, with another optimizer or scaler: that "
    "watch is closed, and the training begins again"
)

W = TypeVar("W", bound=OwnsRun)

# By the id of a model, or of what stands for it; both may go at any time.
_watches: weakref.WeakValueDictionary[int, OwnsRun] = (
    weakref.WeakValueDictionary()
)
_models: dict[int, weakref.ref[Any]] = {}


def remember(model: Any, watch: OwnsRun) -> None:
    key = id(model)
    try:
        _models[key] = weakref.ref(model, lambda _: _models.pop(key, None))
    except TypeError:  # it cannot be referred to: nobody will know
        return
    _watches[key] = watch


def watched_already(model: Any, kind: type[W], *of: Any) -> W | None:
    """The open watch of a model, of this kind; where there is one, that it is
    asked for another is said, and counted, in its run. `of`: what it is to
    follow with the model, None is anything. One that follows another is closed:
    the training begins again."""
    watch = _known(model)
    if not isinstance(watch, kind) or watch.run is None:
        return None
    if not watch._follows(*of):
        watch.run._checks.refuse("watch", BEGINS_AGAIN)
        watch.run.close()
        return None
    watch.run._checks.refuse("watch", GOES_ON)
    return watch


def is_told_by_another(model: Any, training: Any) -> bool:
    """Where a training begins: another callback tells of it. One that is left
    of a training which was interrupted is closed. `training`: what both have
    where it is the same; None: nobody knows, but where one told something, it
    began before."""
    before = _known(model)
    if before is None or before.run is None:
        return False
    same = (
        before.run.stats.pushed == 0
        if training is None
        else before._training() is training
    )
    if not same:
        before.run.close()
        return False
    before.run._checks.refuse("watch", GOES_ON)
    return True


def _known(model: Any) -> OwnsRun | None:
    """The open watch of a model."""
    watch = _watches.get(id(model)) if model is not None else None
    if watch is None or watch.run is None or watch.run.is_closed:
        return None
    reference = _models.get(id(model))
    if reference is None or reference() is not model:
        return None
    return watch
