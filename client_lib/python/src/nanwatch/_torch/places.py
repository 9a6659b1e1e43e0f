"""The places of a rank in its parallel groups, from the meshes that its
parameters lie on and from the groups of what wraps it."""

from __future__ import annotations

from typing import Any

import torch

from nanwatch._places import kind_of, places_of


def _root(mesh: Any) -> Any:
    """What it was sliced out of."""
    get = getattr(mesh, "_get_root_mesh", None)
    if get is None:
        from torch.distributed import device_mesh

        resources: Any = getattr(device_mesh, "_mesh_resources", None)
        return mesh if resources is None else resources.get_root_mesh(mesh)
    return get()


def _axes(mesh: Any, unnamed: str) -> list[tuple[str, int, int]]:
    """`unnamed`: what an axis without a name is."""
    coordinates = mesh.get_coordinate()
    if coordinates is None:  # this rank is none of it
        return []
    names = mesh.mesh_dim_names or [None] * mesh.ndim
    return [
        (unnamed if name is None else kind_of(name), mesh.size(i), at)
        for i, (name, at) in enumerate(zip(names, coordinates))
    ]


def _is_sharded(module: Any) -> bool:
    """By FSDP 2; of it alone the axes of a mesh without names are known."""
    return any(type(m).__name__.startswith("FSDP") for m in module.modules())


def is_distributed() -> bool:
    dist = torch.distributed
    return bool(dist.is_available() and dist.is_initialized())


def places(model: torch.nn.Module) -> dict[str, int]:
    """By dp, tp, pp, ep and cp; those that are known."""
    dist = torch.distributed
    if not is_distributed():
        return {}
    meshes: list[Any] = []
    for parameter in model.parameters():
        mesh = getattr(parameter, "device_mesh", None)
        if mesh is not None and not any(mesh is m for m in meshes):
            meshes.append(mesh)
    found: dict[str, int] = {}
    unnamed = "dp" if _is_sharded(model) else "tp"
    for mesh in meshes:
        for each in (_root(mesh), mesh):
            for kind, place in places_of(_axes(each, unnamed)).items():
                found.setdefault(kind, place)
    # DistributedDataParallel and FSDP of 1.x.
    group = getattr(model, "process_group", None)
    if isinstance(group, dist.ProcessGroup):
        found.setdefault("dp", dist.get_rank(group))
    return {kind: place for kind, place in found.items() if place >= 0}
