"""init: opens a run of this process."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from nanwatch import _autostart, _environment, _first_steps, _process
from nanwatch._checks import Checks, describe
from nanwatch._identity import INT32_MAX, find_addresses, find_identity
from nanwatch._opening import OVERFLOW_MODES, SCALINGS, Opening, Scaler
from nanwatch._run import Run
from nanwatch._run_name import name_run, script_of_program
from nanwatch._sender import Sender
from nanwatch._settings import rewards
from nanwatch._shared import Shared

_BUFFER_ROWS = 20_000
_UNACKED_BYTES = 64 << 20


def init(
    job: str = "",
    run: str = "",
    *,
    attempt: int | None = None,
    rank: int | None = None,
    local_rank: int | None = None,
    world_size: int | None = None,
    address: str = "",
    autostart: bool | None = None,
    framework: str = "",
    precision: str = "",
    overflow_mode: str = "",
    scaler: Scaler | None = None,
    clip_norm: float | None = None,
    seed: int | None = None,
    settings: Mapping[str, str] | None = None,
    benchmark: str = "",
    host: str | None = None,
    device: str = "",
    device_id: str = "",
    dp: int | tuple[int, int] = 0,
    tp: int | tuple[int, int] = 0,
    pp: int | tuple[int, int] = 0,
    ep: int | tuple[int, int] = 0,
    cp: int | tuple[int, int] = 0,
    shapes: int | None = None,
    buffer_rows: int = _BUFFER_ROWS,
    unacked_bytes: int = _UNACKED_BYTES,
    **unknown: Any,
) -> Run:
    """Opens a run of one rank and returns at once; a thread of its own finds
    the daemon. What is not given is found out or left open.

    `run` is the run id: else NANWATCH_RUN_ID, TORCHELASTIC_RUN_ID (unless
    "none"), the Slurm job and step, MASTER_ADDR:PORT, MS_SCHED_HOST:PORT,
    PADDLE_MASTER, the coordinator or the first host of TPUs, in this order;
    else one of the script's name and the time ("train-20261127-0341-7c3e"); of
    several ranks without any, the daemon makes one. Rank, local rank and world
    size: what torchrun, Paddle, Open MPI, MVAPICH2, a PMI launcher, MindSpore,
    Slurm, PMIx (no size) or a TPU VM put into the environment, else 0, 0 and 1.
    `job` is a name for people, else NANWATCH_JOB. NANWATCH_POD,
    NANWATCH_NAMESPACE and NANWATCH_NODE say where a pod runs.

    `address` is "unix:/path", "host:port" or "tls://host:port" (with what
    NANWATCH_CA, NANWATCH_CERT, NANWATCH_KEY and NANWATCH_TOKEN_FILE name):
    else NANWATCH_ADDRESS, then
    $XDG_RUNTIME_DIR/nanwatch/ingest.sock, then /tmp/nanwatch-UID/ingest.sock
    if that folder is this user's own and nobody else's to write to (not as
    root), then /run/nanwatch/ingest.sock.

    `autostart`: where no address is said and none of these answers, starts a
    nanwatchd (NANWATCH_DAEMON, else the one on PATH, else the wheel's) at the
    first of them, which ends with the last process that used it so. Not given:
    what NANWATCH_AUTOSTART says, "1" or nothing. Why it could not, Run.stats
    says.

    `precision` is "fp16", "bf16", "fp8", "fp32", ...; `overflow_mode` is
    "inf_nan" or "saturation". `settings` bear on precision (64 at most).
    {"trains_on": "rewards"} says that the loss follows rewards (found out where
    gymnasium or the like is imported): levels of losses and norms are
    information then. {"losses": "of_one_aim"} says that the losses of several
    optimizers do not work against each other, as those of a GAN do.
    {"loss": "cross_entropy"} says that it is one and never below 0 (found out
    of Keras's compile()). `benchmark` is a run that the daemon knows, "RUN" or
    "RUN@ATTEMPT": this one's losses are held against its (else
    NANWATCH_BENCHMARK). `dp` to `cp` are the rank's places in its parallel
    groups, alone or with the size of the group: dp=(1, 8). `shapes` is said by
    watches.

    `buffer_rows` are kept between the training and the sender, of steps and of
    op statuses each; `unacked_bytes` until the daemon acknowledges them
    (0: one batch at a time).
    """
    given = locals()
    checks = Checks()
    checks.unknown("init", unknown)
    try:
        return _open(given, checks)
    except Exception as error:  # memory or threads are short
        checks.refuse("init", f"nothing will be sent: {error!r:.200}")
        return _silent(checks)


def _silent(checks: Checks) -> Run:
    return Run(Shared(1, checks), checks, None)


def _open(given: dict[str, Any], checks: Checks) -> Run:
    if not _process.enter():
        return _silent(checks)
    shared = Shared(
        checks.integer("buffer_rows", given["buffer_rows"], 2, 1 << 24)
        or _BUFFER_ROWS,
        checks,
    )
    address = checks.text("address", given["address"])
    wanted = _autostart.is_wanted(
        checks.flag("autostart", given["autostart"]), os.environ
    )
    # Who names a daemon means that one.
    named = bool(address or os.environ.get("NANWATCH_ADDRESS"))
    unacked_bytes = checks.integer(
        "unacked_bytes", given["unacked_bytes"], 0, 1 << 40
    )
    if unacked_bytes is None:
        unacked_bytes = _UNACKED_BYTES
    sender = Sender(
        shared,
        _opening(given, checks),
        find_addresses(address, os.environ, os.getuid()),
        unacked_bytes,
        autostart=wanted and not named,
    )
    thread = threading.Thread(target=sender.run, name="nanwatch", daemon=True)
    opened = Run(shared, checks, thread)
    _process.add(opened)
    thread.start()
    _first_steps.at_opening(opened)
    return opened


def _opening(given: dict[str, Any], checks: Checks) -> Opening:
    def text(name: str) -> str:
        return checks.text(name, given[name])

    def number(name: str) -> int | None:
        value = given[name]
        if value is None:
            return None
        return checks.integer(name, value, -INT32_MAX, INT32_MAX)

    identity = find_identity(
        os.environ,
        text("run"),
        number("attempt"),
        number("rank"),
        number("local_rank"),
        number("world_size"),
    )
    session = secrets.randbits(64) or 1
    # Of several ranks, each would find another name.
    if not identity.run_id and not identity.run_id_guessed:
        identity.run_id = name_run(
            session, time.time(), os.environ, script_of_program()
        )
    seed = given["seed"]
    if seed is not None:
        seed = checks.integer("seed", seed, -(1 << 63), (1 << 63) - 1)
    dp, tp, pp, ep, cp = (
        checks.integer(n, _place(given[n]), 0, INT32_MAX) or 0
        for n in ("dp", "tp", "pp", "ep", "cp")
    )
    return Opening(
        session=session,
        identity=identity,
        job=text("job"),
        framework=text("framework"),
        precision=text("precision"),
        overflow_mode=_one_of("overflow_mode", given, OVERFLOW_MODES, checks),
        scaler=_scaler(given["scaler"], checks),
        clip_norm=checks.real("clip_norm", given["clip_norm"]),
        seed=seed,
        settings={
            **rewards(sys.modules),
            **_settings(given["settings"], checks),
            **(_environment.known() if _first_steps.only_opens() else {}),
            **_benchmark(text("benchmark")),
        },
        host=None if given["host"] is None else text("host"),
        device=text("device"),
        device_id=text("device_id"),
        groups=(dp, tp, pp, ep, cp),
        shapes=checks.count("shapes", given["shapes"]),
    )


def _place(given: Any) -> Any:
    """Without the size of the group."""
    pair = isinstance(given, tuple) and len(given) == 2
    return given[0] if pair else given


def _one_of(
    name: str,
    given: Mapping[str, Any],
    known: Mapping[str, int],
    checks: Checks,
) -> str:
    text = checks.text(name, given[name])
    if text and text not in known:
        checks.refuse(
            name, f"{name}= is one of {', '.join(known)}, not {text[:64]!r}"
        )
    return text


def _benchmark(said: str) -> dict[str, str]:
    run = said or os.environ.get("NANWATCH_BENCHMARK", "")
    return {"benchmark": run} if run else {}


def _settings(settings: Any, checks: Checks) -> dict[str, str]:
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        checks.refuse(
            "settings", f"settings= takes a dict, not a {describe(settings)}"
        )
        return {}
    # Cut once more, to bytes, where they are encoded.
    return {
        str(key)[:512]: str(value)[:1024]
        for key, value in list(settings.items())[:64]
    }


def _scaler(scaler: Any, checks: Checks) -> Scaler:
    if scaler is None:
        return Scaler()
    if not isinstance(scaler, Scaler):
        checks.refuse(
            "scaler",
            f"scaler= takes a nanwatch.Scaler, not a {describe(scaler)}",
        )
        return Scaler()
    given = {f.name: getattr(scaler, f.name) for f in fields(Scaler)}
    clean: dict[str, Any] = {
        "kind": _one_of("kind", given, SCALINGS, checks),
        "name": checks.text("name", given["name"]),
        "overflow_check": checks.flag("overflow_check", scaler.overflow_check),
    }
    for name in ("growth_interval", "hysteresis"):
        if given[name] is not None:
            clean[name] = checks.integer(name, given[name], 0, (1 << 63) - 1)
    for name in (
        "init_scale",
        "growth_factor",
        "backoff_factor",
        "min_scale",
        "max_scale",
    ):
        clean[name] = checks.real(name, given[name])
    return Scaler(**clean)
