"""What two runs of a training in Keras are compared by: its weights, and where
it runs eagerly what its layers get and make, its batches and gradients."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy

from nanwatch import _compared_arrays
from nanwatch._run import Run

_TENSORS = 4  # of one call's inputs, and of its outputs
_ASKED = "NANWATCH_FUSION"  # "off", "on" or "parts:" and a region's name
_PARTS = "parts:"
_BACKEND = keras.backend.backend()


class Comparing:
    """Of one `fit`. Layers are looked at by their own `call`, until `close`."""

    def __init__(
        self, compared: _compared_arrays.ComparedArrays, model: Any
    ) -> None:
        self._compared = compared
        self._model = model
        self._wrapped: list[tuple[Any, str]] = []
        for name, layer in _layers_of(model):
            if _compiles_parts() and _is_leaf(layer):
                layer.call = _compiled(layer.call)
                self._wrapped.append((layer, "call"))
            self._wrap(layer, "call", self._of_call(name, layer))
        if model.optimizer is not None:
            self._wrap(model.optimizer, "apply", self._of_apply)
        compared.add_weights(self.weights())

    def end(self, number: int, when: float) -> int | None:
        """A batch is over. Returns the digest of its data, if it was seen."""
        return self._compared.end(number, when, self.weights)

    def close(self) -> None:
        for of, name in self._wrapped:
            vars(of).pop(name, None)
        self._wrapped = []

    def weights(self) -> Iterator[tuple[str, Any]]:
        variables = self._model.trainable_variables
        state = getattr(self._model, "_jax_state", None) or {}
        values = state.get("trainable_variables")
        if values is None or self._model._jax_state_synced:
            values = [v.value for v in variables]
        for variable, value in zip(variables, values):
            yield variable.path, value

    def _wrap(self, of: Any, name: str, recording: Any) -> None:
        setattr(of, name, recording(getattr(of, name)))
        self._wrapped.append((of, name))

    def _of_call(self, name: str, layer: Any) -> Any:
        kind = type(layer).__name__

        def recording(call: Any) -> Any:
            @functools.wraps(call)
            def run(*given: Any, **more: Any) -> Any:
                tensors = _tensors((given, more))
                if layer is self._model:
                    self._compared.take_batch(tensors)
                made = call(*given, **more)
                self._compared.add(name, kind, "input", *tensors)
                self._compared.add(name, kind, "output", *_tensors(made))
                return made

            return run

        return recording

    def _of_apply(self, apply: Any) -> Any:
        @functools.wraps(apply)
        def run(grads: Any, variables: Any = None) -> Any:
            of = self._model.trainable_variables
            named = variables if variables is not None else of
            if len(named) == len(grads):
                self._compared.add_gradients(
                    (
                        (v.path, g)
                        for v, g in zip(named, grads)
                        if g is not None
                    ),
                    self._scale(),
                )
            return apply(grads, variables)

        return run

    def _scale(self) -> float:
        """That the gradients still carry."""
        optimizer = self._model.optimizer
        scale = getattr(optimizer, "dynamic_scale", None)
        if scale is None:
            return float(getattr(optimizer, "loss_scale_factor", None) or 1.0)
        array, _ = array_of(scale.value)
        return 1.0 if array is None else float(array)


def begin(level: str, run: Run, model: Any) -> Comparing | None:
    compared = _compared_arrays.begin(level, run, array_of)
    return None if compared is None else Comparing(compared, model)


def prepare() -> None:
    """Before a model is compiled: where `nanwatch fusion` wants it so, without
    what XLA and TensorFlow make of it."""
    asked = os.environ.get(_ASKED, "")
    if _BACKEND != "tensorflow" or asked in ("", "on"):
        return
    if asked == "off":
        import tensorflow

        tensorflow.config.run_functions_eagerly(True)
    compile_as_given = keras.Model.compile

    @functools.wraps(compile_as_given)
    def compile_eagerly(self: Any, *of: Any, **more: Any) -> Any:
        more.update(run_eagerly=True, jit_compile=False)
        return compile_as_given(self, *of, **more)

    keras.Model.compile = compile_eagerly


def _compiles_parts() -> bool:
    asked = os.environ.get(_ASKED, "")
    return _BACKEND == "tensorflow" and asked.startswith(_PARTS)


def _compiled(call: Any) -> Any:
    import tensorflow

    return tensorflow.function(call, jit_compile=True)


def _layers_of(model: Any) -> Iterator[tuple[str, Any]]:
    root = getattr(model, "path", None) or model.name
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.InputLayer):
            continue
        path = str(getattr(layer, "path", None) or layer.name)
        yield (
            ("model" if layer is model else path.removeprefix(f"{root}/")),
            layer,
        )


def _is_leaf(layer: Any) -> bool:
    return not list(layer._flatten_layers(include_self=False))


def _tensors(value: Any) -> list[Any]:
    return [x for x in keras.tree.flatten(value) if hasattr(x, "dtype")][
        :_TENSORS
    ]


def array_of(tensor: Any) -> tuple[Any, str]:
    """None: it is a symbol of a graph, or not on the host."""
    if isinstance(tensor, numpy.ndarray):
        return tensor, ""
    return _array_of(tensor)


def _of_tensorflow(tensor: Any) -> tuple[Any, str]:
    import tensorflow

    if isinstance(tensor, (tensorflow.Variable, tensorflow.IndexedSlices)):
        tensor = tensorflow.convert_to_tensor(tensor)
    if tensorflow.is_symbolic_tensor(tensor) or "CPU" not in tensor.device:
        return None, ""
    return tensor.numpy(), ""


def _of_torch(tensor: Any) -> tuple[Any, str]:
    import torch

    if tensor.device.type != "cpu":
        return None, ""
    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:  # NumPy has no such format
        return tensor.contiguous().view(torch.int16).numpy(), "bf16"
    return tensor.numpy(), ""


def _of_jax(tensor: Any) -> tuple[Any, str]:
    import jax

    if isinstance(tensor, jax.core.Tracer):
        return None, ""
    on_host = all(d.platform == "cpu" for d in tensor.devices())
    return (numpy.asarray(tensor) if on_host else None), ""


def _of_others(tensor: Any) -> tuple[Any, str]:
    return None, ""


_ARRAYS: dict[str, Callable[[Any], tuple[Any, str]]] = {
    "jax": _of_jax,
    "tensorflow": _of_tensorflow,
    "torch": _of_torch,
}
_array_of = _ARRAYS.get(_BACKEND, _of_others)
