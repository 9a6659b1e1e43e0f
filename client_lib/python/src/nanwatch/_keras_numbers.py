"""Numbers of an optimizer of Keras, from the device that trains."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import keras


class Numbers(Protocol):
    """Of one batch."""

    def ready(self) -> bool:
        """Whether they are on the host. Asks; does not wait."""

    def read(self) -> list[float]:
        """In the order in which they were taken."""


class _Read:
    """They were on the host already."""

    def __init__(self, numbers: list[float]) -> None:
        self._numbers = numbers

    def ready(self) -> bool:
        return True

    def read(self) -> list[float]:
        return self._numbers


def taker(model: Any, variables: list[Any], schedule: Any) -> Taker:
    """Of a model that trains: `variables` of its optimizer, of one element
    each; with a `schedule` the last of them counts iterations that are over,
    and becomes the learning rate that the newest of them had."""
    kind = {"jax": _of_jax, "torch": _of_torch}.get(keras.backend.backend())
    return (kind or _of_others)(model, variables, schedule)


Taker = Callable[[], Numbers]


def _scheduled(schedule: Any, values: list[Any]) -> list[Any]:
    if schedule is None:
        return values
    return [*values[:-1], schedule(keras.ops.maximum(values[-1] - 1, 0))]


def _of_others(model: Any, variables: list[Any], schedule: Any) -> Taker:
    """TensorFlow: there Keras itself has waited for the batch."""

    def take() -> Numbers:
        values = _scheduled(schedule, list(variables))
        return _Read([float(keras.ops.convert_to_numpy(v)) for v in values])

    return take


def _of_torch(model: Any, variables: list[Any], schedule: Any) -> Taker:
    from nanwatch._torch.readout import Readout

    class Taken(Readout):
        places: list[Any]

        def read(self) -> list[float]:
            self.finish()
            return [self.number(place) for place in self.places]

    def take() -> Numbers:
        values = [v.value.detach() for v in variables]
        taken = Taken()
        taken.places = [
            taken.add([v.detach().reshape(()).float().clone()])
            for v in _scheduled(schedule, values)
        ]
        taken.start()
        return taken

    return take


@functools.lru_cache(maxsize=1)
def _gather() -> Any:
    """A copy, since the next batch takes the state's memory."""
    import jax
    import jax.numpy as jnp

    return jax.jit(
        lambda *values: jnp.stack(
            [jnp.reshape(v, ()).astype(jnp.float32) for v in values]
        )
    )


class _Copied:
    def __init__(self, array: Any) -> None:
        self._array = array
        array.copy_to_host_async()

    def ready(self) -> bool:
        return bool(self._array.is_ready())

    def read(self) -> list[float]:
        numbers: list[float] = keras.ops.convert_to_numpy(self._array).tolist()
        return numbers


def _of_jax(model: Any, variables: list[Any], schedule: Any) -> Taker:
    places: dict[int, int] = {}

    def take() -> Numbers:
        if not places:  # the optimizer may be built with the first batch
            of = {id(v): i for i, v in enumerate(model.optimizer.variables)}
            places.update({i: of[id(v)] for i, v in enumerate(variables)})
        state = getattr(model, "_jax_state", None) or {}
        values = state.get("optimizer_variables")
        if values is None or model._jax_state_synced:
            found = [v.value for v in variables]
        else:  # Keras has left it outside its variables
            found = [values[places[i]] for i in range(len(variables))]
        return _Copied(_gather()(*_scheduled(schedule, found)))

    return take
