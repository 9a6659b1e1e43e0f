"""Which run, attempt and rank this process is, from the call and the
environment. Every client obeys tests/unit/client/identity_table.txt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nanwatch._socket_file import private_address
from nanwatch._text import clean

INT32_MAX = (1 << 31) - 1

# What a launcher tells each of its processes: rank, world size, local rank.
# The nearest launcher first: torchrun runs under mpirun or srun, mpirun under
# srun, never the other way.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_RANK_IN_NODE"),
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
    ),
    (  # MVAPICH2
        "MV2_COMM_WORLD_RANK",
        "MV2_COMM_WORLD_SIZE",
        "MV2_COMM_WORLD_LOCAL_RANK",
    ),
    ("PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK"),
    ("RANK_ID", "RANK_SIZE", "DEVICE_ID"),  # MindSpore's msrun, Ascend's HCCL
    ("MS_NODE_ID", "MS_WORKER_NUM", "DEVICE_ID"),  # MindSpore by hand
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)


@dataclass
class Identity:
    run_id: str = ""  # empty: the daemon makes one
    attempt: int | None = None  # None: the daemon counts
    rank: int = 0
    local_rank: int = 0
    world_size: int = 1  # always more than `rank`
    # No run id although there are other ranks: they cannot be brought
    # together.
    run_id_guessed: bool = False
    job: str = ""  # of the environment
    # Of Kubernetes' downward API.
    pod: str = ""
    namespace: str = ""
    node: str = ""


def _text(environment: Mapping[str, str], name: str) -> str:
    return clean(environment.get(name, "")).decode()


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) > INT32_MAX:
        return None
    return int(text)


def _find_run_id(environment: Mapping[str, str]) -> str:
    told = _text(environment, "NANWATCH_RUN_ID")
    if told:
        return told
    elastic = _text(environment, "TORCHELASTIC_RUN_ID")
    if elastic and elastic != "none":
        return elastic
    job = _text(environment, "SLURM_JOB_ID")
    if job:
        step = _text(environment, "SLURM_STEP_ID")
        return f"slurm-{job}.{step}" if step else f"slurm-{job}"
    for host_name, port_name in (
        ("MASTER_ADDR", "MASTER_PORT"),
        ("MS_SCHED_HOST", "MS_SCHED_PORT"),  # of MindSpore
    ):
        host, port = (
            _text(environment, host_name),
            _text(environment, port_name),
        )
        if host and port:
            return f"{host}:{port}"
    return _text(environment, "PADDLE_MASTER") or _find_tpu_job(environment)


def _tpu_hosts(environment: Mapping[str, str]) -> list[str]:
    """Of one slice, a name a worker, the same list on all of them."""
    names = _text(environment, "TPU_WORKER_HOSTNAMES")
    return names.split(",") if names else []


def _find_tpu_job(environment: Mapping[str, str]) -> str:
    coordinator = _text(environment, "MEGASCALE_COORDINATOR_ADDRESS")
    if coordinator:
        return coordinator
    hosts = _tpu_hosts(environment)
    return f"tpu-{hosts[0]}" if len(hosts) > 1 and hosts[0] else ""


def _find_rank(environment: Mapping[str, str], identity: Identity) -> None:
    for rank_name, world_name, local_name in _LAUNCHERS:
        rank = _number(environment, rank_name)
        world_size = _number(environment, world_name)
        # One alone, or a rank beyond the world, is another program's variable.
        if rank is None or world_size is None or rank >= world_size:
            continue
        identity.rank = rank
        identity.world_size = world_size
        identity.local_rank = _number(environment, local_name) or 0
        return
    # PMIx has the size for who asks its library, not in the environment.
    rank = _number(environment, "PMIX_RANK")
    if rank is not None and rank < INT32_MAX:
        identity.rank = rank
        identity.world_size = rank + 1
        return
    _find_tpu_rank(environment, identity)


def _find_tpu_rank(environment: Mapping[str, str], identity: Identity) -> None:
    """Of a TPU VM: its place in the slice, and the slice's among several."""
    worker = _number(environment, "TPU_WORKER_ID")
    workers = len(_tpu_hosts(environment))
    if worker is None or worker >= workers:
        return
    slices = _number(environment, "MEGASCALE_NUM_SLICES") or 1
    at = _number(environment, "MEGASCALE_SLICE_ID") or 0
    if at < slices and slices * workers <= INT32_MAX:
        identity.rank = at * workers + worker
        identity.world_size = slices * workers


def find_identity(
    environment: Mapping[str, str],
    run_id: str | None = None,
    attempt: int | None = None,
    rank: int | None = None,
    local_rank: int | None = None,
    world_size: int | None = None,
) -> Identity:
    """What the call says comes before what the environment does."""
    identity = Identity()
    _find_rank(environment, identity)
    if rank is not None:
        identity.rank = max(0, rank)
    if local_rank is not None:
        identity.local_rank = min(max(0, local_rank), INT32_MAX)
    if world_size is not None:
        identity.world_size = min(world_size, INT32_MAX)
    identity.rank = min(identity.rank, INT32_MAX - 1)
    identity.world_size = max(identity.world_size, identity.rank + 1)

    identity.job = _text(environment, "NANWATCH_JOB")
    identity.pod = _text(environment, "NANWATCH_POD")
    identity.namespace = _text(environment, "NANWATCH_NAMESPACE")
    identity.node = _text(environment, "NANWATCH_NODE")
    identity.run_id = clean(run_id or "").decode() or _find_run_id(environment)
    identity.run_id_guessed = not identity.run_id and identity.world_size > 1

    if attempt is not None and 0 <= attempt <= INT32_MAX:
        identity.attempt = attempt
    for name in ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"):
        if identity.attempt is None:
            identity.attempt = _number(environment, name)
    return identity


def _with_scheme(address: str) -> str:
    return "unix:" + address if address.startswith("/") else address


def find_addresses(
    address: str | None, environment: Mapping[str, str], user: int
) -> list[str]:
    """Where to look for the daemon, in gRPC's notation, best first. A call or
    NANWATCH_ADDRESS names one daemon: no other is tried then. Every client
    obeys tests/unit/client/address_table.txt."""
    named = address or _text(environment, "NANWATCH_ADDRESS")
    if named:
        return [_with_scheme(named)]
    addresses = []
    own = _text(environment, "XDG_RUNTIME_DIR")
    if own:
        addresses.append(f"unix:{own}/nanwatch/ingest.sock")
    if user != 0:  # root's daemon is the machine's
        addresses.append(private_address(user))
    return [*addresses, "unix:/run/nanwatch/ingest.sock"]
