"""Hooks of a model's modules, on those alone that are to tell: what a hook does
not do costs its call all the same, and a module that has none is called in a
shorter way."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from typing import Any

from nanwatch._torch.hooks import Hook, keep_from_copies, release


class Hooked:
    def __init__(self) -> None:
        self._modules: dict[int, tuple[weakref.ref[Any], Hook]] = {}
        self._handles: dict[int, Any] = {}

    def __bool__(self) -> bool:
        return bool(self._modules)

    def add(self, place: int, module: Any, hook: Callable[..., None]) -> None:
        """Without one yet."""
        keep_from_copies(module)
        self._modules[place] = weakref.ref(module), Hook(hook)

    def put_on_all(self) -> None:
        if len(self._handles) < len(self._modules):
            self.put_on(self._modules)

    def put_on(self, places: Collection[int]) -> None:
        """On these, and on no others."""
        for place in [p for p in self._handles if p not in places]:
            self._handles.pop(place).remove()
        for place in places:
            if place in self._handles or place not in self._modules:
                continue
            reference, hook = self._modules[place]
            module = reference()
            if module is not None:
                self._handles[place] = module.register_forward_hook(
                    hook, with_kwargs=True
                )

    def close(self) -> None:
        self.put_on(())
        for reference, _ in self._modules.values():
            module = reference()
            if module is not None:
                release(module)
        self._modules = {}
