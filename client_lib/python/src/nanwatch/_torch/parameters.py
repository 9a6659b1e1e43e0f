"""The parameters of a model by their tensors, and what optimizers hold beyond
them."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from torch.nn.parameter import is_lazy

from nanwatch._torch.first_graph import Use

# Looks into a model that find nothing after which each waits twice as long: an
# optimizer may have new copies of all at each step. In looks at an optimizer's
# gradients, as is how long it takes until one such is forgiven.
_MISSES = 8
_LONGEST = 1024
_FORGIVEN = 64


class Patience:
    """How long to do without looks that find nothing."""

    def __init__(self) -> None:
        self._misses = 0
        self._waits = self._calm = 0  # before the next look, and since the last

    def passes(self) -> None:
        if self._waits > 0:
            self._waits -= 1
        elif self._misses > 0:
            self._calm += 1
            if self._calm == _FORGIVEN:
                self._misses, self._calm = self._misses - 1, 0

    def allows(self) -> bool:
        return self._waits == 0

    def missed(self) -> None:
        self._misses += 1
        self._calm = 0
        if self._misses > _MISSES:
            self._waits = min(_LONGEST, 1 << self._misses - _MISSES)

    def found(self) -> None:
        self._misses = self._waits = 0


class Parameter:
    """One parameter tensor: what it is called, and how its gradient is told."""

    __slots__ = ("_shape", "dtype", "half", "name", "place", "tensor")

    def __init__(
        self, name: str, tensor: Any, half: bool, dtype: str, place: int
    ) -> None:
        self.name = name
        self.half = half  # its gradient comes out of fp16 arithmetic
        self.dtype = dtype
        # Among those of the model, in the order in which it uses them, or else
        # lists them; -1: none of them.
        self.place = place
        # (No weak reference: PyTorch does not swap tensors that have one.)
        self.tensor = tensor
        self._shape: tuple[int, ...] = ()
        self._take_shape()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape or self._take_shape()

    def _take_shape(self) -> tuple[int, ...]:
        """A lazy module's have one when it was called."""
        if self.tensor is not None and not is_lazy(self.tensor):
            self._shape = tuple(self.tensor.shape)
        return self._shape

    def becomes(self, other: Parameter) -> Parameter:
        """This one, of another tensor: some programs replace them."""
        for slot in self.__slots__:
            setattr(self, slot, getattr(other, slot))
        return self

    def elements(self) -> int:
        return math.prod(self.shape)


class Parameters:
    """Of those that nobody trains any more, and that the model has no more, it
    keeps the names alone, from the next time on that one is not known. The
    sender's thread may ask, too."""

    def __init__(self, find: Callable[[], Mapping[int, Parameter]]) -> None:
        """`find`: those of the model as it is by now, by the ids of their
        tensors. Takes milliseconds."""
        self._find = find
        self._by_id: dict[int, Parameter] = {}  # replaced where it changes
        # By name. All are kept: who follows one knows it by its own id.
        self._retired: dict[str, list[Parameter]] = {}
        self._numbers: Iterator[int] | None = None  # for those without a name
        self._uses: dict[str, Use] = {}  # `order` is the place
        # By the ids of tensors, trained or not: what the model uses later has a
        # larger number.
        self.order: Mapping[int, int] = {}
        self._learning = threading.RLock()
        self._doubts = False  # whether all are still called as they were
        self._skipped = False  # a look for those that are not known
        self._with_doubts, self._with_new = Patience(), Patience()
        self.version = 0  # of what they are called
        # Ids of the tensors that are trained; whoever trains them says it.
        self.trained: Callable[[], Container[int]] = tuple

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, parameter: Parameter) -> None:
        self._by_id[id(parameter.tensor)] = parameter

    def get(self, tensor: Any) -> Parameter | None:
        """None: it is not known."""
        return self._by_id.get(id(tensor))

    def of(self, tensors: Sequence[Any]) -> list[Parameter]:
        """Of tensors that are trained. What one that is not known is in the
        model says its name, and those of the others by now; one that the model
        does not have takes the place of another such that is trained no more,
        or is called by a number."""
        if self._wants_a_look():
            self._learn(tensors)
        return self.known(tensors)

    def known(self, tensors: Sequence[Any]) -> list[Parameter]:
        """What `of` said of them; for those that it did not, `of`."""
        by_id: Mapping[int, Parameter] = self._by_id
        if any(id(tensor) not in by_id for tensor in tensors):
            by_id = self._learn(tensors)
        return [by_id[id(tensor)] for tensor in tensors]

    def passes(self) -> None:
        """A look at an optimizer's gradients does."""
        self._with_doubts.passes()
        self._with_new.passes()

    def are_still(self, version: int) -> bool:
        """What `of` says of the same tensors is as it was then."""
        return version == self.version and not self._wants_a_look()

    def doubt(self) -> None:
        """Some are trained no more: modules may be gone, and others be called
        by other names."""
        self._doubts = True

    def learn(self, uses: Mapping[int, Use]) -> None:
        """How the model uses them, by the ids of tensors; those of which that
        is not known stay behind the ones that are listed before them."""
        with self._learning:
            self.order = {key: use.order for key, use in uses.items()}
            listed = sorted(
                (p for p in self._by_id.values() if p.place >= 0),
                key=lambda p: p.place,
            )
            # By name: copies are called as what they are copies of.
            known = {
                p.name: uses[id(p.tensor)]
                for p in listed
                if id(p.tensor) in uses
            }
            places = {p.name: p.place for p in listed}
            last = Use(0, None)
            by_use: dict[str, Use] = {}
            for name in places:
                last = known.get(name, Use(last.order, None))
                by_use[name] = last
            names = sorted(places, key=lambda name: by_use[name].order)
            self._uses = {
                name: Use(place, by_use[name].half)
                for name, place in zip(names, places.values())
            }
            for parameter in listed:
                self._apply_use(parameter)

    def retire(self) -> None:
        """Lets go of tensors that are not trained."""
        with self._learning:
            trained = self.trained()
            self._keep(lambda key, _: key in trained)

    def _wants_a_look(self) -> bool:
        return (self._doubts and self._with_doubts.allows()) or (
            self._skipped and self._with_new.allows()
        )

    def _learn(self, tensors: Sequence[Any]) -> Mapping[int, Parameter]:
        with self._learning:
            now = self._look(any(id(t) not in self._by_id for t in tensors))
            trained = self.trained()
            # Who did not look does not know which are gone from the model.
            self._keep(
                lambda key, parameter: (
                    key in trained
                    or key in now
                    or (self._skipped and parameter.place >= 0)
                )
            )
            by_id = dict(self._by_id)
            new = {id(t): t for t in tensors if id(t) not in by_id}
            moved = {  # modules were put before it, or taken away
                key: parameter.tensor
                for key, parameter in by_id.items()
                if key in now and now[key].name != parameter.name
            }
            for key in moved:
                self._retire(by_id.pop(key))
            if moved or any(key in now for key in new):
                self._with_doubts.found()
                self._with_new.found()
            for key, tensor in {**new, **moved}.items():
                found = now.get(key)
                by_id[key] = (
                    self._as(found) if found else self._nameless(tensor)
                )
            self._by_id = by_id
            self.version += bool(moved)
            return by_id

    def _look(self, are_new: bool) -> Mapping[int, Parameter]:
        """A miss, unless it turns out that it was none. `are_new`: some are not
        known."""
        if not self._wants_a_look() and not self._with_new.allows():
            self._skipped = True
            return {}
        if self._doubts:
            self._with_doubts.missed()
        if are_new or self._skipped:
            self._with_new.missed()
        self._doubts = self._skipped = False
        return self._find()

    def _keep(self, which: Callable[[int, Parameter], bool]) -> None:
        kept = {}
        for key, parameter in self._by_id.items():
            if which(key, parameter):
                kept[key] = parameter
            else:
                self._retire(parameter)
        self.version += len(kept) < len(self._by_id)
        self._by_id = kept

    def _retire(self, parameter: Parameter) -> None:
        parameter.tensor = None
        self._retired.setdefault(_key(parameter), []).append(parameter)

    def _apply_use(self, parameter: Parameter) -> None:
        use = self._uses.get(parameter.name)
        if use is not None:
            parameter.place = use.order
            if use.half is not None:
                parameter.half = use.half and parameter.dtype == "fp32"

    def _as(self, found: Parameter) -> Parameter:
        """One of this name that was retired, or this."""
        self._apply_use(found)
        known = self._retired.get(_key(found))
        return known.pop().becomes(found) if known else found

    def _nameless(self, tensor: Any) -> Parameter:
        known = self._retired.get("")
        name = known[-1].name if known else f"parameter {self._number()}"
        return self._as(Parameter(name, tensor, False, "", -1))

    def _number(self) -> int:
        if self._numbers is None:
            known = sum(map(len, self._retired.values())) + len(self)
            self._numbers = itertools.count(known)
        return next(self._numbers)


def _key(parameter: Parameter) -> str:
    """Among those that were retired: those without a name are all alike."""
    return parameter.name if parameter.place >= 0 else ""
