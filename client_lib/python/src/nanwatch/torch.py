"""PyTorch: two lines in a training loop.

import nanwatch

watch = nanwatch.torch.watch(model, optimizer, scaler)  # before the loop
...
watch.step(loss)  # in the loop, after optimizer.step()
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

import torch

import nanwatch
from nanwatch import _environment, _first_steps, _init
from nanwatch._checks import Checks, describe
from nanwatch._run import Run
from nanwatch._settings import add_settings
from nanwatch._silent_watch import or_silent
from nanwatch._torch import (
    environment,
    fusing,
    given_optimizers,
    open_watches,
    replicas,
    scaling,
)
from nanwatch._torch.canary import Canary, ranks_of
from nanwatch._torch.device_id import device_id
from nanwatch._torch.given_optimizers import Optimizers
from nanwatch._torch.layer_scaling import LayerScaling
from nanwatch._torch.modules import inner
from nanwatch._torch.optimizers import plain
from nanwatch._torch.places import is_distributed, places
from nanwatch._torch.watching import LEVELS, Watch
from nanwatch._watched_models import BEGINS_AGAIN, GOES_ON

__all__ = ["LEVELS", "Canary", "Watch", "canary", "layer_scales", "watch"]

log = logging.getLogger("nanwatch")

# Of the time of a step, at level "ops".
_BUDGET = 0.03


def _silent(checks: Checks) -> Watch:
    run = _init._silent(checks)
    return Watch(run, True, torch.nn.Module(), {}, None, LEVELS[0], _BUDGET)


@or_silent(_silent)
def watch(
    model: torch.nn.Module,
    optimizer: Optimizers = None,
    scaler: Any = None,
    run: None | str | Run = None,
    *,
    level: str = "default",
    budget: float = _BUDGET,
    **init: Any,
) -> Watch:
    """Puts hooks on a model, its optimizer (or several: a list, or a dict of
    names) and its GradScaler, and opens a run. Nothing of it ever raises into
    the training or waits for a device.

    `level`: "default" has the scalars of each step and each parameter's
    gradient norm; "layers" adds, at every 4th step, zeros and largest elements
    and at every 16th the sizes of weights and updates, for which the weights
    are copied; "ops" adds what goes
    through each module forward and backward, within `budget` of the time of a
    step; "compare" adds to "default" what two runs are compared by. Whatever
    the level, the daemon may ask for the detail of "ops" for
    some steps.

    `run`: the run's id, or a Run that is open already. The rest is as for
    `nanwatch.init`. DDP, FSDP and torch.compile wrap the model before this; a
    step that becomes a CUDA graph is recorded after it."""
    return _watch(model, optimizer, scaler, run, level, budget, init)


def _watch(
    model: Any,
    optimizer: Optimizers,
    scaler: Any,
    run: None | str | Run,
    level: str,
    budget: float,
    init: dict[str, Any],
) -> Watch:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model= takes a torch.nn.Module, not a {describe(model)}"
        )
    level = _first_steps.level(level)
    known = open_watches.known(model)
    if known is not None and _is_of(known, optimizer, scaler):
        known._checks.refuse("watch", GOES_ON)
        return known
    if known is not None:
        known._checks.refuse("watch", BEGINS_AGAIN)
        known.close()
    if isinstance(scaler, nanwatch.Scaler):  # only said what it is
        init, scaler = {**init, "scaler": scaler}, None
    odd = None if scaling.can_be_followed(scaler) else scaler
    scaler = scaler if odd is None else None
    owns = not isinstance(run, Run)
    opened = (
        run
        if isinstance(run, Run)
        else _open(model, optimizer, scaler, run, level, init)
    )
    checks = opened._checks
    if not owns and open_watches.is_told_of(opened):
        checks.refuse(
            "run",
            "run= is that of another model's watch, and has the steps of one: "
            "give both models to one watch, a torch.nn.ModuleDict and a dict "
            "of their optimizers, or each a run of its own",
        )
        return _silent(checks)
    if odd is not None:
        checks.refuse(
            "scaler",
            f"scaler= takes a torch.amp.GradScaler, not a {describe(odd)}",
        )
    share = checks.real("budget", budget)
    budget = share if share is not None and share > 0.0 else _BUDGET
    if level not in LEVELS:
        checks.refuse(
            "level", f"level= is one of {', '.join(LEVELS)}, not {level!r:.60}"
        )
        level = LEVELS[0]
    if next(model.parameters(), None) is None:
        checks.refuse("model", "the model has no parameters")
    followed = {}
    for name, each in given_optimizers.listed(optimizer).items():
        if given_optimizers.can_be_followed(each):
            followed[name] = each
        else:
            checks.refuse("optimizer", given_optimizers.why_not(each))
    fusing.prepare(model)
    it = Watch(opened, owns, model, followed, scaler, level, budget)
    if known is not None and known.run is opened:
        it.goes_on_from(known)
    _first_steps.limit(it, lambda: it._current.count)
    return it


def layer_scales(
    watch: Watch,
    scales: Mapping[Any, Any] | Callable[[], Mapping[Any, Any]],
    *,
    every: int = 4,
    dtype: str | None = None,
) -> None:
    """Says that layers have loss scales of their own: a dict of modules, or
    their names, to the scale that is on the gradient at the module's output
    (None: the step's own; the module is looked at); or a function that gives
    it, which is called at each step's end. Once before the loop, or a dict at
    each step, before `watch.step`.

    Each `every`-th step the gradients that arrive at these modules are looked
    at (how many of each binary exponent; their weights' size), whatever the
    level: `nanwatch layers RUN --scales` says then which scales suit. `dtype`:
    the format that they are cast to, where they are seen before that."""
    if not isinstance(watch, Watch) or watch._closed:
        return
    if watch.layers is None:
        current = watch._current
        watch.layers = LayerScaling(
            inner(watch._model),
            watch.run.register_op,
            watch._checks,
            watch._guard,
            lambda: current.readout,
        )
    watch._guard("layers", watch.layers.give, scales, every, dtype)


def canary(
    model: torch.nn.Module,
    loss_of: Callable[[Callable[..., Any], Any], torch.Tensor],
    run: str,
    *,
    every: int = 100,
    group: Any = None,
    **init: Any,
) -> Canary:
    """Lets all ranks of a data-parallel group compute a batch of one of them
    again, and compares the bits: a device that computes wrongly, or otherwise
    than the others, is named, though the replicas' weights stay equal.

    `loss_of(call, batch)` is the loss as the training computes it, with `call`
    in place of the model. `run`: the id of the run that has the results, one
    of its own: "r1-canary". `group`: the ranks that hold the same weights;
    None: all. Call `step(batch)` of what this returns on all ranks, after each
    update. `every`-th calls cost about a step; the first one twice that."""
    rank = torch.distributed.get_rank()
    ranks = ranks_of(group)
    given = {
        "framework": "pytorch",
        "rank": rank,
        "world_size": torch.distributed.get_world_size(),
        "dp": (ranks.index(rank), len(ranks)),
        **init,
    }
    opened = nanwatch.init(run=run, **given)
    return Canary(opened, inner(model), loss_of, every, group)


def _is_of(known: Watch, optimizer: Optimizers, scaler: Any) -> bool:
    """It has these, as far as they are given."""
    given = given_optimizers.listed(optimizer).values()
    ids = {id(plain(o)) for o in given if given_optimizers.can_be_followed(o)}
    return (not ids or ids == set(known._by_id)) and (
        scaler is None
        or scaler is known._given_scaler
        or not scaling.can_be_followed(scaler)
    )


def _open(
    model: Any,
    optimizer: Any,
    scaler: Any,
    run: str | None,
    level: Any,
    init: dict[str, Any],
) -> Run:
    given = dict(init)
    if run is not None:
        given["run"] = run
    first = next(model.parameters(), None)
    given.setdefault("framework", "pytorch")
    given.setdefault("scaler", scaling.declared(scaler))
    given.setdefault("precision", _precision(first, scaler))
    if first is not None and first.device.type in ("cpu", "cuda"):
        given.setdefault("overflow_mode", "inf_nan")
    if first is not None:
        given.setdefault("device", _device(first.device))
        given.setdefault("device_id", device_id(first.device))
    add_settings(
        given,
        watch_level=str(level),
        **_last_layer(model),
        **environment.known(
            model, map(plain, given_optimizers.listed(optimizer).values())
        ),
        **_environment.known(),
    )
    dist = torch.distributed
    if is_distributed():
        given.setdefault("rank", dist.get_rank())
        given.setdefault("world_size", dist.get_world_size())
        with contextlib.suppress(Exception):  # a mesh of another torch
            given.update({**places(model), **given})
    if replicas.is_alike(model) and "dp" not in init:
        given.setdefault("shapes", replicas.shapes_of(model))
    return nanwatch.init(**given)


def _last_layer(model: torch.nn.Module) -> dict[str, str]:
    """How many outputs the last layer has: a fresh classifier's first loss is
    near their logarithm, which the daemon then knows for what guessing costs.
    """
    leaves = [m for m in model.modules() if not next(m.children(), None)]
    layers = [m for m in leaves if next(m.parameters(), None) is not None]
    outputs = getattr(layers[-1], "out_features", 0) if layers else 0
    known = isinstance(outputs, int) and outputs > 1
    return {"last_layer": str(outputs)} if known else {}


def _precision(first: Any, scaler: Any) -> str:
    if scaling.of(scaler) is not None:
        return "fp16"
    if first is None:
        return ""
    known = {
        torch.float16: "fp16",
        torch.bfloat16: "bf16",
        torch.float64: "fp64",
    }
    return known.get(first.dtype, "")


def _device(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return str(device.type)
